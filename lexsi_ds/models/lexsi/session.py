"""One sign-in to the platform inside a worker, and the only way its SDK is called.

Every call goes through ``call``: what the SDK prints becomes progress, what it raises becomes PlatformFailed with a reason.
Must never: put the token, the bearer token it is exchanged for, or an SDK object into an error, a log or an answer.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lexsi_ds.data.connectors.scrub import GONE, scrub
from lexsi_ds.errors import BadInput, LexsiError, PlatformFailed
from lexsi_ds.models.lexsi import gate
from lexsi_ds.models.lexsi.install import need_sdk

T = TypeVar("T")
Say = Callable[[dict[str, Any]], None]
NO_REASON = "Lexsi gave no reason"
_JWT = re.compile(r"\beyJ[\w-]{4,}\.[\w-]+\.[\w-]*")
_MASKING = ("file not found, please pass valid file name", "please upload files first")
"""What the SDK says when its tidying after a failure fails too; the failure itself is the exception before it."""
_PERCENT = re.compile(r"progress: (\d+(?:\.\d+)?)%")
_LONGEST = 300


@dataclass(frozen=True)
class Access:
    """How the platform is reached. Comes over the worker's private pipe; its repr shows nothing secret."""

    url: str
    token: str = field(repr=False)
    organization: str = "personal"
    workspace: str | None = None
    project: str | None = None
    compute: str = "small"
    serverless: str | None = None


class Session:
    """Signed in, or about to be. One a task."""

    def __init__(self, access: Access, say: Say) -> None:
        self.access, self.say = access, say
        self.told = ""
        """The last line that the SDK printed."""
        self._lexsi: Any = None
        self._stage = (0, 1)
        self._refused = ""
        """Details of the last reply that said no: the SDK may lose them."""

    def stage(self, number: int, of: int, text: str) -> None:
        """Where the whole task stands; the percent that the SDK prints count inside of the stage."""
        self._stage, self.told = (number, of), text
        self._tell(0, begins=True)

    def open(self) -> Any:
        """Check the SDK's signatures, then sign in; gives the SDK's root object."""
        if self._lexsi is not None:
            return self._lexsi
        version = need_sdk()
        quiet_loggers()
        with self._captured():
            gate.check(version)
        if not self.access.token:
            raise BadInput(
                "The Lexsi engine needs an access token of the Lexsi platform.",
                where="SDK_ACCESS_TOKEN", to_do="Set it in the environment, or set LEXSI_DS_ENGINE=local.",
            )  # fmt: skip

        def enter() -> Any:
            # One client a task: the SDK's own module-level ones would share a person's sign-in with the next task.
            lexsi = importlib.import_module("lexsi_sdk.core.lexsi").LEXSI()
            lexsi.api_client.base_url = self.access.url.rstrip("/")
            self._listen(lexsi.api_client)
            lexsi.login(sdk_access_token=self.access.token)
            return lexsi

        self._lexsi = self.call("signing in", enter)
        return self._lexsi

    def call(self, operation: str, work: Callable[[], T]) -> T:
        """Run one call of the SDK. PlatformFailed says the operation and the platform's own reason."""
        self._refused = ""
        try:
            with self._captured():
                return work()
        except LexsiError:
            raise
        except Exception as error:
            raise self.failed(operation, self.reason(error)) from None

    def failed(self, operation: str, reason: str, to_do: str = "") -> PlatformFailed:
        """The error of an operation; a blank reason is replaced, secrets are taken out."""
        said = self.clean(reason).strip()
        if not said:
            said = NO_REASON + (f"; the last it said was: {self.told}" if self.told else "")
        said = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
        return PlatformFailed(f"{said.rstrip('.')}.", where=f"Lexsi, {operation}", to_do=to_do)

    def reason(self, error: BaseException) -> str:
        """What an exception of the SDK says, without values of rows: of several, the one that came first."""
        first: BaseException = error
        while first.__context__ is not None and str(first).strip().casefold() in _MASKING:
            first = first.__context__
        if str(first).strip().casefold() in _MASKING:
            return self._refused
        kind = type(first).__name__
        if isinstance(first, KeyError):
            return f"The platform's answer lacks {first.args[0] if first.args else 'a field'}"
        if kind == "ValidationError" and hasattr(first, "errors"):
            places: Any = first
            fields = sorted({".".join(map(str, e["loc"])) for e in places.errors()})
            return f"The platform's answer has another form than lexsi-sdk reads: {', '.join(fields[:8])}"
        module = type(first).__module__.partition(".")[0]
        if module in ("httpx", "httpcore"):
            return f"The platform could not be reached ({kind})"
        if module == "jwt":
            return f"The platform's bearer token cannot be read ({kind})"
        if type(first) is not Exception:
            return f"lexsi-sdk met an error of its own ({kind}: {first})"
        return str(first)

    def _listen(self, client: Any) -> None:
        """Remember what a reply says that said no."""
        post = client.post

        def listening(uri: str, payload: Any = None) -> Any:
            answer = post(uri=uri, payload={} if payload is None else payload)
            if isinstance(answer, dict) and answer.get("success") is False:
                self._refused = str(answer.get("details") or "")
            return answer

        object.__setattr__(client, "post", listening)

    def clean(self, text: str) -> str:
        """A text without the token, the bearer token, or what looks like one."""
        client = getattr(self._lexsi, "api_client", None)
        held = [self.access.token, *(getattr(client, name, "") or "" for name in ("auth_token", "access_token"))]
        return _JWT.sub(GONE, scrub(text, held))

    @contextlib.contextmanager
    def _captured(self) -> Iterator[None]:
        with contextlib.redirect_stdout(_Printed(self)):
            yield

    def heard(self, line: str) -> None:
        """A line that the SDK printed, as progress; the configuration it dumps is not told."""
        line = self.clean(line).strip()
        if not line or line[0] in "{}[]\"'" or line.endswith((":-", "[", "{", "],", "}")):
            return
        percent = _PERCENT.fullmatch(line)
        if percent is not None:
            self._tell(round(float(percent[1])))
            return
        self.told = line[:_LONGEST]
        self.say({"text": self.told})

    def _tell(self, percent: int, *, begins: bool = False) -> None:
        number, of = self._stage
        done, text = 100 * number + min(percent, 99), self.told or "On the Lexsi platform"
        self.say({"done": done, "total": 100 * of, "text": text} | ({"stage": True} if begins else {}))


class _Printed(io.TextIOBase):
    """Stands for stdout while the SDK is at work."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session, self._rest = session, ""

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, text: str, /) -> int:
        """Hand over whole lines."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._session.heard(line)
        return len(text)


def quiet_loggers() -> None:
    """The HTTP client logs whole addresses, and one of the SDK's carries the bearer token."""
    for name in ("httpx", "httpcore", "hpack", "h2", "urllib3", "requests"):
        logging.getLogger(name).setLevel(logging.ERROR)
