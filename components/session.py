"""The only file that spells session-state keys. Session state is a cache in front of what is on disk: a lost tab loses nothing.

Plain data lives in one object under one key; widget keys hold only what a widget shows. Must never: hold a frame, a figure,
a secret or an upload's bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import streamlit as st

NoticeKind = Literal["success", "info", "warning", "error"]

_HELD = "lexsi.held"
ASK = "chat-ask"
CHAT_SEARCH = "chat-search"
FOLDER_PATH = "connect-folder-path"
PREVIEW_TABLE = "connect-table"
MODEL_PICK = "models-pick"
MODEL_TAB = "models-tab"
PREDICTION_SEARCH = "models-search"
PREDICTION_SEGMENT = "models-segment"
PREDICTION_SORT = "models-sort"
PREDICTION_PAGE = "models-page"
PREDICTION_SET = "models-set"
SCALE = "explorer-scale"
CASE_SEARCH = "explorer-search"
CASE_PICK = "explorer-case"
OVERALL_TAB = "explorer-overall-tab"
EXPLAINED_CLASS = "explorer-class"
EXPLAINED_FEATURE = "explorer-feature"
CASE_ORDER = "explorer-order"
POINTING = "explorer-pointing"
PICTURE = "picture-format"
COHORT_COLUMN = "explorer-cohort-column"
SEGMENT = "findings-segment"
FINDING_PICK = "findings-pick"
FINDING_SEARCH = "findings-search"
SOURCE_PICK = "frame-source"


@dataclass(frozen=True)
class Notice:
    """One message for the top of the next page drawn, such as a refused click."""

    kind: NoticeKind
    text: str


@dataclass(frozen=True)
class DeskRun:
    """A query of the SQL editor: its task, the source it is about, its text."""

    task_id: str
    source_id: str
    sql: str


@dataclass
class BuilderState:
    """The query builder as one tab has it: where it is open, its form, and what it still asks about."""

    place: str
    """Run id of the turn that it stands under, or ``new``."""
    form: Any
    ids: dict[str, list[int]] = field(default_factory=dict)
    """A stable number for each line, so that a line keeps its widgets when another is taken out."""
    last_id: int = 0
    words: list[str] = field(default_factory=list)
    """Words of the question that nothing stands for yet."""
    finishing: bool = False
    """Whether it was opened to finish a question that was half understood."""
    taken: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Words that a column was chosen for: the words, its table, its name, its label."""


