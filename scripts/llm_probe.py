"""Ask an endpoint what it can do: how tools are called there, whether several at once, how quick it is.

Run: python -m scripts.llm_probe --tools [--base-url URL --model NAME]. The environment's endpoint is asked when none is given; the
key always comes from LEXSI_DS_LLM_API_KEY. What is seen is remembered in the home, so that ``auto`` need not ask again.
"""

from __future__ import annotations

import argparse
import json
import sys

from lexsi_ds.application import make_home
from lexsi_ds.errors import BadInput, EndpointFailed
from lexsi_ds.llm.client import LLMClient
from lexsi_ds.llm.probe import Verdict, probe
from lexsi_ds.llm.verdicts import Verdicts
from lexsi_ds.settings import get_settings


def lines(verdict: Verdict) -> list[str]:
    """A verdict for a person's eyes."""
    told = [
        ("native tool calls", verdict.native),
        ("several calls in one reply", verdict.several),
        ("JSON decision", verdict.json),
        ("says its tokens", verdict.counts),
    ]
    shown = [f"{name:28} {'yes' if has else 'no'}" for name, has in told]
    shown += [f"{'quickest reply':28} {verdict.seconds:.2f} s", *(f"seen: {note}" for note in verdict.notes)]
    return [*shown, f"verdict: {verdict.mode}"]


def main(argv: list[str] | None = None) -> int:
    """Probe, print and remember; 1 when the endpoint cannot be asked."""
    parser = argparse.ArgumentParser(prog="python -m scripts.llm_probe", description="What can this endpoint do?")
    parser.add_argument("--tools", action="store_true", help="find out how tools are called (the only question there is)")
    parser.add_argument("--base-url", help="such as http://127.0.0.1:8080/v1; the environment's by default")
    parser.add_argument("--model", help="the model's name there; the environment's by default")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    settings = get_settings()
    url, model = args.base_url or settings.llm_base_url, args.model or settings.llm_model
    try:
        if not url or not model:
            raise BadInput("No endpoint is set.", to_do="Give --base-url and --model, or set LEXSI_DS_LLM_BASE_URL and _MODEL.")
        key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
        verdict = probe(LLMClient(url, model, key, timeout_s=settings.llm_timeout_s))
    except (BadInput, EndpointFailed) as error:
        print(str(error), file=sys.stderr)
        return 1
    make_home(settings)
    Verdicts(settings.home).put(url, model, verdict)
    print(json.dumps(verdict.as_json()) if args.json else "\n".join(lines(verdict)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
