"""Codes of a column that stand for a missing value: ``NA``, ``?``, ``-`` and the like, where nothing speaks against it.

Must never: take a code that other values of the column explain, such as Namibia among countries, for a missing value.
"""

from __future__ import annotations

from lexsi_ds.data.cells import CellTable, TextColumn, has_row, is_missing, trimmed
from lexsi_ds.data.column_words import is_region
from lexsi_ds.data.forms import MISSING_CODES

_CODE_LIKE, _REGION_LIKE = r"[A-Z]{2,3}", r"[A-Z]{3,5}"


def codes_seen(at: CellTable, column: TextColumn, *, in_text: bool) -> dict[str, int]:
    """Codes that stand for a missing value in a column, and how often; ``in_text`` for columns that stay text."""
    text = trimmed(column)
    test = is_missing(at, text, column.raw)
    found = dict(
        at.con.execute(
            f"SELECT {text}, count(*) FROM {at.name} WHERE {test} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"
        ).fetchall()
    )
    if not in_text:
        return found
    chosen = at.hints.missing_of(column.raw)
    kinds = (*MISSING_CODES, *chosen) if at.hints.codes_in_text else chosen
    codes = {code: count for code, count in found.items() if code in kinds}
    if "-" in codes and "-" not in chosen and has_row(at, f"{text} = '+'"):
        codes.pop("-")
    if "NA" in codes and "NA" not in chosen and _is_a_code(at, column):
        codes.pop("NA")
    return codes


def _is_a_code(at: CellTable, column: TextColumn) -> bool:
    """Whether ``NA`` is a code as the others are: Namibia among codes of two or three letters, North America beside EMEA."""
    text = trimmed(column)
    others = f"{text} NOT IN ('NA', '')"
    if not has_row(at, f"{others} AND NOT regexp_full_match({text}, '{_CODE_LIKE}')"):
        return True
    return is_region(column.name) and has_row(at, f"{others} AND regexp_full_match({text}, '{_REGION_LIKE}')")
