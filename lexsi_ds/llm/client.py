"""One client for any OpenAI-compatible endpoint. The key stays in the client: no log, error, prompt or ``repr`` holds it."""

from __future__ import annotations

import copy
import logging
import threading
from dataclasses import dataclass
from typing import TypedDict

import openai

from lexsi_ds.errors import EndpointFailed
from lexsi_ds.settings import Settings

log = logging.getLogger(__name__)


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


class LLMClient:
    """Chat completions at temperature 0, with the official package's own retries and back-off on 429 and 5xx."""

    def __init__(
        self, base_url: str, model: str, api_key: str | None = None, *, timeout_s: float = 60, retries: int = 2
    ) -> None:
        self.model = model
        self._secret = api_key or ""
        self._client = openai.OpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=retries
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

    def complete(self, system: str, messages: list[Message]) -> Reply:
        """One reply. EndpointFailed says what happened in words a person can act on."""
        sent = [{"role": "system", "content": system}, *messages]
        try:
            answer = self._client.chat.completions.create(model=self.model, messages=sent, temperature=0)  # pyright: ignore[reportArgumentType, reportCallIssue]
        except openai.OpenAIError as error:
            raise self._failed(error) from None
        with self._lock:
            self._usage["requests"] += 1
            if answer.usage:
                self._usage["prompt_tokens"] += answer.usage.prompt_tokens
                self._usage["completion_tokens"] += answer.usage.completion_tokens
        if not answer.choices:
            raise EndpointFailed("The language model's reply held no choice.", where=self.model, to_do="Try again.")
        usage = answer.usage
        text = answer.choices[0].message.content or ""
        return Reply(text, usage.prompt_tokens if usage else 0, usage.completion_tokens if usage else 0)

    def _failed(self, error: openai.OpenAIError) -> EndpointFailed:
        if isinstance(error, openai.APITimeoutError):
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
