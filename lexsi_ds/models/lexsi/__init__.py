"""Models that the Lexsi platform trains, scores and explains, through its SDK, each call in a worker process.

``engine`` is what the rest sees; ``worker`` runs in the worker; ``session`` is the only room that touches the SDK's client,
``gate`` says which of its calls are used and whether the installed version still has them. Must never: send a masked
column or an entity's identifier, let an SDK object or a token leave the worker, or believe an outcome it did not look at.
"""
