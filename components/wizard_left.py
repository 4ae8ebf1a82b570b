"""What of the chosen files will not be in the tables: files that cannot be read, with why, and what was passed over.

Shown before anything is imported. Must never: let a file go without a word.
"""

from __future__ import annotations

import streamlit as st

from components import figures
from components.safe import plain
from components.wizard import FileWizard
from lexsi_ds.data.plan import ReadPlan

SHOWN = 6


def left_out(state: FileWizard) -> None:
    """Files that cannot be read, each with its reason; the others are loaded without them."""
    bad = [p for p in state.plans or [] if p.error]
    if not bad or not state.good:
        return
    one = len(bad) == 1
    head = "1 file is left out, as it" if one else f"{figures.count(len(bad))} files are left out, as they"
    lines = [f"- **{plain(place(p), 80)}**: {plain(reason(p), 300)}" for p in bad[:SHOWN]]
    if len(bad) > SHOWN:
        lines.append(f"- and {len(bad) - SHOWN} more")
    said = f"**{head} cannot be read.** The rest loads without {'it' if one else 'them'}.\n\n"
    st.warning(said + "\n".join(lines), icon=":material/warning:")


def place(plan: ReadPlan) -> str:
    """Where a table stands: the file, and what in it."""
    return plan.path.name + (f", {plan.member}" if plan.member else "")


def reason(plan: ReadPlan) -> str:
    """Why a file cannot be read, without its name, which stands before it."""
    return (plan.error or "").replace(f" ({plan.path.name})", ".").replace("..", ".")


def passed_over(state: FileWizard) -> None:
    """What the files hold and will not be read."""
    for note in state.passed_over[:SHOWN]:
        st.caption(f":material/info: {plain(note, 400)}")
    if len(state.passed_over) > SHOWN:
        st.caption(f"and {figures.counted(len(state.passed_over) - SHOWN, 'more note')}.")
