"""Parquet, CSV and JSON files of a bucket of S3, or of a store that speaks the same protocol.

A worker knows the key of one bucket only. In place it may open exactly the files that were bound, by DuckDB's own
allowed paths. Must never: let a file's name carry parameters; they could point the request, and the key, elsewhere.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

import duckdb
from pydantic import Field, SecretStr, field_validator, model_validator

from lexsi_ds.data.connectors.base import Bound, ConnectorConfig, Driver, SourceTable
from lexsi_ds.data.connectors.bucket_bind import NOT_COMPARED, bind_text, is_compared, planned_select
from lexsi_ds.data.connectors.bucket_json import bind_json, described_json, json_select
from lexsi_ds.data.connectors.bucket_look import looked
from lexsi_ds.data.connectors.bucket_names import (
    JSON,
    PARQUET,
    READABLE,
    TEXT,
    check_key,
    format_of,
    has_glob,
    is_unsafe,
    stem_name,
    suffix_of,
    url_list,
)
from lexsi_ds.data.connectors.bucket_text import read_texts, read_wide
from lexsi_ds.data.connectors.extensions import load
from lexsi_ds.data.connectors.scrub import scrub
from lexsi_ds.data.connectors.wording import Told, told
from lexsi_ds.data.dialect import unique_names
from lexsi_ds.data.far_days import WORDS, find_far_days
from lexsi_ds.data.loaded import Limits, Loaded, check_width
from lexsi_ds.data.raw_rows import literal, quoted
from lexsi_ds.data.wide_decimals import columns_left, exclude, wide_columns
from lexsi_ds.errors import BadInput, LexsiError, NotFound

MOST_FILES = 5_000
_ERRORS: tuple[Told, ...] = (
    Told("nosuchbucket|specified bucket does not exist", "There is no bucket of this name there.", "Check the bucket's name."),
    Told("permanentredirect|authorizationheadermalformed|301 moved|wrong region|region is wrong",
         "The bucket is in another region.", "Give the bucket's own region."),
    Told("invalidaccesskeyid|signaturedoesnotmatch|expiredtoken|invalidtoken|403|401|forbidden|access ?denied",
         "The store does not let this key in, or not to this bucket.",
         "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that the key may list and read the bucket."),
    Told("could not resolve|could not connect|couldn't connect|connection refused|timed? ?out|no route|network is unreachable"
         "|failed to open socket|connection error|failed to read connection|server returned nothing|recv failure|connection reset"
         "|could not establish connection|transfer closed|partial file",
         "The store cannot be reached, or the connection to it was lost.",
         "Check the endpoint (and use_ssl), and that this machine may connect to it."),
    Told("ssl|certificate|tls", "A secure connection to the store could not be made.",
         "Check the endpoint; use_ssl=false is for stores without TLS."),
    Told("404", "A file is not there any more.", "Look at the list of files again, and connect again."),
    Told("unicode|utf-8|utf8", "A text file is not UTF-8.", "Load it instead: an import reads any encoding."),
    Told("lexsi: this text|csv error|error when sniffing|read_csv|could not (convert|parse) string|conversion error",
         "A text file cannot be read in place, or is not written any more as it was when it was bound.",
         "Load it instead of reading it in place: an import finds how each file is written."),
    Told("invalid (parquet|input)|not a parquet|no magic bytes|too small to be a parquet|don't match the footer",
         "A file is not the kind that its name says.", "Check that it was written completely."),
    Told("schema mismatch|mismatch between", "The files of one pattern do not have the same columns.",
         "Bind them one by one."),
)


class S3Config(ConnectorConfig):
    """How to reach files of a bucket."""

    bucket: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._\-]{1,62}$")
    prefix: str = Field(default="", description="Where in the bucket; file names are relative to it.")
    region: str = Field(default="us-east-1", pattern=r"^[A-Za-z0-9\-]{1,40}$")
    endpoint: str | None = Field(default=None, description="host:port of an S3-compatible store; Amazon's own when left out.")
    use_ssl: bool = True
    aws_access_key_id: SecretStr | None = None
    aws_secret_access_key: SecretStr | None = None
    aws_session_token: SecretStr | None = None

    @model_validator(mode="before")
    @classmethod
    def _endpoint_by_url(cls, values: Any) -> Any:
        """``http://…`` and ``https://…`` say what ``use_ssl`` says."""
        endpoint = values.get("endpoint") if isinstance(values, Mapping) else None
        if isinstance(endpoint, str) and "://" in endpoint:
            scheme, _, rest = endpoint.strip().partition("://")
            return {**values, "endpoint": rest.rstrip("/"), "use_ssl": scheme.lower() == "https"}
        return values

    @field_validator("endpoint")
    @classmethod
    def _host_only(cls, endpoint: str | None) -> str | None:
        if endpoint is not None and not re.fullmatch(r"[A-Za-z0-9.\-]+(:\d{1,5})?|\[[0-9A-Fa-f:]+\](:\d{1,5})?", endpoint):
            raise ValueError("give host or host:port")
        return endpoint or None

    @field_validator("prefix")
    @classmethod
    def _plain_prefix(cls, prefix: str) -> str:
        clean = prefix.strip("/")
        check_key(clean, globs=False)
        return clean

    @property
    def root(self) -> str:
        """URL of the bucket's prefix, with a slash at its end."""
        return f"s3://{self.bucket}/" + (f"{self.prefix}/" if self.prefix else "")


