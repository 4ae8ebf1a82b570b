"""Plans and previews through the catalog: made by a real ingest worker, as the page asks for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.data.plan import plan_options
from lexsi_ds.errors import BadInput

_DOCS = Path(__file__).resolve().parents[2] / "docs" / "reading_files.md"


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    path.write_bytes("Titel\n\n\n\n\nName;x;Tag\n;kg;\nZoë;1;01.02.2020\nJirka;-200;13.02.2020\n".encode("cp1250"))
    return path


def test_the_example_of_the_documentation_runs(application: Application, sales: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", _DOCS.read_text(), re.DOTALL)
    catalog, person = application.catalog, application.person()
    here = Path(__file__).read_text()
    for line in example.strip().splitlines():  # each line of it stands below, with the file for ``paths``
        assert line.replace("person, paths[0]", "person, sales").replace("paths", "[sales]") in here, line
    plans = catalog.plan_files(person, [sales])
    plan = plans[0].change(delimiter=";", encoding="cp1250", header_lines=(6, 7), missing=("-200",))
    plan = plan.change_column(2, type="date", date_order="dmy", name="day")
    preview = catalog.preview_file(person, sales, plan)
    handle = catalog.import_source(person, "files", "Sales", [sales], options=plan_options([plan, *plans[1:]]))
    assert preview.columns == ("Name", "x kg", "day") and preview.rows[1] == ("Jirka", None, "2020-02-13")
    assert [c.name for c in handle.tables[0].columns] == ["Name", "x kg", "day"] and handle.tables[0].rows == 2
    assert handle.tables[0].columns[1].nulls == 1


def test_what_cannot_be_read_is_a_clear_error_from_the_worker_too(application: Application, tmp_path: Path) -> None:
    person = application.person()
    (tmp_path / "x.docx").write_bytes(b"PK\x03\x04")
    with pytest.raises(BadInput, match=r"type \.docx cannot be read"):
        application.catalog.plan_files(person, [tmp_path / "x.docx"])
