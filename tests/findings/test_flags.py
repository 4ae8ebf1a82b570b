"""When an accepted finding wants another look, what the flag says, and that it stays until somebody looked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput
from lexsi_ds.services import finding_band
from lexsi_ds.services.finding import Finding
from lexsi_ds.services.finding_band import Condition, Metric
from tests.findings.conftest import ADA, POSITIVE, Importing

GOOD = "sale_id,price,sqft,city\n1,100,50,Brno\n2,200,80,Brno\n"
BAD = GOOD + "3,0,60,Praha\n"
Newer = Callable[[str, str], None]


def _accepted(app: Application, dataset: str, title: str, **more: object) -> Finding:
    made = app.findings.propose(ADA, dataset_id=dataset, title=title, statement=f"{title} holds.", **more)  # type: ignore[arg-type]
    return app.findings.decide(ADA, made.id, made.row_version, "accepted")


def _chain(app: Application, dataset: str) -> list[Finding]:
    """A rule, one that depends on it, and one that depends on that."""
    first = _accepted(app, dataset, "A", check_sql=POSITIVE)
    second = _accepted(app, dataset, "B", depends_on=(first.id,))
    return [first, second, _accepted(app, dataset, "C", depends_on=(second.id,))]


def _reasons(app: Application, findings: list[Finding]) -> list[str | None]:
    now = [app.findings.get(ADA, f.id) for f in findings]
    return [f.flag.reason if f.flag else None for f in now]


def test_a_rule_that_breaks_flags_what_depends_on_it_and_so_on(app: Application, importing: Importing, newer: Newer) -> None:
    dataset = importing("sales", GOOD)
    chain = _chain(app, dataset)
    other = _accepted(app, dataset, "Other", check_sql=POSITIVE.replace("price", "sqft"))
    newer(dataset, BAD)
    assert _reasons(app, [*chain, other]) == ["check_violated", "dependency_flagged", "dependency_flagged", None]
    flag = app.findings.get(ADA, chain[1].id).flag
    assert flag is not None and flag.finding_id == chain[0].id and "“A”" in flag.message
    broken = app.findings.get(ADA, chain[0].id).flag
    assert broken is not None and "on version 1" in broken.before and broken.now.startswith("1 row broke it on version 2")
    newer(dataset, GOOD)
    assert _reasons(app, chain) == ["check_violated", "dependency_flagged", "dependency_flagged"], "flags stay"
    again = app.findings.get(ADA, chain[1].id)
    app.findings.decide(ADA, again.id, again.row_version, "accepted")
    assert _reasons(app, chain) == ["check_violated", None, "dependency_flagged"]
    assert app.findings.history(ADA, chain[2].id)[-1].action == "flagged"


@pytest.mark.parametrize(("change", "reason"), [
    ("edit", "dependency_changed"), ("reject", "dependency_rejected"), ("retire", "dependency_retired"), ("retitle", None),
])
def test_what_becomes_of_a_rule_flags_those_that_rest_on_it(
    app: Application, importing: Importing, change: str, reason: str | None
) -> None:
    first, second, third = chain = _chain(app, importing("sales", GOOD))
    if change == "edit":
        app.findings.edit(ADA, first.id, first.row_version, statement="Another rule.")
    elif change == "retitle":
        app.findings.edit(ADA, first.id, first.row_version, title="Another title")
    elif change == "reject":
        app.findings.decide(ADA, first.id, first.row_version, "rejected")
    else:
        app.findings.retire(ADA, first.id, first.row_version)
    assert _reasons(app, chain) == [None, reason, "dependency_flagged" if reason else None]
    assert app.findings.counts(ADA, None)["flagged"] >= (2 if reason else 0)
    if reason:
        edited = app.findings.get(ADA, third.id)
        back = app.findings.edit(ADA, third.id, edited.row_version, statement="C still holds.")
        assert (back.flag, back.review) == (None, "pending"), "a content edit clears the flag and asks for a review"
    assert app.findings.get(ADA, second.id).review == "accepted"


def test_a_column_that_changes_its_type_or_goes_is_told(app: Application, importing: Importing, newer: Newer) -> None:
    dataset = importing("sales", GOOD)
    checked = _accepted(app, dataset, "Checked", columns=("price",), check_sql="SELECT * FROM dataset WHERE price IS NULL")
    vouched = _accepted(app, dataset, "Vouched", columns=("city",))
    newer(dataset, "sale_id,price,sqft\n1,a lot,50\n2,little,80\n")
    first, second = (app.findings.get(ADA, f.id).flag for f in (checked, vouched))
    assert first is not None and first.reason == "schema_changed" and "price was BIGINT and is VARCHAR" in first.message
    assert second is not None and second.reason == "schema_changed" and "no longer has city" in second.message


# -- bands -----------------------------------------------------------------------------------------------------------------

CHURN = "SELECT avg(CASE WHEN churn = 'Yes' THEN 1.0 ELSE 0.0 END) AS value, count(*) AS n FROM dataset"


def _people(leaving: int, staying: int) -> str:
    rows = ["Yes"] * leaving + ["No"] * staying
    return "id,contract,churn\n" + "".join(f"{i},Month-to-month,{c}\n" for i, c in enumerate(rows)) + "9999,Two year,No\n"


def test_a_share_above_a_bound_holds_and_a_new_version_flags_it_with_both_numbers(
    app: Application, importing: Importing, newer: Newer
) -> None:
    dataset = importing("telco", _people(546, 454))
    table = app.catalog.table(dataset)
    metric = Metric(
        aggregate="share", share_of=Condition(column="churn", value="Yes"),
        where=(Condition(column="Contract", value="Month-to-month"),),
    )
    band = finding_band.band_of(finding_band.metric_sql(table, metric), 0.5, None, strict=True, percent=True)
    statement = finding_band.sentence("Churn of month-to-month customers", band)
    assert statement == "Churn of month-to-month customers is above 50.0%."
    made = app.findings.propose(ADA, dataset_id=dataset, title="Churn", statement=statement, band=band, columns=("churn",))
    assert made.verdict == "holds" and made.last_check is not None and made.last_check.observed is not None
    assert band.seen(made.last_check.observed) == "54.6% of 1,000"
    app.findings.decide(ADA, made.id, made.row_version, "accepted")
    newer(dataset, _people(490, 510))
    flagged = app.findings.get(ADA, made.id)
    assert flagged.flag is not None and (flagged.flag.before, flagged.flag.now) == (
        "54.6% of 1,000 on version 1", "49.0% of 1,000 on version 2"
    )
    assert "49.0%" in flagged.flag.message and "54.6%" in flagged.flag.message and "above 50.0%" in flagged.flag.message


@pytest.mark.parametrize(("low", "high", "strict", "verdict"), [
    (0.5, None, True, "violated"), (0.5, None, False, "holds"), (None, 0.5, False, "holds"), (None, 0.5, True, "violated"),
    (0.4, 0.6, False, "holds"), (0.6, 0.9, False, "violated"),
])
def test_a_value_that_is_just_the_bound(
    app: Application, importing: Importing, low: float | None, high: float | None, strict: bool, verdict: str
) -> None:
    dataset = importing("telco", "id,churn\n1,Yes\n2,No\n")
    band = finding_band.band_of(CHURN, low, high, strict=strict)
    assert app.findings.propose(ADA, dataset_id=dataset, title="B", statement="B.", band=band).verdict == verdict


def test_no_value_is_a_violation_and_never_a_pass(app: Application, importing: Importing) -> None:
    dataset = importing("telco", "id,churn\n1,Yes\n2,No\n")
    for sql in (f"{CHURN} WHERE id > 99", "SELECT 'nan'::DOUBLE AS value, 1 AS n FROM dataset LIMIT 1"):
        if "LIMIT" in sql:
            sql = "SELECT any_value('nan'::DOUBLE) AS value, 1 AS n FROM dataset"
        made = app.findings.propose(
            ADA, dataset_id=dataset, title=sql[:60], statement="B.", band=finding_band.band_of(sql, 0.1, None)
        )
        assert made.verdict == "violated", sql


def test_names_and_values_of_a_metric_are_quoted(app: Application, importing: Importing) -> None:
    dataset = importing("odd", 'id,"od""d col",x\n1,it\'s,5\n2,other,7\n')
    table = app.catalog.table(dataset)
    odd = next(c.name for c in table.columns if c.name.startswith("od"))
    sql = finding_band.metric_sql(table, Metric(aggregate="share", share_of=Condition(column=odd, value="it's")))
    assert app.sql.frame_on_table(table, sql)["value"].iloc[0] == 0.5
    for wrong in (
        Metric(aggregate="average", column="nope"), Metric(aggregate="share"), Metric(aggregate="sum", column=None),
        Metric(aggregate="count", where=(Condition(column="x", comparison="<", value="1 OR 1=1"),)),
        Metric(aggregate="count", where=(Condition(column="x", comparison="<", value="nan"),)),
    ):
        with pytest.raises(BadInput):
            finding_band.metric_sql(table, wrong)
    for bounds in ((None, None), (2.0, 1.0), (float("nan"), None)):
        with pytest.raises(BadInput):
            finding_band.band_of(sql, *bounds)


def test_a_check_that_is_written_by_hand_takes_the_band_away(app: Application, importing: Importing) -> None:
    dataset = importing("telco", "id,churn\n1,Yes\n2,No\n")
    made = app.findings.propose(
        ADA, dataset_id=dataset, title="B", statement="B.", band=finding_band.band_of(CHURN, 0.1, None)
    )
    edited = app.findings.edit(ADA, made.id, made.row_version, check_sql="SELECT * FROM dataset WHERE churn = 'Yes'")
    assert (edited.band, edited.version, edited.verdict) == (None, 2, "violated")
    back = app.findings.edit(ADA, made.id, edited.row_version, band=finding_band.band_of(CHURN, 0.4, 0.6))
    assert back.band is not None and (back.verdict, back.version) == ("holds", 3)
    for sql in ("SELECT * FROM dataset", "SELECT 1 AS nothing FROM dataset", "SELECT 'x' AS value"):
        with pytest.raises(BadInput):
            app.findings.edit(ADA, made.id, back.row_version, band=finding_band.band_of(sql, 0.4, 0.6))


# -- what every analysis is told ---------------------------------------------------------------------------------------------


def test_reviewed_facts_and_texts_are_told_with_their_reviewer_and_pending_ones_are_not(
    app: Application, importing: Importing, newer: Newer
) -> None:
    from lexsi_ds.services.reviewed_facts import ReviewedFacts

    dataset = importing("sales", GOOD)
    _, source = app.datasets.resolve(ADA, dataset)
    facts = ReviewedFacts(app.store, app.findings, app.workspaces)
    accepted = _accepted(app, dataset, "Positive prices", check_sql=POSITIVE)
    app.findings.propose(ADA, dataset_id=dataset, title="Waiting", statement="A pending sentence.")
    retired = _accepted(app, dataset, "Retired rule")
    app.findings.retire(ADA, retired.id, retired.row_version)
    app.datasets.describe(ADA, dataset, text="Sales of houses.", columns={"sqft": "Living area."})
    text = facts.text(ADA, app.catalog.handle(ADA, source.id))
    assert "Description of sales: Sales of houses." in text and "Column sales.sqft: Living area." in text
    assert "Positive prices holds. (accepted by Ada on " in text and "its check holds" in text
    assert "pending" not in text and "Retired rule" not in text
    newer(dataset, BAD)
    text = facts.text(ADA, app.catalog.handle(ADA, source.id))
    assert "in doubt, to be reviewed again: 1 row breaks it; 0 did" in text
    space = app.workspaces.active(ADA) or app.workspaces.create(ADA, "Team")
    app.workspaces.write_context(ADA, space.id, "Revenue is net of refunds.", space.version)
    assert "Revenue is net of refunds." in facts.text(ADA, app.catalog.handle(ADA, source.id))
    assert accepted.id not in text