class S3Driver(Driver[S3Config]):
    """Files under one prefix of one bucket."""

    in_place: ClassVar[bool] = True

    def open(self, con: duckdb.DuckDBPyConnection, statement_s: float) -> None:
        c = self.config
        load(con, "httpfs")
        con.execute("SET http_timeout = 30")
        con.execute("SET http_retries = 2")
        parts = ["TYPE s3", f"REGION {literal(c.region)}", f"SCOPE {literal(f's3://{c.bucket}/')}"]
        parts.append(f"USE_SSL {str(c.use_ssl).lower()}")
        if c.endpoint:
            parts += [f"ENDPOINT {literal(c.endpoint)}", "URL_STYLE 'path'"]
        for word, secret in (
            ("KEY_ID", c.aws_access_key_id), ("SECRET", c.aws_secret_access_key), ("SESSION_TOKEN", c.aws_session_token)
        ):
            if secret is not None:
                parts.append(f"{word} {literal(secret.get_secret_value())}")
        con.execute(f"CREATE SECRET _lexsi_src ({', '.join(parts)})")

    def tables(self, con: duckdb.DuckDBPyConnection) -> list[SourceTable]:
        raise BadInput(
            "A connector of kind s3 has no source tables to list.", to_do="Name its files; * stands for several."
        )

    def check(self, con: duckdb.DuckDBPyConnection) -> None:
        """A secret alone connects to nothing: the bucket is listed."""
        con.execute(f"SELECT file FROM glob({literal(self.config.root + '*')}) LIMIT 1").fetchall()

    def choose(self, con: duckdb.DuckDBPyConnection, wanted: Sequence[Mapping[str, Any]]) -> list[SourceTable]:
        """One table a file or pattern, with the files that it names now."""
        if not wanted:
            raise BadInput("No file was named.", to_do="Name files of the bucket, such as sales.parquet or *.csv.")
        tables = {str(each["table"]): self._bound(con, str(each["table"])) for each in wanted}
        return list(tables.values())

    def table_name(self, table: SourceTable, taken: set[str], *, doubled: bool) -> str:
        return stem_name(table.table, taken)

    def loaded(
        self, con: duckdb.DuckDBPyConnection, table: SourceTable, name: str, scratch: Path, limits: Limits
    ) -> Loaded:
        files: list[str] = table.extra["files"]
        options = {"format": table.extra["format"], "schema": None, "table": table.table, "files": len(files)}
        if table.extra["format"] == "parquet" and wide_columns(con, files):
            return read_wide(con, files, name, scratch, limits, options)
        if table.extra["format"] == "parquet":
            described = con.execute(f"DESCRIBE {_parquet(files)}").fetchall()
            check_width(Path(table.table), len(described), limits)
            names, notes = unique_names([row[0] for row in described])
            selected = ", ".join(f"{quoted(row[0])} AS {quoted(new)}" for row, new in zip(described, names, strict=True))
            return Loaded(name, f"SELECT {selected} FROM ({_parquet(files)})", options, tuple(notes))
        return read_texts(con, files, table.extra["format"], name, scratch, limits, options)

    def look(self, con: duckdb.DuckDBPyConnection, table: SourceTable, limits: Limits) -> dict[str, Any]:
        made = looked(con, table, limits)
        return made | {"files": [{**f, "name": f["name"].removeprefix(self.config.root)} for f in made["files"]]}

    def relation(self, con: duckdb.DuckDBPyConnection, table: SourceTable, limits: Limits) -> Bound:
        files: list[str] = table.extra["files"]
        relation: dict[str, Any] = {"table": table.table, "format": table.extra["format"], "files": files}
        notes: tuple[str, ...] = ()
        if table.extra["format"] == "parquet":
            left_out = columns_left(con, _parquet(files), wide_columns(con, files))
            relation["left_out"] = left_out
            notes = tuple(
                f"{column}: left out in place, since its decimals of more than 38 digits would be read wrong; load it instead."
                for column in left_out
            )
        elif table.extra["format"] == "json" and is_compared(con, files):
            plan, notes = bind_json(con, files, table.table, limits)
            relation |= plan
        elif table.extra["format"] == "json":
            notes = (NOT_COMPARED,)
            relation["types"] = described_json(con, files)
        elif is_compared(con, files):
            plan, notes = bind_text(con, files, table.table, limits)
            relation |= plan
        else:
            notes = (NOT_COMPARED,)
            described = con.execute(f"DESCRIBE SELECT * FROM read_csv({url_list(files)}, union_by_name = true)").fetchall()
            relation["types"] = [[row[0], row[1]] for row in described]  # objects are sorted on their way
            found = con.execute(f"SELECT Delimiter, Quote, SkipRows, HasHeader FROM sniff_csv({literal(files[0])})").fetchone()
            if found is not None:
                relation |= {"delimiter": found[0], "quote": found[1], "skip": found[2], "header": found[3]}
        far = [each.name for each in find_far_days(con, f"({self.live_select(relation)})")]
        relation["left_out"] = [*relation.get("left_out", []), *far]
        notes += tuple(f"{name}: left out in place, since it holds days {WORDS}; load it instead." for name in far)
        return Bound(relation, notes=notes)

    def live_select(self, relation: Mapping[str, Any]) -> str:
        files = [str(f) for f in relation["files"]]
        left_out = exclude([str(column) for column in relation.get("left_out") or ()])
        if relation["format"] == "parquet":
            return _parquet(files, left_out)
        if relation["format"] == "json":
            return f"SELECT *{left_out} FROM ({json_select({**relation, 'types': _typed(relation.get('types', []))})})"
        if "parts" in relation:
            return f"SELECT *{left_out} FROM ({planned_select(relation)})"
        types = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in _typed(relation["types"]))
        quote = "" if relation.get("quote") in (None, "(empty)", "\0") else str(relation["quote"])
        said = (
            f"delim = {literal(str(relation.get('delimiter', ',')))}, quote = {literal(quote)}, "
            f"skip = {int(relation.get('skip', 0))}, header = {str(bool(relation.get('header', True))).lower()}"
        )
        return f"SELECT *{left_out} FROM read_csv({url_list(files)}, auto_detect = false, {said}, columns = {{{types}}})"

    def confine(self, con: duckdb.DuckDBPyConnection, relations: Sequence[Mapping[str, Any]]) -> None:
        files = sorted({str(file) for relation in relations for file in relation["files"]})
        con.execute(f"SET allowed_paths = {url_list(files)}")

    def readable(self, error: Exception) -> LexsiError:
        c = self.config
        where = f"s3://{c.bucket}/{c.prefix}" + (f" at {c.endpoint}" if c.endpoint else "")
        return told(scrub(str(error), c.secret_values()), _ERRORS, where=where)

    def _bound(self, con: duckdb.DuckDBPyConnection, name: str) -> SourceTable:
        clean = name.strip().lstrip("/")
        check_key(clean, globs=True)
        kind = format_of(clean)
        pattern = self.config.root + clean
        rows = con.execute(f"SELECT file FROM glob({literal(pattern)}) ORDER BY file LIMIT {MOST_FILES + 1}").fetchall()
        files = [row[0] for row in rows]
        # Without a star the listing is not asked: the name is given back as it is.
        if not has_glob(clean) or not files:
            listed = self._listed(con, clean)
            files = files if has_glob(clean) else [f for f in listed if f == pattern]
            if not files:
                raise self._nothing(name, listed)
        if len(files) > MOST_FILES:
            raise BadInput(f"More than {MOST_FILES:,} files have names like this.", where=name[:120], to_do="Name fewer.")
        odd = next((f for f in files if is_unsafe(f)), None)
        if odd is not None:
            raise BadInput("The name of a file has a sign that cannot be used here.", where=odd[-120:], to_do="Rename it.")
        return SourceTable(clean, extra={"files": files, "format": kind})

    def _listed(self, con: duckdb.DuckDBPyConnection, name: str) -> list[str]:
        """Files of the folder in which ``name`` would be."""
        fixed = PurePosixPath(re.split(r"[*\[]", name)[0] if has_glob(name) else name)
        folder = "" if str(fixed.parent) == "." else f"{fixed.parent}/"
        pattern = f"{self.config.root}{folder}*"
        rows = con.execute(f"SELECT file FROM glob({literal(pattern)}) ORDER BY file LIMIT {MOST_FILES}").fetchall()
        return [row[0] for row in rows]

    def _nothing(self, name: str, listed: Sequence[str]) -> NotFound:
        root = self.config.root
        near = [f.removeprefix(root) for f in listed if suffix_of(f) in (*PARQUET, *TEXT, *JSON)]
        like = [f for f in near if fnmatch.fnmatch(f.lower(), f"*{PurePosixPath(name).stem.lower().strip('*')[:12]}*")]
        shown = ", ".join((like or near)[:8])
        return NotFound(
            "No file of the bucket has this name.", where=f"{root}{name}"[:200],
            to_do=f"There are: {shown}." if shown else f"No {READABLE} file is there: check bucket and prefix.",
        )


def _typed(types: Any) -> list[tuple[str, str]]:
    if not isinstance(types, list):
        raise BadInput("The columns of a text file of this bucket were bound without their order.", to_do="Refresh its source.")
    return [(str(name), str(kind)) for name, kind in types]


def _parquet(files: Sequence[str], left_out: str = "") -> str:
    by_name = str(len(files) > 1).lower()
    return f"SELECT *{left_out} FROM read_parquet({url_list(files)}, union_by_name = {by_name}, hive_partitioning = false)"
