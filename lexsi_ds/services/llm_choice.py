"""Which language model a person works with: the one of the environment, or one they set for themselves.

A key that is typed lives in this process's memory, for one person and one address, and ends with it. Must never: store a key, log
it, give it back to a screen, or send the environment's key to an address that a person typed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from lexsi_ds.errors import BadInput, EndpointFailed
from lexsi_ds.llm import ledger
from lexsi_ds.llm.client import LLMClient
from lexsi_ds.llm.ledger import FileLedger, Sent
from lexsi_ds.llm.prices import Price, price_of
from lexsi_ds.llm.probe import Verdict, probe
from lexsi_ds.llm.verdicts import Verdicts
from lexsi_ds.llm.waiting import Stop
from lexsi_ds.services.access import Actor
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store
from lexsi_ds.store.preferences import Preferences

ToolMode = Literal["auto", "native", "json"]
LEDGER = "ledger.jsonl"
_MINE, _PRICES, _PRIVATE = "llm", "llm_prices", "llm_aggregates_only"


@dataclass(frozen=True)
class Endpoint:
    """Where questions go."""

    base_url: str
    model: str
    key: str = field(default="", repr=False)
    tools: ToolMode = "auto"
    mine: bool = False
    """Whether the person set it; it comes from the environment otherwise."""


@dataclass(frozen=True)
class Tested:
    """What a test of an endpoint found."""

    ok: bool
    words: str
    seconds: float = 0.0
    verdict: Verdict | None = None


class LLMChoices:
    """Every read and write of a person's endpoint, key, prices and privacy switch."""

    def __init__(self, settings: Settings, store: Store | None = None) -> None:
        """Without a store only the environment's endpoint exists."""
        self._settings, self._preferences = settings, Preferences(store) if store is not None else None
        self._verdicts = Verdicts(settings.home)
        self._lock = threading.Lock()
        self._keys: dict[tuple[str, str], str] = {}
        self._clients: dict[tuple[str, str, str], LLMClient] = {}

    def of(self, actor: Actor) -> Endpoint | None:
        """The person's endpoint, else the environment's; None means offline."""
        saved = self._saved(actor, _MINE) if self._settings.llm_choice else None
        if isinstance(saved, dict) and saved.get("offline"):
            return None
        if isinstance(saved, dict) and saved.get("base_url") and saved.get("model"):
            url, model, tools = str(saved["base_url"]), str(saved["model"]), saved.get("tools")
            return Endpoint(url, model, self._key(actor, url), tools if tools in ("native", "json") else "auto", mine=True)
        return self.environment

    @property
    def environment(self) -> Endpoint | None:
        """The endpoint of the environment."""
        its = self._settings
        if not its.llm_configured:
            return None
        key = its.llm_api_key.get_secret_value() if its.llm_api_key else ""
        return Endpoint(str(its.llm_base_url), str(its.llm_model), key, its.llm_tools)

    def choose(self, actor: Actor, base_url: str, model: str, *, key: str | None = None, tools: ToolMode = "auto") -> None:
        """Set this person's endpoint. ``key`` None keeps the one typed before for the same address; "" forgets it."""
        self._may(actor)
        url, model = checked_url(base_url), " ".join(model.split())
        if not model or len(model) > 200:
            raise BadInput("The model has no name.", where="model", to_do="Write its name as the endpoint knows it.")
        self._save(actor, _MINE, {"base_url": url, "model": model, "tools": tools})
        if key is not None:
            with self._lock:
                self._keys.pop((actor.id, url), None)
                if key.strip():
                    self._keys[actor.id, url] = key.strip()

    def go_offline(self, actor: Actor) -> None:
        """Answer without a language model from now on; a typed key is forgotten."""
        self._may(actor)
        self._save(actor, _MINE, {"offline": True})
        self._forget(actor)

    def use_environment(self, actor: Actor) -> None:
        """Go back to the endpoint of the environment; a typed key is forgotten."""
        self._may(actor)
        self._save(actor, _MINE, {})
        self._forget(actor)

    def has_key(self, actor: Actor) -> bool:
        """Whether there is a key for the endpoint in use; never which."""
        found = self.of(actor)
        return bool(found and found.key)

    def label(self, actor: Actor) -> str:
        """ "Offline", or the model's name."""
        found = self.of(actor)
        return found.model if found else "Offline"

    def aggregates_only(self, actor: Actor) -> bool:
        """Whether the endpoint is told of no row."""
        saved = self._saved(actor, _PRIVATE)
        return self._settings.llm_aggregates_only or saved is True

    def set_aggregates_only(self, actor: Actor, on: bool) -> None:
        """Choose it. What the environment demands stays."""
        actor.need("chats:write")
        self._save(actor, _PRIVATE, on)

    def prices(self, actor: Actor) -> dict[str, dict[str, float]]:
        """The person's price table: model to the prices of a million tokens read and written."""
        saved = self._saved(actor, _PRICES)
        table = saved if isinstance(saved, dict) else {}
        return {m: {"prompt": p.prompt, "completion": p.completion} for m in table if (p := price_of(table, m)) is not None}

    def set_prices(self, actor: Actor, table: Mapping[str, Mapping[str, float]]) -> None:
        """Keep a price table. Raises BadInput for a price that is none."""
        actor.need("chats:write")
        kept = {}
        for model, given in table.items():
            price = price_of({model: dict(given)}, model)
            if not model.strip() or price is None or not 0 <= price.prompt < 1e6 or not 0 <= price.completion < 1e6:
                raise BadInput("A price must be a number that is not negative.", where=model[:60], to_do="Correct the table.")
            kept[model.strip()[:200]] = {"prompt": price.prompt, "completion": price.completion}
        self._save(actor, _PRICES, kept)

    def price(self, actor: Actor) -> Price | None:
        """The price of the model in use; None when the table does not have it."""
        found = self.of(actor)
        return price_of(self.prices(actor), found.model) if found else None

    def client(self, actor: Actor, *, stop: Stop | None = None, folder: Path | None = None) -> LLMClient | None:
        """A client for one run, with the run's Stop and its ledger; None offline. Connections are shared by all runs."""
        found = self.of(actor)
        if found is None:
            return None
        record = FileLedger(folder / LEDGER) if folder is not None else None
        return self._shared(found).for_run(stop=stop, record=record)

    def native(self, actor: Actor, llm: LLMClient) -> Callable[[], bool]:
        """Finds out whether native calls are used: as chosen, or by a probe that is made once for an address and a model."""
        found = self.of(actor)

        def finds() -> bool:
            if found is None or found.tools != "auto":
                return found is not None and found.tools == "native"
            known = self._verdicts.get(found.base_url, found.model)
            if known is None:
                known = probe(llm)
                self._verdicts.put(found.base_url, found.model, known)
            return known.native

        return finds

    def test(self, actor: Actor) -> Tested:
        """Ask the endpoint in use a few small things, afresh."""
        actor.need("chats:write")
        found = self.of(actor)
        if found is None:
            return Tested(False, "No endpoint is set.")
        started = time.monotonic()
        try:
            verdict = probe(self._shared(found).for_run())
        except EndpointFailed as error:
            return Tested(False, str(error), round(time.monotonic() - started, 2))
        self._verdicts.put(found.base_url, found.model, verdict)
        how = "makes native tool calls" if verdict.native else "decides in JSON" if verdict.json else "answers in prose only"
        several = ", several at once" if verdict.several else ""
        words = f"{found.model} answers in {verdict.seconds:.1f} s and {how}{several}."
        return Tested(True, words, verdict.seconds, verdict)

    def verdict(self, actor: Actor) -> Verdict | None:
        """What is remembered of the endpoint in use."""
        found = self.of(actor)
        return self._verdicts.get(found.base_url, found.model) if found else None

    def _saved(self, actor: Actor, key: str) -> object:
        return self._preferences.get(actor.id, key) if self._preferences is not None else None

    def _save(self, actor: Actor, key: str, value: object) -> None:
        if self._preferences is None:
            raise BadInput("Nothing can be kept here.", where="settings")
        self._preferences.set(actor.id, key, value)

    def _shared(self, found: Endpoint) -> LLMClient:
        at = (found.base_url, found.model, found.key)
        with self._lock:
            if at not in self._clients:
                while len(self._clients) >= 8:
                    self._clients.pop(next(iter(self._clients)))
                self._clients[at] = LLMClient(
                    found.base_url, found.model, found.key or None, timeout_s=self._settings.llm_timeout_s
                )
            return self._clients[at]

    def _key(self, actor: Actor, url: str) -> str:
        """The key typed for this address; the environment's only at the environment's own address."""
        with self._lock:
            typed = self._keys.get((actor.id, url), "")
        its = self.environment
        return typed or (its.key if its is not None and its.base_url.rstrip("/") == url.rstrip("/") else "")

    def _forget(self, actor: Actor) -> None:
        with self._lock:
            for at in [at for at in self._keys if at[0] == actor.id]:
                del self._keys[at]
            self._clients.clear()

    def _may(self, actor: Actor) -> None:
        actor.need("chats:write")
        if not self._settings.llm_choice:
            raise BadInput("Here the language model is set by who runs the server.", where="LEXSI_DS_LLM_CHOICE")


def checked_url(text: str) -> str:
    """An endpoint's address. Raises BadInput for what is none, and for one that holds a secret: addresses are stored."""
    url = text.strip()
    parts = urlsplit(url) if len(url) < 500 else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or any(c.isspace() for c in url):
        raise BadInput(
            "The endpoint's address must begin with http:// or https://.", where="endpoint",
            to_do="Give its base URL, such as http://127.0.0.1:8080/v1.",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadInput(
            "The address must hold no user, password or query.", where="endpoint", to_do="Put the key into its own field."
        )
    return url.rstrip("/")


def ledger_of(folder: Path) -> tuple[Sent, ...]:
    """What left for the endpoint in the run whose folder this is."""
    return ledger.read(folder / LEDGER)


__all__ = ["LEDGER", "Endpoint", "LLMChoices", "Tested", "checked_url", "ledger_of"]
