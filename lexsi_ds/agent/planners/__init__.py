"""Planners: the offline one (deterministic, no network) and the one that asks a language model."""
