"""The pages on the real application: a small file of customers is imported, asked, predicted, explained and reviewed."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components import session
from lexsi_ds.application import Application
from lexsi_ds.services.case_orders import CaseOrders
from lexsi_ds.settings import Settings
from tests.app.conftest import settled, words

pytestmark = pytest.mark.xdist_group("pages")
ROWS = 320


def write_customers(path: Path) -> Path:
    """Customers of a phone company; whoever pays by the month and much leaves more often."""
    rng = np.random.default_rng(7)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(
            ["customerID", "tenure", "MonthlyCharges", "Contract", "note ![x](http://evil.example/a.png)", "Churn"]
        )
        for i in range(ROWS):
            tenure, charge = int(rng.integers(1, 72)), round(float(rng.uniform(20, 110)), 2)
            monthly = rng.random() < 0.5
            risk = 0.05 + 0.4 * monthly + 0.3 * (charge > 70) - 0.002 * tenure
            contract = "Month-to-month" if monthly else "Two year"
            out.writerow(
                [
                    f"C{i:04d}",
                    tenure,
                    charge,
                    contract,
                    f"[n{i}](http://evil.example)",
                    "Yes" if rng.random() < risk else "No",
                ]
            )
    return path


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    home = tmp_path_factory.mktemp("pages") / "home"
    running = Application(Settings(home=home, sql_workers=1))
    handle = running.catalog.import_source(
        running.person(), "files", "Customers", [write_customers(home.parent / "customers.csv")]
    )
    running.set_active_source(running.person(), handle.source_id)
    yield running
    running.close()


def ask(app: Application, at: Any, question: str) -> Any:
    """Type a question and send it. The page drains the run to its end before it is back."""
    return settled(at.chat_input[0].set_value(question).run(timeout=120))


@pytest.fixture(scope="module")
def conversation(app: Application) -> str:
    """A conversation in which a count and a prediction were asked."""
    actor = app.person()
    source = app.active_source(actor) or ""
    conversation_id = app.chats.new(actor, source)
    for question in ("How many customers are there?", "Which customers are likely to churn? Top 5 and why"):
        run_id = app.chats.ask(actor, conversation_id, question, source)
        until = time.monotonic() + 120
        while not any(e["type"] == "done" for e in app.chats.events(actor, run_id, 0, 0.2)):
            assert time.monotonic() < until, "the run did not end"
    return conversation_id


COLD = {
    "home": "Customers",
    "connect": "Customers",
    "chat": "Ask about Customers",
    "models": "It needs",
    "explorer": "It needs",
    "findings": "It needs",
}


@pytest.mark.parametrize("page", COLD)
def test_every_page_opens_cold_on_a_real_source(app: Application, open_page, page: str) -> None:
    said = words(open_page(app, page))
    assert COLD[page] in said
    assert "could not" not in said


def test_the_tables_page_shows_columns_and_a_preview(app: Application, open_page) -> None:
    at = open_page(app, "connect")
    columns = at.dataframe[0].value
    assert list(columns["Column"])[:2] == ["customerID", "tenure"]
    at.session_state[session.wkey("tabs", app.active_source(app.person()))] = ":gray[Preview]"
    settled(at.run())
    assert len(at.dataframe[0].value) == 50
    assert "showing 50 of 320 rows" in words(at)


def test_a_mark_on_a_column_is_kept(app: Application, open_page) -> None:
    at = open_page(app, "connect")
    table = app.active_handle(app.person()).tables[0]
    key = session.wkey("marks", table.dataset_id, table.version)
    at.session_state[key] = {"edited_rows": {1: {"Protected": True}}, "added_rows": [], "deleted_rows": []}
    from components import columns

    def tenure():
        return app.active_handle(app.person()).tables[0].column("tenure")

    settled(at.run())
    columns.apply_edits(app, app.person(), table, {1: {"Protected": True, "Meaning": "Months as a customer"}})
    assert tenure().protected and tenure().comment == "Months as a customer"
    now = app.active_handle(app.person()).tables[0]
    columns.apply_edits(app, app.person(), now, {1: {"Protected": False, "Meaning": ""}})
    assert not tenure().protected and not tenure().comment


def test_a_question_typed_into_the_box_is_answered_and_stands_in_the_address(app: Application, open_page) -> None:
    at = ask(app, open_page(app, "chat"), "How many customers are there?")
    assert "320" in words(at)
    assert "3 steps" in words(at)
    assert str(at.query_params["conversation"]).startswith("conv_")


def test_an_off_topic_question_is_refused_without_a_step(app: Application, open_page) -> None:
    said = words(ask(app, open_page(app, "chat"), "What's the meaning of life?"))
    assert "Refused" in said
    assert " steps" not in said


def test_an_example_of_home_starts_a_conversation_in_chat(app: Application, open_page) -> None:
    at = open_page(app, "home")
    question = at.button(key="example-0").label.replace("\\", "")
    settled(at.button(key="example-0").click().run(timeout=120))
    assert question in words(at)
    assert str(at.query_params["conversation"]).startswith("conv_")


def test_a_prediction_shows_list_model_and_task(app: Application, open_page, conversation: str) -> None:
    said = words(open_page(app, "chat", conversation=conversation))
    assert "Risk list" in said and "5 of " in said
    assert "ROC AUC" in said
    assert "Prediction task" in said
    assert "out of fold, by models that did not see the row" in said


def test_model_results_page_through_every_prediction(app: Application, open_page, conversation: str) -> None:
    at = open_page(app, "models")
    assert [m.label for m in at.metric] == ["ROC AUC", "Gini", "KS", "Average precision", "Brier score", "Log loss"]
    at.session_state[session.MODEL_TAB] = "Predictions"
    settled(at.run())
    card = app.models.list(app.person())[0]
    total = app.models.latest_predictions(app.person(), card.id).rows
    assert f"Rows 1 to 50 of {total}" in words(at)
    ids = set(at.dataframe[0].value.iloc[:, 1])
    at.session_state[session.PREDICTION_PAGE] = 2
    settled(at.run())
    assert not ids & set(at.dataframe[0].value.iloc[:, 1])
    settled(at.text_input(key=session.PREDICTION_SEARCH).set_value("C000").run())
    assert set(at.dataframe[0].value.iloc[:, 1].str[:4]) == {"C000"}


def test_the_csv_holds_every_prediction(app: Application, conversation: str) -> None:
    actor = app.person()
    latest = app.models.latest_predictions(actor, app.models.list(actor)[0].id)
    rows = list(csv.DictReader(io.StringIO(app.models.predictions_csv(actor, latest.id).decode("utf-8-sig"))))
    assert len(rows) == latest.rows


def test_features_and_left_out_columns_are_listed(app: Application, open_page, conversation: str) -> None:
    at = open_page(app, "models")
    at.session_state[session.MODEL_TAB] = "Features"
    settled(at.run())
    assert {"Feature", "Definition", "Missing"} <= set(at.dataframe[0].value.columns)
    assert "customerID" in set(at.dataframe[1].value["Column"])


def test_the_explorer_explains_a_case_on_both_scales(app: Application, open_page, conversation: str) -> None:
    at = open_page(app, "explorer")
    assert len(at.get("plotly_chart")) == 2
    first = words(at)
    assert "Why customer" in first and "1 of " in first
    at.session_state[session.SCALE] = "log-odds"
    settled(at.run(timeout=120))
    assert all("Log-odds of" in str(chart.proto.spec) for chart in at.get("plotly_chart"))
    settled(at.button(key="explorer-next").click().run(timeout=120))
    assert "2 of " in words(at)


def test_all_views_of_the_explorer_draw_on_a_real_model_and_a_cohort(app: Application, open_page, conversation: str) -> None:
    at = open_page(app, "explorer", cohort='[["tenure", ">=", 30]]')
    actor = app.person()
    latest = app.models.latest_predictions(actor, app.models.list(actor)[0].id)
    scored, _ = app.models.page(actor, latest.id, limit=latest.rows)
    long = {row["customerID"] for row in _customers(app) if int(row["tenure"]) >= 30}
    kept = int(scored[latest.entity_column].isin(long).sum())
    assert f"{kept} customers" in words(at)
    for tab in ("Importance", "Dependence", "Interactions", "Effect"):
        at.session_state[session.OVERALL_TAB] = tab
        settled(at.run(timeout=120))
        assert not at.error, [e.value for e in at.error]
        assert f"{kept} customers" in words(at), tab


def test_a_what_if_and_a_counterfactual_are_the_models_own_answers(app: Application, open_page, conversation: str) -> None:
    at = open_page(app, "explorer")
    case = next(v for v in at.selectbox(key=session.CASE_PICK).options)
    before = at.metric[0].value
    contract = next(s for s in at.selectbox if s.key.startswith("explorer-move") and s.key.endswith("Contract"))
    settled(contract.set_value("Two year").run(timeout=120))
    assert case and float(at.metric[0].value) < float(before)
    settled(at.button(key="explorer-counterfactuals").click().run(timeout=120))
    assert not at.error
    tables = [f.value for f in at.dataframe if "Would be" in f.value.columns]
    assert not tables or all(float(p) < 0.5 for p in tables[0]["Prediction"])


def test_the_order_by_error_is_that_of_the_out_of_fold_scores(app: Application, conversation: str) -> None:
    actor = app.person()
    card = app.models.list(actor)[0]
    worst = CaseOrders(app.models).by_error(actor, card, limit=400)
    assert len(worst) == card.rows
    measures = [case.measure for case in worst]
    assert measures == sorted(measures, reverse=True)
    wrong = app.explanations.case(actor, card.id, worst[0].case_id).case
    assert abs(wrong.prediction - measures[0]) < 0.01 or abs(1 - wrong.prediction - measures[0]) < 0.01


def test_a_band_of_scores_holds_exactly_its_cases(app: Application, conversation: str) -> None:
    actor = app.person()
    latest = app.models.latest_predictions(actor, app.models.list(actor)[0].id)
    rows, _ = app.models.page(actor, latest.id, limit=latest.rows)
    low, high = (float(rows["probability"].quantile(q)) for q in (0.3, 0.8))
    wanted = set(rows.loc[rows["probability"].between(low, high), latest.entity_column].astype(str))
    assert set(CaseOrders(app.models).between(actor, latest.id, low, high)) == wanted
    assert CaseOrders(app.models).between(actor, latest.id, 2.0, 3.0) == ()


def _customers(app: Application) -> list[dict[str, str]]:
    with (app.settings.home.parent / "customers.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_what_was_found_is_proposed_accepted_and_stays(app: Application, open_page, conversation: str) -> None:
    actor = app.person()
    at = open_page(app, "chat", conversation=conversation)
    run_id = app.chats.turns(actor, conversation)[-1].run_id
    settled(at.button(key=f"propose-{run_id}").click().run(timeout=60))
    assert at.text_input(key=f"propose-{run_id}-title").value
    settled(at.button(key=f"propose-{run_id}-save").click().run(timeout=60))
    assert "It waits in Findings review." in words(at)
    finding = app.findings.list(actor)[0]
    assert finding.verdict in ("holds", "violated")
    at = open_page(app, "findings", finding=finding.id)
    settled(at.button(key=f"finding-{finding.id}-accept").click().run())
    assert app.findings.get(actor, finding.id).review == "accepted"
    stale = app.findings.get(actor, finding.id).row_version - 1
    from components import findings as screen

    app.findings.undo(actor, finding.id, stale + 1)
    at = open_page(app, "findings", finding=finding.id)
    app.findings.retire(actor, finding.id, app.findings.get(actor, finding.id).row_version)
    settled(at.button(key=f"finding-{finding.id}-accept").click().run())
    assert "nothing was changed now" in words(at)
    assert app.findings.get(actor, finding.id).status == "retired"
    assert screen.step([], None, 1) is None


def test_a_broken_upload_is_said_and_loses_nothing(app: Application, open_page, tmp_path: Path) -> None:
    broken = tmp_path / "loans.csv"
    broken.write_bytes(b"")
    task = app.start_import(app.person(), "files", "Broken", [broken])
    while task.state == "running":
        time.sleep(0.05)
    at = open_page(app, "connect")
    at.session_state["lexsi.held"].import_task_id = task.id
    settled(at.run())
    assert "Nothing was imported." in words(at)
    assert "empty" in words(at)
    assert [s.name for s in app.catalog.sources(app.person())] == ["Customers"]
    settled(at.button(key="import-dismiss").click().run())
    assert "Nothing was imported." not in words(at)


def test_a_source_is_deleted_only_after_a_second_click(app: Application, open_page, tmp_path: Path) -> None:
    actor = app.person()
    second = tmp_path / "second.csv"
    second.write_text("a,b\n1,2\n3,4\n")
    handle = app.catalog.import_source(actor, "files", "Second", [second])
    at = open_page(app, "connect")
    settled(at.button(key=f"source-{handle.source_id}-delete").click().run())
    assert len(app.catalog.sources(actor)) == 2
    settled(at.button(key=f"source-{handle.source_id}-sure").click().run())
    assert [s.name for s in app.catalog.sources(actor)] == ["Customers"]
