"""A query built by point and click answers as the same question in words; what cannot be shown stays until it is taken out."""

from __future__ import annotations

import pytest

from lexsi_ds.errors import BadInput
from lexsi_ds.text_to_sql.builder import (
    FilterLine,
    Form,
    GroupLine,
    MeasureLine,
    build,
    choices,
    form_of,
    logical_of,
    preview,
    question_of,
)
from lexsi_ds.text_to_sql.logical import Order
from lexsi_ds.text_to_sql.sqltext import Names
from tests.text_to_sql.sources import Asked

REGION = "district.A3|loan.account_id>account.district_id"
TYPED = [
    "total loan amount by region",
    "default rate by region",
    "default rate by year",
    "How many women are there?",
    "loans in Region 1",
    "top 2 districts by number of accounts",
    "3 largest loans",
    "which region has the highest default rate",
    "loans granted in 1996 by status",
    "percentage of loans that are running",
    "regions with more than 5 accounts",
    "accounts opened before 1996",
    "list loans above 3000",
    "loans by month",
    "transactions of account 1",
    "default rate by gender",
]


def names_of(asked: Asked) -> Names:
    return Names(asked.source.handle, asked.model)


def rows(asked: Asked, form: Form) -> list[tuple]:
    query, _, _ = logical_of(form, names_of(asked))
    return asked.source.rows(build(query, names_of(asked), asked.source.query).sql)


@pytest.mark.parametrize("question", TYPED)
def test_a_typed_question_goes_into_the_form_and_comes_back_the_same(mini: Asked, question: str) -> None:
    typed = mini.analytic(question)
    assert typed.logical is not None
    built = build(typed.logical, names_of(mini), mini.source.query)
    assert (built.sql, built.reading, built.caveats) == (typed.sql, typed.reading, typed.caveats)
    assert (built.chart, built.value_column, built.group_columns) == (typed.chart, typed.value_column, typed.group_columns)


def test_a_form_of_clicks_is_the_question_in_words(mini: Asked) -> None:
    form = Form(
        table="loan",
        measures=(MeasureLine(fn="sum", column="loan.amount"),),
        groups=(GroupLine(column=REGION),),
        filters=(FilterLine(column="loan.status", test="in", values=("A", "B")),),
    )
    reading, sql = preview(form, names_of(mini))
    assert "total loan amount" in reading.lower()
    assert "region" in reading
    assert "the account's district" in reading
    finished = [n for n in range(1, 25) if n <= 12]
    by_region = {f"Region {r}": [n for n in finished if (n % 3 + 1) % 2 == r] for r in (0, 1)}
    told = {row[0]: (row[1], row[2]) for row in mini.source.rows(sql)}
    assert told == {name: (len(found), sum(1000 * n for n in found)) for name, found in by_region.items()}


def test_days_include_the_last_one(mini: Asked) -> None:
    def counted(first: str, last: str) -> object:
        day = FilterLine(column="loan.date", test="days", values=(first, last))
        return rows(mini, Form(table="loan", measures=(MeasureLine(),), filters=(day,)))[0][0]

    assert counted("1996-01-11", "1996-01-13") == 3
    assert counted("1996-01-30", "") == 5
    assert counted("", "1996-01-11") == 1


def test_a_list_shows_what_was_chosen_in_the_order_that_was_chosen(mini: Asked) -> None:
    form = Form(
        table="loan",
        lists=True,
        columns=(GroupLine(column="loan.loan_id"), GroupLine(column="loan.amount")),
        order=(Order(name="amount", descending=True),),
        limit=2,
    )
    assert rows(mini, form) == [(24, 24000), (23, 23000)]


def test_no_choice_multiplies_rows(mini: Asked) -> None:
    offered = choices(names_of(mini), mini.values, "loan")
    reached = {c.table for c in offered.columns if c.fns or c.groups}
    assert "trans" not in reached
    assert "order" not in reached
    for column in offered.columns:
        if column.groups:
            form = Form(table="loan", measures=(MeasureLine(),), groups=(GroupLine(column=column.id),))
            assert sum(row[1] for row in rows(mini, form)) == 24, column.id


def test_every_choice_can_be_run(mini: Asked) -> None:
    names = names_of(mini)
    for table in mini.model.tables:
        offered = choices(names, mini.values, table.name)
        lines = [MeasureLine(fn=fn, column=c.id) for c in offered.columns for fn in c.fns]
        lines += [MeasureLine(metric=m.id) for m in offered.metrics]
        for line in lines:
            assert len(rows(mini, Form(table=table.name, measures=(line,)))) == 1, line
        for column in offered.columns:
            for value in column.values[:2]:
                test = FilterLine(column=column.id, test="in", values=(value.value,))
                assert rows(mini, Form(table=table.name, measures=(MeasureLine(),), filters=(test,))), column.id


