"""Masked columns never leave this machine, under whatever name they come."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lexsi_ds.data.handle import Column, DatasetHandle, Table
from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.models.lexsi.engine import LexsiEngine
from lexsi_ds.models.lexsi.withheld import masked_names, without_masked
from lexsi_ds.models.task import FeatureDef, TaskSpec
from tests.lexsi.fake_platform import FakePlatform
from tests.lexsi.frames import FEATURES, loan_task, loans

RUN = "run_1"


def handle_of(*masked: str) -> DatasetHandle:
    columns = tuple(Column(name=c, type="VARCHAR", masked=c in masked) for c in ("loan id", "email", "balance & co", "y", "status"))
    table = Table(name="loan", dataset_id="ds_1", version=1, path=Path("/none"), rows=1, columns=columns)
    return DatasetHandle(source_id="con_1", name="bank", kind="files", snapshot_id="snap_1", snapshot_number=1, tables=(table,))


def everything(platform: FakePlatform) -> bytes:
    return b"".join(r.content + repr(r.body).encode() for r in platform.requests)


def test_a_masked_feature_is_left_out_with_its_reason_and_never_sent(engine: LexsiEngine, platform: FakePlatform) -> None:
    frame = loans()
    frame["email"] = ["marker-a@example.com", "marker-b@example.com"] * (len(frame) // 2)
    ref, card = engine.train(frame, loan_task(*FEATURES, "email"), handle=handle_of("email"), run_id=RUN)
    assert [(out.name, out.reason) for out in card.left_out] == [("email", "masked")]
    engine.predict(ref, loans(20, first=900).drop(columns="y"))
    assert b"marker" not in everything(platform) and b"email" not in everything(platform)
    assert b"marker" not in b"".join(p.read_bytes() for p in ref.folder.iterdir())


def test_without_the_mark_the_same_column_is_sent(engine: LexsiEngine, platform: FakePlatform) -> None:
    frame = loans()
    frame["email"] = ["marker-a@example.com", "marker-b@example.com"] * (len(frame) // 2)
    engine.train(frame, loan_task(*FEATURES, "email"), handle=handle_of(), run_id=RUN)
    assert b"marker-a" in everything(platform)


def test_a_feature_made_of_a_masked_column_is_left_out(engine: LexsiEngine, platform: FakePlatform) -> None:
    task = loan_task()
    made = FeatureDef(name="card", label="card", kind="boolean", expression='"Email" LIKE \'%example%\'', tables=("loan",))
    sql = "SELECT \"Email\" LIKE '%x' AS card FROM loan"
    task = task.model_copy(update={"features": (*task.features[:3], made), "context_sql": sql})
    _, card = engine.train(loans(), task, handle=handle_of("email"), run_id=RUN)
    assert {out.name: out.reason for out in card.left_out} == {"card": "masked"}
    assert all("card" not in table.columns for _, table in platform.uploads())


@pytest.mark.parametrize(
    "sql",
    ["SELECT length(email) AS b FROM loan", "SELECT l.\"EMAIL\" || 'x' AS e2 FROM loan l", "SELECT substr(email, 1) FROM t"],
)
def test_a_query_that_hides_where_a_masked_column_went_is_refused(
    engine: LexsiEngine, platform: FakePlatform, sql: str
) -> None:
    frame = loans().drop(columns="email")
    with pytest.raises(ModelRefused, match="masked column email"):
        engine.train(frame, loan_task(context_sql=sql), handle=handle_of("email"), run_id=RUN)
    assert platform.requests == []


def test_a_masked_name_inside_a_text_or_a_comment_is_no_column() -> None:
    task = loan_task(context_sql="SELECT 'email' AS kind, x -- email\n/* email */ FROM loan")
    assert without_masked(task, loans().drop(columns="email"), frozenset({"email"}))[0].features == task.features


def test_a_masked_outcome_is_refused(engine: LexsiEngine, platform: FakePlatform) -> None:
    with pytest.raises(ModelRefused, match="masked column"):
        engine.train(loans(), loan_task(), handle=handle_of("y"), run_id=RUN)
    assert platform.requests == []


def test_a_masked_identifier_may_name_rows_here_because_it_is_not_sent(engine: LexsiEngine, platform: FakePlatform) -> None:
    frame = loans()
    frame["loan id"] = [f"marker-{i}" for i in range(len(frame))]
    ref, _ = engine.train(frame, loan_task(), handle=handle_of("loan id"), run_id=RUN)
    rows = loans(3, first=900).drop(columns="y")
    rows["loan id"] = ["marker-x", "marker-y", "marker-z"]
    assert [c.case_id for c in engine.explain(ref, rows)] == ["marker-x", "marker-y", "marker-z"]
    assert b"marker" not in everything(platform)


def test_a_column_masked_after_training_is_not_sent_any_more(engine: LexsiEngine, platform: FakePlatform) -> None:
    ref, _ = engine.train(loans(), loan_task(), handle=handle_of(), run_id=RUN)
    engine.masked_of = lambda source_id: masked_names(handle_of("balance & co")) if source_id == "con_1" else frozenset()
    sent = len(platform.requests)
    rows = loans(5, first=900).drop(columns="y")
    for call in (engine.predict, engine.explain, engine.similar, engine.explain_global):
        with pytest.raises(BadInput, match="masked since"):
            call(ref, rows)
    assert len(platform.requests) == sent


def test_a_masked_display_column_is_kept_out_of_the_folder(engine: LexsiEngine) -> None:
    frame: pd.DataFrame = loans()
    task: TaskSpec = loan_task(display_columns=("status", "email"))
    ref, card = engine.train(frame, task, handle=handle_of("email"), run_id=RUN)
    assert card.task.display_columns == ("status",)
    assert b"example.com" not in (ref.folder / "oof.arrow").read_bytes()