@dataclass
class Held:
    """What one browser tab remembers between reruns and page switches."""

    notices: list[Notice] = field(default_factory=list)
    conversation_id: str | None = None
    model_id: str | None = None
    finding_id: str | None = None
    upload_round: int = 0
    """Part of the uploader's key: a new one drops the bytes of the old."""
    import_task_id: str | None = None
    confirm_delete: str | None = None
    confirm_prune: str | None = None
    """The source whose old versions are to be deleted, once the person says so again."""
    wizard: Any = None
    """The import that this tab is at: a FileWizard or a ConnectorWizard, plain data without a secret."""
    unlock_round: int = 0
    """Part of the password fields' keys of connectors that are unlocked."""
    checks: dict[str, str] = field(default_factory=dict)
    """The task that tests or unlocks each connection, by the connection's id."""
    opened_source: str | None = None
    """The source whose tabs are shown on Connect data; None is the active one."""
    documents_task: str | None = None
    """The reading of documents that this tab started last."""
    documents_uploads: int = 0
    """Part of the document uploader's key: a new one drops the bytes of the old."""
    desk: DeskRun | None = None
    """The last query of the SQL editor."""
    sql_texts: dict[str, str] = field(default_factory=dict)
    """What stands in the SQL editor, by source."""
    proposing_run: str | None = None
    draft: Any = None
    """The FindingDraft of ``proposing_run``: small, frozen, not yet saved."""
    proposed: dict[str, str] = field(default_factory=dict)
    """Run id to the finding that was proposed from it in this tab."""
    go_to_chat: bool = False
    """An example was asked on Home: the page goes on to the conversation."""
    kept_question: str | None = None
    """A question that could not start; put back into the box."""
    answered: set[str] = field(default_factory=set)
    """Turns of which a chip was chosen in this tab."""
    builder: BuilderState | None = None
    builder_closed: set[str] = field(default_factory=set)
    """Turns whose half-filled builder was closed in this tab."""
    surprise_tasks: dict[str, str] = field(default_factory=dict)
    """Searches for surprises that were started here, by dataset."""
    component_tasks: dict[str, str] = field(default_factory=dict)
    """Computations of components that were started here, by dataset."""
    board_task: str | None = None
    """The run of pinned cards that this tab started last."""
    editing_sql: str | None = None
    """Run whose SQL is open in the editor."""
    editing_task: str | None = None
    """Run whose task is being edited."""
    help_open: bool = False
    follow_link: bool = True
    """The first draw of the findings page opens the segment of the finding that the address names."""
    train_open: bool = False
    """The form that trains a model is open."""
    model_tasks: dict[str, str] = field(default_factory=dict)
    """Work on models that this tab started, by what it is for: "train", or an act and a model's id."""
    model_files: dict[str, str] = field(default_factory=dict)
    """Paths of reports and archives that were made for this tab."""
    model_uploads: int = 0
    """Part of the uploader's key on Model results: a new one drops the bytes of the old."""
    explorer: Any = None
    """The ExplorerState of the model that the explorer shows: its cohort and what-ifs, plain data."""
    editing_finding: tuple[str, int] | None = None
    """Finding that is being edited, and the row version that the form was filled from."""
    settings_told: tuple[NoticeKind, str] | None = None
    """What the settings dialog says of the last click in it."""
    last_decision: tuple[str, int] | None = None
    """Finding and version after the last decision: what Undo takes back."""
    finding_page: int = 0
    """The page of the list of findings, from 0."""
    new_finding: bool = False
    """The form of a new finding is open."""
    bulk_outcomes: tuple[Any, ...] = ()
    """What became of each finding that was judged together with others."""
    bulk_round: int = 0
    """Part of the key of the table to choose from: a new one has nothing chosen."""
    file_outcomes: tuple[Any, ...] = ()
    """What became of each finding of the file that was read last."""
    finding_uploads: int = 0
    """Part of the uploader's key of findings: a new one drops the bytes of the old."""


def held() -> Held:
    """What this tab remembers; made at its first use."""
    if _HELD not in st.session_state:
        st.session_state[_HELD] = Held()
    return st.session_state[_HELD]


def wkey(*parts: object) -> str:
    """A widget's key from stable parts: ``wkey("finding", id, "accept")``."""
    return "-".join(str(part) for part in parts)


def read(key: str, default: Any = None) -> Any:
    """The live value of a widget, for callbacks."""
    return st.session_state.get(key, default)


def put(key: str, value: Any) -> None:
    """Set a widget's value before it is drawn, or in a callback."""
    st.session_state[key] = value


def forget(*keys: str) -> None:
    """Drop widget values that no longer fit, before the widgets are drawn or in a callback."""
    for key in keys:
        if key in st.session_state:
            del st.session_state[key]


def forget_source() -> None:
    """Drop everything that belongs to one source, when another becomes active: no stale result under a new source."""
    mine = held()
    mine.conversation_id = mine.model_id = mine.finding_id = mine.proposing_run = mine.last_decision = mine.editing_finding = None
    mine.finding_page, mine.new_finding, mine.bulk_outcomes, mine.file_outcomes = 0, False, (), ()
    mine.builder = mine.editing_task = None
    forget(
        PREVIEW_TABLE,
        MODEL_PICK,
        EXPLAINED_CLASS,
        EXPLAINED_FEATURE,
        CASE_PICK,
        CASE_SEARCH,
        PREDICTION_SEARCH,
        PREDICTION_PAGE,
        FINDING_PICK,
    )


def notify(kind: NoticeKind, text: str) -> None:
    """Say ``text`` (safe Markdown) at the top of the page that is drawn next."""
    held().notices.append(Notice(kind, text))


def take_notices() -> list[Notice]:
    """The messages that wait, once."""
    waiting = held().notices[:]
    held().notices.clear()
    return waiting