def test_values_are_offered_with_their_meaning_and_masked_columns_never(mini: Asked) -> None:
    offered = choices(names_of(mini), mini.values, "client")
    sex = offered.column("client.gender")
    assert sex is not None
    assert [v.value for v in sex.values] == ["F", "M"]
    assert any("female" in v.label for v in sex.values)
    masked = {c.name for c in mini.model.of_table("client") if c.masked}
    assert not masked & {c.column for c in offered.columns if c.table == "client"}


def test_two_roles_of_one_table_are_two_choices_that_say_which(mini: Asked) -> None:
    offered = choices(names_of(mini), mini.values, "loan")
    regions = [c for c in offered.columns if (c.table, c.column) == ("district", "A3")]
    assert len(regions) == 2
    assert len({c.label for c in offered.columns}) == len(offered.columns)
    forms = [Form(table="loan", measures=(MeasureLine(),), groups=(GroupLine(column=c.id),)) for c in regions]
    told = [preview(form, names_of(mini)) for form in forms]
    assert told[0][0] != told[1][0]
    assert told[0][1] != told[1][1]


def test_a_part_without_a_line_is_shown_and_kept_until_it_is_taken_out(mini: Asked) -> None:
    typed = mini.analytic("regions with more than 15 accounts")
    assert typed.logical is not None
    form = form_of(typed.logical, names_of(mini))
    assert ["15" in k.text for k in form.kept] == [True]
    wider = form.model_copy(update={"filters": (FilterLine(column="account.date", test="days", values=("1995-01-01", "")),)})
    assert "HAVING" in preview(wider, names_of(mini))[1]
    assert "HAVING" not in preview(form.model_copy(update={"kept": ()}), names_of(mini))[1]


def test_a_comparison_with_other_rows_is_a_fixed_line(mini: Asked) -> None:
    typed = mini.analytic("total loan amount by region").logical
    assert typed is not None
    sub = {"table": "loan", "alias": "other", "fn": "average", "ref": {"alias": "other", "table": "loan", "column": "amount"}}
    ref = {"alias": "loan", "table": "loan", "column": "amount"}
    test = {"ref": ref, "test": ">", "than": sub, "text": "amount above the average"}
    form = form_of({**typed, "filters": [test]}, names_of(mini))
    assert form.filters[0].kept is not None
    query, _, _ = logical_of(form, names_of(mini))
    assert query.filters[0].than is not None
    assert "above the average" in preview(form, names_of(mini))[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"measures": ()}, "what to work out"),
        ({"filters": (FilterLine(column="loan.status"),)}, "has no value"),
        ({"filters": (FilterLine(column="loan.amount", test=">", values=("much",)),)}, "not a number"),
        ({"filters": (FilterLine(column="loan.date", test="days", values=("yesterday", "")),)}, "not days"),
        ({"filters": (FilterLine(),)}, "no column"),
        ({"groups": (GroupLine(column="loan.nothing"),)}, "no way"),
        ({"groups": (GroupLine(column="trans.type"),)}, "no way"),
        ({"measures": (MeasureLine(fn="sum", column="loan.status"),)}, "not a figure"),
        ({"measures": (MeasureLine(fn="sum", column=""),)}, "of what"),
        ({"table": "nothing"}, "no table"),
        ({"lists": True}, "at least one column"),
    ],
)
def test_a_line_that_is_not_whole_says_so(mini: Asked, change: dict, says: str) -> None:
    form = Form(table="loan", measures=(MeasureLine(),)).model_copy(update=change)
    with pytest.raises(BadInput, match=says):
        preview(form, names_of(mini))


def test_a_query_of_another_source_is_refused(mini: Asked) -> None:
    typed = mini.analytic("loans by status").logical
    assert typed is not None
    foreign = {**typed, "dimensions": [{**typed["dimensions"][0], "ref": {"alias": "loan", "table": "loan", "column": "x"}}]}
    for bad in (foreign, {"nonsense": 1}, {**typed, "table": "nothing", "dimensions": []}):
        with pytest.raises(BadInput):
            build(bad, names_of(mini), mini.source.query)


def test_hostile_values_stay_values(mini: Asked) -> None:
    test = FilterLine(column="district.A2", test="in", values=("x'; DROP TABLE loan; --",))
    assert rows(mini, Form(table="district", measures=(MeasureLine(),), filters=(test,))) == [(0,)]


def test_the_question_of_a_form_says_all_of_it(mini: Asked) -> None:
    form = Form(
        table="loan",
        measures=(MeasureLine(fn="average", column="loan.amount"),),
        groups=(GroupLine(column="loan.date", grain="month"),),
        filters=(FilterLine(column="loan.amount", test="between", values=("1,000", "9000")),),
    )
    text = question_of(form, names_of(mini))
    for part in ("verage loan amount", "month of", "between 1,000 and 9,000"):
        assert part in text
