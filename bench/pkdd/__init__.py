"""Questions on the demo bank with checked answers, and what the product makes of them: ``python -m bench.pkdd``."""
