"""Sources that are built once for all tests of questions."""

from __future__ import annotations

import pytest

from tests.knowledge.sources import DATA, berka_tables, csv_table
from tests.text_to_sql.sources import Asked, asked, mini_bank


def _real() -> None:
    if not DATA.is_dir():
        pytest.skip("the shared example data is not beside the repository")


@pytest.fixture(scope="session")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """The real bank, with a part of its transactions."""
    _real()
    return asked(tmp_path_factory.mktemp("bank"), berka_tables(), kind="pkdd")


@pytest.fixture(scope="session")
def telco(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Telco churn as DuckDB reads it: yes/no columns become booleans."""
    _real()
    return asked(tmp_path_factory.mktemp("telco"), {"telco_customer_churn": csv_table("Telco-Customer-Churn.csv")})


@pytest.fixture(scope="session")
def telco_text(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Telco churn with its yes/no columns kept as text, under a name that says nothing of customers."""
    _real()
    return asked(tmp_path_factory.mktemp("telco_text"), {"data_2024": csv_table("Telco-Customer-Churn.csv", text=True)})


@pytest.fixture(scope="session")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Attrition of employees."""
    _real()
    return asked(tmp_path_factory.mktemp("staff"), {"emp_attrition_ibm": csv_table("emp_attrition_ibm.csv")})


@pytest.fixture(scope="session")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """House sales: dates as text, years as numbers."""
    _real()
    return asked(tmp_path_factory.mktemp("houses"), {"kc_house_data": csv_table("kc_house_data.csv")})


@pytest.fixture(scope="session")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """The hand-made bank."""
    return asked(tmp_path_factory.mktemp("mini"), mini_bank())
