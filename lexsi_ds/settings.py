"""Every environment variable of Lexsi DS, once. ``docs/settings.md`` is generated from this class and a test compares them.

Must never: be read anywhere else than through ``get_settings``; put a secret into ``repr`` or a log.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from lexsi_ds.errors import BadInput


class Settings(BaseSettings):
    """Read from variables that start with ``LEXSI_DS_`` and from a ``.env`` file in the working folder."""

    model_config = SettingsConfigDict(env_prefix="LEXSI_DS_", env_file=".env", extra="ignore", frozen=True)

    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("lexsi-ds", appauthor=False)),
        description="Folder that holds the store, the data sets, the models and what runs produced.",
    )
    store_url: str | None = Field(
        default=None, description="SQLAlchemy URL of the store; SQLite in the home by default."
    )
    llm_base_url: str | None = Field(
        default=None, description="OpenAI-compatible endpoint; unset means the offline planner."
    )
    llm_api_key: SecretStr | None = Field(default=None, description="Key of that endpoint. Never logged or stored.")
    llm_model: str | None = Field(default=None, description="Model name at that endpoint.")
    llm_tools: Literal["auto", "native", "json"] = Field(
        default="auto",
        description="How the model calls tools: native calls, one JSON decision a step, or auto, which asks the endpoint once.",
    )
    llm_choice: bool = Field(
        default=True, description="Whether people may set an endpoint of their own in the settings dialog."
    )
    llm_aggregates_only: bool = Field(
        default=False,
        description="Send the endpoint no row of a result: only names, counts, sums and means over at least five rows.",
    )
    llm_timeout_s: float = Field(
        default=60, gt=0, description="Longest wait for one reply of the endpoint, in seconds."
    )
    llm_plans: bool = Field(
        default=True,
        description="Whether the language model chooses the steps too; off: the steps are fixed and it only writes SQL and prose.",
    )
    llm_candidates: int = Field(
        default=3, ge=1, le=9, description="Most drafts of SQL that the model writes for one question; fewer when they agree."
    )
    llm_repairs: int = Field(
        default=2, ge=0, le=5, description="Times that one draft of SQL is sent back with what is wrong with it."
    )
    llm_sql_tokens: int = Field(
        default=40_000, ge=1000, description="Most tokens that the drafts of one question may read and write."
    )
    llm_sql_s: float = Field(default=120, gt=0, description="Longest time for the drafts of one question, in seconds.")
    llm_schema_tokens: int = Field(
        default=3000, ge=200, description="About how many tokens describe the tables to the model; the relevant part is chosen."
    )
    llm_temperature: float = Field(
        default=0.6, ge=0, le=2, description="Temperature of the drafts after the first, which is written at 0."
    )
    llm_reply_tokens: int = Field(default=900, ge=50, description="Longest reply of the model when it writes SQL, in tokens.")
    agent_list_calls: int = Field(
        default=1, ge=0, validation_alias=AliasChoices("LEXSI_DS_AGENT_LIST_CALLS", "BOR_AGENT_LIST_CALLS"),
        description="Times that one turn may list documents; 0 together with the next: answers use no documents at all.",
    )
    agent_read_calls: int = Field(
        default=1, ge=0, validation_alias=AliasChoices("LEXSI_DS_AGENT_READ_CALLS", "BOR_AGENT_READ_CALLS"),
        description="Documents that one turn may read whole.",
    )
    document_mb: int = Field(default=20, ge=1, le=500, description="Largest file of a document, in MB; a larger one is refused.")
    document_chars: int = Field(
        default=2_000_000, ge=1000, description="Most characters of text of one document; nothing is cut, a longer one is refused."
    )
    document_tokens: int = Field(
        default=24_000, ge=100,
        description="Longest document that a model is given, in tokens by estimate; a longer one is refused with its size.",
    )
    max_steps: int = Field(
        default=12, ge=1, le=100, description="Most planner steps of one run; then one final answer is asked for."
    )
    max_tool_calls: int = Field(default=40, ge=1, description="Most tool calls of one run; then it ends with what is known.")
    max_tokens: int = Field(
        default=400_000, ge=1000, description="Most tokens that the language model reads and writes in one run."
    )
    max_seconds: float = Field(default=3600, gt=0, description="Longest run, in seconds; what is at work then is stopped.")
    max_cost: float | None = Field(
        default=None, gt=0, description="Highest cost of one run by the price table of the settings dialog; no limit by default."
    )
    threads: int = Field(default=2, ge=1, le=64, description="Threads of one worker (DuckDB, XGBoost).")
    sql_workers: int = Field(default=2, ge=1, le=16, description="Warm worker processes for SQL.")
    ml_workers: int = Field(default=1, ge=1, le=8, description="Warm worker processes for training and explaining.")
    sql_timeout_s: float = Field(
        default=60, gt=0, description="Longest time of one query, in seconds; then its worker is killed."
    )
    sql_memory_mb: int = Field(
        default=2048, ge=512, description="Address space of one SQL worker, in MB; twice that for a connector's."
    )
    sql_result_mb: int = Field(
        default=2048, ge=1, description="Largest result file of one query, in MB; past it the query fails."
    )
    ml_memory_mb: int = Field(default=6144, ge=1024, description="Address space of one training worker, in MB.")
    ml_timeout_s: float = Field(
        default=900,
        gt=0,
        validation_alias=AliasChoices("LEXSI_DS_ML_TIMEOUT_S", "LEXSI_TRAIN_TIMEOUT_S"),
        description="Longest time of one training, in seconds.",
    )
    train_budget_s: float = Field(
        default=60, gt=0,
        description="Seconds of one processor that comparing model types may take, by estimate; what does not fit is not tried.",
    )
    ingest_timeout_s: float = Field(default=1800, gt=0, description="Longest time of one import, in seconds.")
    max_columns: int = Field(
        default=2000, ge=10, description="Most columns of one imported table; a wider one is refused."
    )
    max_question_chars: int = Field(
        default=4000, ge=100, description="Longest question; a longer one is refused with its length."
    )
    engine: Literal["local", "lexsi"] = Field(
        default="local",
        description="Where models are trained: in this machine's workers, or on the Lexsi platform, which sends training and "
        "scored rows there (docs/lexsi_engine.md).",
    )
    lexsi_access_token: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("LEXSI_DS_LEXSI_ACCESS_TOKEN", "SDK_ACCESS_TOKEN"),
        description="Access token of the Lexsi platform. Never logged or stored.",
    )
    lexsi_url: str = Field(
        default="https://api.lexsi.ai",
        validation_alias=AliasChoices("LEXSI_DS_LEXSI_URL", "XAI_API_URL"),
        description="Address of the Lexsi platform.",
    )
    lexsi_organization: str = Field(default="personal", description="Organization on the Lexsi platform.")
    lexsi_workspace: str | None = Field(
        default=None, description="Workspace on the Lexsi platform; may be left out where there is only one."
    )
    lexsi_project: str | None = Field(
        default=None, description="Project on the Lexsi platform to return to; by default each run gets a fresh one."
    )
    lexsi_compute: str = Field(default="small", description="Compute of the Lexsi platform for training and scoring.")
    lexsi_serverless: str | None = Field(
        default=None, description="Serverless compute of the Lexsi platform for explanations, such as nova-0.5."
    )
    lexsi_folds: int = Field(
        default=5, ge=2, le=10,
        description="Trainings on the Lexsi platform where every row needs a score from a model that did not see it.",
    )
    aws_access_key_id: SecretStr | None = Field(
        default=None, validation_alias="AWS_ACCESS_KEY_ID", description="Key for S3 when a call gives none."
    )
    aws_secret_access_key: SecretStr | None = Field(
        default=None, validation_alias="AWS_SECRET_ACCESS_KEY", description="Its secret. Never logged or stored."
    )
    aws_session_token: SecretStr | None = Field(
        default=None, validation_alias="AWS_SESSION_TOKEN", description="Token of a temporary key. Never logged or stored."
    )
    session_mb: float = Field(
        default=512, gt=0,
        description="Most MB of rows that a conversation keeps at hand by name; the oldest go, and the person is told.",
    )
    serve_host: str = Field(
        default="127.0.0.1", description="Address that `serve` listens on; any other than loopback demands a token."
    )
    serve_port: int = Field(default=8502, ge=0, le=65535, description="Port that `serve` listens on; 0 takes a free one.")
    serve_token: SecretStr | None = Field(
        default=None, description="Bearer token that `serve` demands, at least 24 characters. Never logged or stored."
    )
    serve_hosts: str = Field(
        default="", description="Further host names under which `serve` is reached, separated by commas; all others are refused."
    )
    serve_origins: str = Field(
        default="", description="Origins of web pages that may call `serve`, such as https://app.example.org, separated by commas."
    )
    serve_max_runs: int = Field(default=8, ge=1, le=200, description="Most questions that `serve` answers at once.")
    detached_run_s: float = Field(
        default=30, gt=0, description="Seconds that a run of the chat API goes on with no client; then it is cancelled."
    )
    metrics: Literal["off", "loopback", "all"] = Field(
        default="loopback",
        description="Who may read /metrics of the app and of `serve`: nobody, this machine itself, or all who reach it.",
    )
    max_tabs: int = Field(default=100, ge=1, description="Most browser tabs on one process of the app; a further one is told so.")
    max_runs: int = Field(default=16, ge=1, description="Most questions at work at once in one process.")
    max_tasks: int = Field(
        default=8, ge=1, description="Most imports, trainings and other background tasks of one person at work at once."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        default="INFO",
        description="Level of the log on stderr: DEBUG, INFO, WARNING, ERROR or CRITICAL. Unset, `ask` and `inspect` log warnings.",
    )

    @property
    def store_path_url(self) -> str:
        """URL of the store: the given one, or SQLite in the home."""
        return self.store_url or f"sqlite:///{self.home / 'store.sqlite'}"

    @property
    def llm_configured(self) -> bool:
        """Whether a language model can be asked: an address and a model name are enough (local endpoints need no key)."""
        return bool(self.llm_base_url and self.llm_model)


def named_variable(name: str) -> str | None:
    """A variable that a person named to hold a connector's password or key; who asks has checked that it may be read.

    The three of AWS may also come from the settings' ``.env`` file.
    """
    own = getattr(get_settings(), name.lower(), None) if name.startswith("AWS_") else None
    return os.environ.get(name) or (own.get_secret_value() if isinstance(own, SecretStr) else None)


@cache
def get_settings() -> Settings:
    """The settings of this process, read once. Raises BadInput that names the variable whose value cannot be used."""
    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(f"LEXSI_DS_{str(e['loc'][0]).upper().removeprefix('LEXSI_DS_')}: {e['msg']}" for e in error.errors())
        raise BadInput(f"A setting has a value that cannot be used. {wrong}.", to_do="docs/settings.md lists them.") from None
