"""One client for any OpenAI-compatible endpoint. The key stays in the client: no log, error, prompt or ``repr`` holds it."""

from __future__ import annotations

import copy
import logging
import threading
from dataclasses import dataclass
from typing import TypedDict

import httpx2
import openai
from openai.types.chat import ChatCompletion

from lexsi_ds.errors import EndpointFailed
from lexsi_ds.llm.bounds import ReplyTooLong, hooks, within
from lexsi_ds.settings import Settings

log = logging.getLogger(__name__)
MAX_TRIES = 3


class Message(TypedDict):
    """One chat message."""

    role: str
    content: str


@dataclass(frozen=True)
class Reply:
    """What the endpoint said, and what it cost in tokens."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    cut: bool = False
    """Whether the endpoint ended it at its longest length, in the middle of whatever it said."""


class LLMClient:
    """Chat completions, with the official package's own retries and back-off on 429 and 5xx. No reply may take longer than its
    timeout as a whole, nor be larger than ``bounds.MAX_BYTES``, however it trickles in."""

    def __init__(
        self, base_url: str, model: str, api_key: str | None = None, *, timeout_s: float = 60, retries: int = MAX_TRIES - 1
    ) -> None:
        self.model = model
        self._timeout_s = timeout_s
        self._secret = api_key or ""
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            timeout=timeout_s,
            max_retries=retries,
            http_client=openai.DefaultHttpxClient(event_hooks=hooks()),
        )
        self._lock = threading.Lock()
        self._usage = {"prompt_tokens": 0, "completion_tokens": 0, "requests": 0}

    @classmethod
    def from_settings(cls, settings: Settings) -> LLMClient | None:
        """The configured client; None when no endpoint is configured."""
        if not settings.llm_configured:
            return None
        key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
        return cls(str(settings.llm_base_url), str(settings.llm_model), key, timeout_s=settings.llm_timeout_s)

    def for_run(self) -> LLMClient:
        """The same endpoint and connections with a usage count of its own."""
        mine = copy.copy(self)
        mine._lock = threading.Lock()
        mine._usage = dict.fromkeys(self._usage, 0)
        return mine

    @property
    def usage(self) -> dict[str, int]:
        """Tokens and requests since this client was made."""
        with self._lock:
            return dict(self._usage)

    def complete(
        self,
        system: str,
        messages: list[Message],
        *,
        temperature: float = 0,
        max_tokens: int | None = None,
        within_s: float | None = None,
    ) -> Reply:
        """One reply, of at most ``max_tokens`` and within ``within_s`` seconds, tries again included, when these are given.

        EndpointFailed says what happened in words a person can act on.
        """
        sent = [{"role": "system", "content": system}, *messages]
        longest = {} if max_tokens is None else {"max_tokens": max_tokens}
        left = self._timeout_s * (MAX_TRIES + 1) if within_s is None else max(within_s, 0.1)
        client = self._client.with_options(timeout=min(self._timeout_s, left))
        try:
            with within(left):
                answer = client.chat.completions.create(model=self.model, messages=sent, temperature=temperature, **longest)  # pyright: ignore[reportArgumentType, reportCallIssue]
        except openai.OpenAIError as error:
            raise self._failed(error) from None
        except (ValueError, TypeError, httpx2.HTTPError) as error:  # a body that is no JSON, or stops in the middle
            raise self._unread(type(error).__name__) from None
        if not isinstance(answer, ChatCompletion) or not isinstance(answer.choices, list):
            raise self._unread("no chat completion")
        with self._lock:
            self._usage["requests"] += 1
            if answer.usage:
                self._usage["prompt_tokens"] += answer.usage.prompt_tokens
                self._usage["completion_tokens"] += answer.usage.completion_tokens
        if not answer.choices:
            raise EndpointFailed("The language model's reply held no choice.", where=self.model, to_do="Try again.")
        usage, first = answer.usage, answer.choices[0]
        text = (first.message.content if first.message else None) or ""
        prompted, written = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
        return Reply(text, prompted, written, cut=first.finish_reason == "length")

    def _unread(self, why: str) -> EndpointFailed:
        log.warning("endpoint failed: unreadable reply (%s)", why)
        return EndpointFailed(
            f"The endpoint's reply could not be read ({why}).",
            where=self.model,
            to_do="Check that it speaks the OpenAI protocol.",
        )

    def _failed(self, error: openai.OpenAIError) -> EndpointFailed:
        if isinstance(error.__cause__, ReplyTooLong):
            what, todo = "The language model's reply did not end.", "Try again, or choose another model."
        elif isinstance(error, openai.APITimeoutError):
            what, todo = "The language model did not answer in time.", "Try again, or raise LEXSI_DS_LLM_TIMEOUT_S."
        elif isinstance(error, openai.APIConnectionError):
            what, todo = "The language model's endpoint cannot be reached.", "Check LEXSI_DS_LLM_BASE_URL."
        elif isinstance(error, openai.AuthenticationError):
            what, todo = "The endpoint refused the key.", "Check LEXSI_DS_LLM_API_KEY."
        elif isinstance(error, openai.APIStatusError):
            what, todo = (
                f"The endpoint answered with status {error.status_code}.",
                "Try again later, or check the model's name.",
            )
        else:
            what, todo = (
                f"The endpoint's reply could not be read ({type(error).__name__}).",
                "Check that it speaks the OpenAI protocol.",
            )
        log.warning("endpoint failed: %s", what)
        return EndpointFailed(what, where=self.model, to_do=todo)
