"""What-ifs and counterfactuals stay inside of what training knew, and are what the model itself says."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.counterfactuals import counterfactuals
from lexsi_ds.explain.plausible import known_of
from lexsi_ds.explain.ranges import ranges
from lexsi_ds.explain.relations import learn_relations
from lexsi_ds.explain.what_if import as_read, what_if
from lexsi_ds.facts import check
from tests.explain.models_for_tests import model, rows
from tests.models.frames_for_tests import silent


def _row(place: int = 0) -> pd.DataFrame:
    return rows(40, seed=5, first=1_000).iloc[[place]].reset_index(drop=True)


def _risky() -> pd.DataFrame:
    frame = rows(120, seed=6, first=2_000).dropna()
    found = model("binary")
    return frame.iloc[[int(found.margin(found.prepare(frame)).argmax())]].reset_index(drop=True)


def _borderline() -> pd.DataFrame:
    """A row judged positive, by a little, because it is large."""
    frame = rows(300, seed=6, first=2_000).dropna()
    found = model("binary")
    shares = found.link(found.margin(found.prepare(frame)))
    here = frame[(shares > 0.5) & (shares < 0.75) & (frame["size"] > 85)]
    return here.sort_values("size").tail(1).reset_index(drop=True)


def test_a_what_if_is_the_models_answer_for_that_row() -> None:
    found, row = model("binary"), _row().assign(district="north")
    view = what_if(found, row, {"size": 120, "district": "south"}, "probability")
    changed = row.assign(size=120, district="south")
    assert view.after.prediction == pytest.approx(float(found.link(found.margin(found.prepare(changed)))[0]), abs=1e-5)
    assert view.before.prediction == pytest.approx(float(found.link(found.margin(found.prepare(row)))[0]), abs=1e-5)
    assert {c.feature: c.after for c in view.changes} == {"size": 120, "district": "south"}
    assert check(view.sentence, view.facts).removed == ()


def test_a_what_if_of_a_training_row_stays_out_of_fold() -> None:
    view = what_if(model("binary"), rows().head(1), {"size": 120}, "probability")
    assert (view.before.scored, view.after.scored) == ("out_of_fold", "out_of_fold")


def test_what_training_never_saw_is_refused_or_doubted() -> None:
    found = model("binary")
    row = _row().assign(size=80.0, rooms=2, total=160.0)
    with pytest.raises(BadInput, match="never saw"):
        what_if(found, row, {"district": "atlantis"}, "probability")
    with pytest.raises(BadInput, match="must be a number"):
        what_if(found, row, {"size": "big"}, "probability")
    with pytest.raises(BadInput, match="does not use"):
        what_if(found, row, {"sex": "f"}, "probability")
    with pytest.raises(BadInput, match="Nothing"):
        what_if(found, row, {"size": 80}, "probability")
    above = what_if(found, row, {"size": 9_000}, "probability").doubts
    assert any("above the largest value of training" in d.sentence for d in above)
    assert any("size times rooms" in d.sentence or "rooms times size" in d.sentence for d in above)
    crossed = what_if(found, row, {"low": float(row["high"].iloc[0]) + 1}, "probability").doubts
    assert any("Low is above high" in d.sentence for d in crossed)
    missing = what_if(found, row, {"rooms": None}, "probability").doubts
    assert any("never missing" in d.sentence for d in missing)
    assert not any("missing" in d.sentence for d in what_if(found, row, {"district": None}, "probability").doubts)


def test_no_training_row_is_doubted() -> None:
    found = model("binary")
    known = known_of(found)
    for place in range(60):
        assert known.doubts(as_read(found, rows().iloc[[place]])) == ()


def test_words_that_never_meet_and_numbers_outside_a_words_range_are_doubted() -> None:
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=400), "b": rng.normal(size=400)}
    assert learn_relations(columns).orders == ()
    sums = {**columns, "c": columns["a"] + columns["b"]}
    assert ("c", "a", "b") in learn_relations(sums).sums
    broken = learn_relations(sums).broken({"a": 1.0, "b": 1.0, "c": 5.0}, {"a": "a", "b": "b", "c": "c"})
    assert broken[0][0] == ("c", "a", "b")


def test_ranges_say_what_may_be_typed() -> None:
    told = {r.feature: r for r in ranges(model("binary")).features}
    size = rows()["size"]
    assert (told["size"].low, told["size"].high, told["size"].whole, told["size"].missing) == (size.min(), size.max(), True, True)
    assert set(told["district"].words) == {"north", "south", "west"}
    assert told["rooms"].missing is False


def test_counterfactuals_flip_the_prediction_in_columns_that_may_change_only() -> None:
    found, row = model("binary"), _risky()
    may = ["size", "lift", "district"]
    view = counterfactuals(found, row, may, silent)
    assert view.found
    assert view.prediction >= 0.5
    for way in view.found:
        assert {c.feature for c in way.changes} <= set(may)
        changed = row.assign(**{c.feature: pd.Series([c.after], dtype=object) for c in way.changes})
        answer = float(found.link(found.margin(found.prepare(changed)))[0])
        assert answer == pytest.approx(way.prediction)
        assert answer < 0.5
    sizes = [len(w.changes) for w in view.found]
    assert sizes == sorted(sizes) or len({frozenset(c.feature for c in w.changes) for w in view.found}) < len(sizes)
    assert check(view.sentence, view.facts).removed == ()


def test_no_change_of_a_counterfactual_is_needless() -> None:
    found, row = model("binary"), _risky()
    for way in counterfactuals(found, row, ["size", "lift", "district", "noise", "low"], silent).found:
        for left_out in way.changes:
            rest = [c for c in way.changes if c is not left_out]
            changed = row.assign(**{c.feature: pd.Series([c.after], dtype=object) for c in rest})
            assert float(found.link(found.margin(found.prepare(changed)))[0]) >= 0.5


def test_what_is_not_needed_is_taken_back() -> None:
    from lexsi_ds.explain import counterfactuals as room
    from lexsi_ds.explain.wanted import Wanted

    found, row = model("binary"), _borderline()
    now, known = as_read(found, row), known_of(found)
    search = room._Search(found, row, now, Wanted(high=0.5), known, time.monotonic() + 60, found.prepare(row))
    small = float(min(known.values("size")[np.isfinite(known.values("size"))]))
    needless: dict = {"size": small, "noise": float(now["noise"] or 0) + 1.0, "lift": not now["lift"]}
    alone = search.rechecked({"size": small})
    assert alone < 0.5
    kept = room._sparse(search, needless)
    assert set(kept) == {"size"}
    assert search.rechecked(kept) < 0.5
    assert search.answers([kept, needless]).tolist() == pytest.approx([search.rechecked(kept), search.rechecked(needless)])


def test_counterfactuals_keep_to_permitted_ranges_and_are_the_same_each_time() -> None:
    found, row = model("binary"), _risky()
    size = float(row["size"].iloc[0])
    narrow = counterfactuals(found, _borderline(), ["size"], silent, permitted={"size": (45, 50)})
    assert narrow.found
    assert all(45 <= float(w.changes[0].after or 0) <= 50 for w in narrow.found)
    permitted = {"size": (size - 60, size - 10), "district": ("north",)}
    first = counterfactuals(found, row, ["size", "district"], silent, permitted=permitted, seed=3)
    again = counterfactuals(found, row, ["size", "district"], silent, permitted=permitted, seed=3)
    assert first.found == again.found
    assert first.found
    for way in first.found:
        for change in way.changes:
            if change.feature == "size":
                assert size - 60 <= float(change.after or 0) <= size - 10
            else:
                assert change.after == "north"
    with pytest.raises(BadInput, match="two numbers"):
        counterfactuals(found, row, ["size"], silent, permitted={"size": ("a", "b")})


def test_a_search_without_hope_ends_and_says_so() -> None:
    found, row = model("binary"), _risky()
    view = counterfactuals(found, row, ["noise"], silent, permitted={"noise": (0.0, 0.001)})
    assert view.found == ()
    assert "No row was found" in view.sentence or "can take another value" in view.sentence
    began = time.monotonic()
    ended = counterfactuals(found, row, ["noise", "low", "high"], silent, seconds=0.0)
    assert ended.stopped
    assert time.monotonic() - began < 5
    with pytest.raises(BadInput, match="Nothing may change"):
        counterfactuals(found, row, [], silent)


def test_a_row_that_is_judged_so_already_needs_no_change() -> None:
    found = model("binary")
    frame = rows(120, seed=6, first=2_000)
    from lexsi_ds.explain.wanted import Wanted

    low = frame.iloc[[int(found.margin(found.prepare(frame)).argmin())]]
    view = counterfactuals(found, low, ["size"], silent, wanted=Wanted(high=0.5))
    assert view.found == ()
    assert "already" in view.sentence
