"""One client for any OpenAI-compatible endpoint. The key stays in it: no log, error, prompt, ledger or ``repr`` holds it."""

from __future__ import annotations

import copy
import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletion

from lexsi_ds.errors import EndpointFailed
from lexsi_ds.llm.bounds import ReplyTooLong, hooks, within
from lexsi_ds.llm.gathering import BrokeOff, Gathered, OnText, gathered
from lexsi_ds.llm.ledger import Record, Sent, left, listening
from lexsi_ds.llm.redaction import redact
from lexsi_ds.llm.waiting import Line, Stop, slept, waited
from lexsi_ds.llm.wire import Message, Reply, ToolOffer
from lexsi_ds.settings import Settings

__all__ = ["LLMClient", "Message", "Reply"]

log = logging.getLogger(__name__)
MAX_TRIES = 3
_LETTERS_A_TOKEN = 3.2
_OPTIONAL = ("stream_options", "parallel_tool_calls", "temperature", "max_tokens", "stream")
"""What an endpoint may not know: left out from then on when it says so."""


class LLMClient:
    """Chat completions, streamed where the endpoint can, with the official package's own retries and back-off on 429 and 5xx
    (``Retry-After`` is kept to), and one of its own for a stream that breaks off. No reply may take longer than its timeout as
    a whole, nor be larger than ``bounds.MAX_BYTES``, however it trickles in."""

    def __init__(
        self, base_url: str, model: str, api_key: str | None = None, *, timeout_s: float = 60, retries: int = MAX_TRIES - 1
    ) -> None:
        self.model = model
        self.address = redact(base_url)
        self._timeout_s, self._retries = timeout_s, retries
        self._secret = api_key or ""
        bound = hooks()
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            timeout=timeout_s,
            max_retries=retries,
            http_client=openai.DefaultHttpxClient(event_hooks={**bound, "request": [left, *bound["request"]]}),
        )
        self._unknown: set[str] = set()
        """Parameters that this endpoint does not take; shared by the clients of all runs."""
        self._stop: Stop | None = None
        self._record: Record | None = None
        self._ends = float("inf")
        self._lock = threading.Lock()
        self._usage = {"prompt_tokens": 0, "completion_tokens": 0, "requests": 0, "milliseconds": 0}

    def __repr__(self) -> str:
        return f"LLMClient({self.address!r}, {self.model!r})"

    @classmethod
    def from_settings(cls, settings: Settings) -> LLMClient | None:
        """The configured client; None when no endpoint is configured."""
        if not settings.llm_configured:
            return None
        key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
        return cls(str(settings.llm_base_url), str(settings.llm_model), key, timeout_s=settings.llm_timeout_s)

    def for_run(self, *, stop: Stop | None = None, record: Record | None = None, seconds: float | None = None) -> LLMClient:
        """The same endpoint and connections for one run: a usage count of its own, its Stop, its ledger, and its end in time."""
        mine = copy.copy(self)
        mine._lock = threading.Lock()
        mine._usage = dict.fromkeys(self._usage, 0)
        mine._stop, mine._record = stop, record
        mine._ends = float("inf") if seconds is None else time.monotonic() + seconds
        return mine

    @property
    def usage(self) -> dict[str, int]:
        """Tokens, requests and milliseconds of waiting since this client was made."""
        with self._lock:
            return dict(self._usage)

    def clean(self, text: str) -> str:
        """A text without the key."""
        return redact(text, [self._secret])

    def complete(
        self,
        system: str,
        messages: list[Message],
        *,
        temperature: float = 0,
        max_tokens: int | None = None,
        within_s: float | None = None,
        tools: tuple[ToolOffer, ...] = (),
        purpose: str = "",
        on_text: OnText | None = None,
        on_again: Callable[[], None] | None = None,
    ) -> Reply:
        """One reply, of at most ``max_tokens`` and within ``within_s`` seconds, tries again included, when these are given.

        ``on_text`` gets the text as it comes; a reply that breaks off after that is asked for again only where ``on_again`` is
        given, which is called before.
        EndpointFailed says what happened in words a person can act on.
        """
        seconds = self._timeout_s * (MAX_TRIES + 1) if within_s is None else max(within_s, 0.1)
        seconds = max(0.1, min(seconds, self._ends - time.monotonic()))
        body: dict[str, Any] = {"messages": [{"role": "system", "content": system}, *messages], "temperature": temperature}
        if max_tokens is not None:
            body["max_tokens"] = max_tokens
        if tools:
            body |= {"tools": [t.as_json() for t in tools], "parallel_tool_calls": True}
        started, problem = time.monotonic(), ""
        reply: Reply | None = None
        with listening() as sent:
            try:
                reply = self._tried(body, started + seconds, on_text, on_again)
                return reply
            except EndpointFailed as error:
                problem = error.what
                raise
            except BaseException as error:
                problem = type(error).__name__
                raise
            finally:
                self._note(sent, reply, problem, purpose, time.monotonic() - started)

    def _tried(
        self, body: dict[str, Any], ends: float, on_text: OnText | None, on_again: Callable[[], None] | None
    ) -> Reply:
        """Ask until there is a reply: again without what the endpoint does not know, and after a stream that broke off."""
        tries, shown = 0, False

        def told(piece: str) -> None:
            nonlocal shown
            if on_text is not None:
                shown = True
                on_text(piece)

        while True:
            left_s = ends - time.monotonic()
            try:
                found = waited(lambda line: self._once(body, ends, told, line), self._stop, max(left_s, 0.05))
                return self._counted(found, body)
            except TimeoutError:
                raise self._failed(openai.APITimeoutError(request=httpx2.Request("POST", "http://endpoint"))) from None
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not self._learn(error, body):
                    raise self._failed(error) from None
            except openai.OpenAIError as error:
                raise self._failed(error) from None
            except ReplyTooLong:
                raise self._ended("The language model's reply did not end.", "Try again, or choose another model.") from None
            except httpx2.TimeoutException:
                raise self._failed(openai.APITimeoutError(request=httpx2.Request("POST", "http://endpoint"))) from None
            except (BrokeOff, httpx2.HTTPError) as error:
                tries += 1
                if tries > self._retries or (shown and on_again is None):
                    raise self._unread("the reply broke off") from error
                if shown and on_again is not None:
                    on_again()
                slept(min(0.25 * 2**tries, max(left_s, 0)), self._stop)
            except (ValueError, TypeError, AttributeError) as error:  # a body that is no JSON, or of another shape
                raise self._unread(type(error).__name__) from None

    def _once(self, body: dict[str, Any], ends: float, on_text: OnText, line: Line) -> Gathered:
        """One request. A stream where the endpoint can, else the whole reply."""
        asked = {k: v for k, v in body.items() if k not in self._unknown}
        if "max_tokens" in body and "max_tokens" in self._unknown:
            asked["max_completion_tokens"] = body["max_tokens"]
        if "stream" not in self._unknown:
            asked["stream"] = True
            if "stream_options" not in self._unknown:
                asked["stream_options"] = {"include_usage": True}
        left_s = max(0.1, ends - time.monotonic())
        client = self._client.with_options(timeout=min(self._timeout_s, left_s))
        with within(left_s):
            create: Any = client.chat.completions.with_raw_response.create
            raw = create(model=self.model, **asked)
            line.take(raw.http_response)
            if asked.get("stream") and "json" not in raw.headers.get("content-type", ""):
                try:
                    return gathered(raw.parse(), on_text)
                except openai.APIConnectionError as error:
                    if isinstance(error, openai.APITimeoutError) or isinstance(error.__cause__, ReplyTooLong):
                        raise
                    raise BrokeOff from error
            return _whole(raw.http_response.read(), on_text)

    def _counted(self, found: Gathered, body: dict[str, Any]) -> Reply:
        """The reply, with its tokens taken into the count; estimated where the endpoint does not say them."""
        if not found.counted:
            written = sum(map(len, found.text)) + sum(len(c.arguments) for c in found.calls.values())
            found.prompt_tokens = int(len(str(body["messages"]) + str(body.get("tools", ""))) / _LETTERS_A_TOKEN) + 1
            found.completion_tokens = int(written / _LETTERS_A_TOKEN) + 1
        with self._lock:
            self._usage["requests"] += 1
            self._usage["prompt_tokens"] += found.prompt_tokens
            self._usage["completion_tokens"] += found.completion_tokens
        if not found.chosen:
            raise EndpointFailed("The language model's reply held no choice.", where=self.model, to_do="Try again.")
        return found.reply()

    def _learn(self, error: openai.APIStatusError, body: dict[str, Any]) -> bool:
        """Whether the endpoint refused a parameter that can be left out; it is, from now on."""
        said = str(error.message)
        for name in _OPTIONAL:
            sent = name in body or name in ("stream", "stream_options")
            if sent and name not in self._unknown and name in said:
                log.info("the endpoint takes no %s: left out from now on", name)
                self._unknown.add(name)
                return True
        return False

    def _note(
        self, sent: list[tuple[float, str, str]], reply: Reply | None, problem: str, purpose: str, seconds: float
    ) -> None:
        """Count the time, and write what left into the ledger: every try, the reply beside the last."""
        with self._lock:
            self._usage["milliseconds"] += round(1000 * seconds)
        if self._record is None:
            return
        for i, (at, address, body) in enumerate(sent):
            if i < len(sent) - 1 or reply is None:
                self._record(Sent(at, purpose, address, body, problem=self.clean(problem) or "tried again"))
                continue
            calls = tuple({"name": c.name, "arguments": c.arguments} for c in reply.calls)
            tokens = (reply.prompt_tokens, reply.completion_tokens)
            self._record(Sent(at, purpose, address, body, self.clean(reply.text), calls, "", *tokens, round(seconds, 3)))

    def _unread(self, why: str) -> EndpointFailed:
        return self._ended(f"The endpoint's reply could not be read ({why}).", "Check that it speaks the OpenAI protocol.")

    def _ended(self, what: str, to_do: str) -> EndpointFailed:
        log.warning("endpoint failed: %s", what)
        return EndpointFailed(what, where=self.model, to_do=to_do)

    def _failed(self, error: openai.OpenAIError) -> EndpointFailed:
        if isinstance(error.__cause__, ReplyTooLong):
            return self._ended("The language model's reply did not end.", "Try again, or choose another model.")
        if isinstance(error, openai.APITimeoutError):
            return self._ended("The language model did not answer in time.", "Try again, or raise LEXSI_DS_LLM_TIMEOUT_S.")
        if isinstance(error, openai.APIConnectionError):
            return self._ended("The language model's endpoint cannot be reached.", "Check LEXSI_DS_LLM_BASE_URL.")
        if isinstance(error, openai.AuthenticationError):
            return self._ended("The endpoint refused the key.", "Check LEXSI_DS_LLM_API_KEY.")
        if isinstance(error, openai.APIStatusError):
            said = self._said(error) if error.status_code in (400, 404, 413, 422) else ""
            what = f"The endpoint answered with status {error.status_code}{': ' + said if said else ''}."
            return self._ended(what, "Try again later, or check the model's name.")
        return self._unread(type(error).__name__)

    def _said(self, error: openai.APIStatusError) -> str:
        """The endpoint's own words on a request that it did not take, short and without the key."""
        body: Any = error.body
        inner = body.get("error", body) if isinstance(body, dict) else None
        words = inner.get("message") if isinstance(inner, dict) else inner if isinstance(inner, str) else None
        return self.clean(" ".join(str(words).split()))[:200].rstrip(".") if words else ""


def _whole(content: bytes, on_text: OnText) -> Gathered:
    """A reply that did not come as a stream."""
    body = json.loads(content)
    if not isinstance(body, dict) or not isinstance(body.get("choices"), list):
        raise TypeError("no chat completion")
    found = Gathered()
    found.take(ChatCompletion.construct(**body), on_text)
    return found
