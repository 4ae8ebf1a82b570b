"""Sources that are reached over a network or as a database: one file a kind, and the worker that opens them.

Their scanners get past a locked configuration, so they are loaded in ingest workers and in a connector's own worker
only, by path, before the lock. Must never: be loaded in the shared query worker, or keep or say a secret.
"""
