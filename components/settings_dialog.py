"""The settings of the language model, from every page: where it is, its key, how it calls tools, what may leave, what it costs.

A key goes from its field straight to the service that keeps it in memory; the field is emptied at once.
Must never: show a key again.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from components import figures, session
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor

_URL, _MODEL, _KEY = "settings-llm-url", "settings-llm-model", "settings-llm-key"
_TOOLS, _PRIVATE, _PRICES = "settings-llm-tools", "settings-llm-private", "settings-llm-prices"
_MODES = {"auto": "Find out", "native": "Native calls", "json": "JSON decision"}


def button(app: Application, actor: Actor) -> None:
    """Opens the dialog."""
    if st.button("Model settings", icon=":material/settings:", key="settings-open", type="tertiary"):
        dialog(app, actor)


@st.dialog("Language model", width="large")
def dialog(app: Application, actor: Actor) -> None:
    """Everything about the model that answers for this person."""
    _said()
    endpoint, prices, used = st.tabs(["Endpoint", "Prices", "Last runs"])
    with endpoint:
        _endpoint(app, actor)
    with prices:
        _price_table(app, actor)
    with used:
        _last_runs(app, actor)


def _said() -> None:
    told = session.held().settings_told
    session.held().settings_told = None
    if told is not None:
        kind, text = told
        (st.success if kind == "success" else st.error)(plain(text, 600))


def _endpoint(app: Application, actor: Actor) -> None:
    now, may = app.llm.of(actor), app.settings.llm_choice
    where = "your own settings" if now and now.mine else "the environment" if now else ""
    st.markdown(f"In use: **{plain(now.model)}**, from {where}." if now else "In use: **Offline**. No key, no network.")
    if not may:
        st.caption("Here the language model is set by who runs the server.")
    st.text_input(
        "Endpoint", value=now.base_url if now else "", key=_URL, placeholder="http://127.0.0.1:8080/v1", disabled=not may
    )
    left, right = st.columns(2)
    left.text_input("Model", value=now.model if now else "", key=_MODEL, disabled=not may)
    right.text_input(
        "Key", type="password", key=_KEY, disabled=not may, autocomplete="new-password",
        placeholder="A key is set" if app.llm.has_key(actor) else "None is set",
        help="Kept in the memory of this server until it ends. Never stored, logged or shown. Empty keeps the one that is set.",
    )
    st.segmented_control(
        "Tool calls", list(_MODES), default=now.tools if now else "auto", key=_TOOLS, format_func=lambda m: _MODES[m],
        disabled=not may, help="Find out asks the endpoint once and remembers what it saw.",
    )
    _verdict(app, actor)
    with st.container(horizontal=True, gap="small"):
        st.button("Save", type="primary", key="settings-llm-save", on_click=_save, args=(app, actor), disabled=not may)
        st.button(
            "Save and test", icon=":material/network_check:", key="settings-llm-test", on_click=_test, args=(app, actor),
            disabled=not may and now is None,
        )  # fmt: skip
        if may and app.llm.environment is not None and (now is None or now.mine):
            st.button("Use the environment's", key="settings-llm-env", on_click=_environment, args=(app, actor))
        if may and now is not None:
            st.button("Go offline", key="settings-llm-off", on_click=_offline, args=(app, actor))
    st.toggle(
        "Send aggregates only", value=app.llm.aggregates_only(actor), key=_PRIVATE, on_change=_private, args=(app, actor),
        disabled=app.settings.llm_aggregates_only,
        help="No row of a result, no id and no rare value leaves: only names, counts, sums and means over at least five rows.",
    )  # fmt: skip
    st.caption("Masked columns never leave, whatever is chosen. Each turn of the chat shows what the model saw.")


def _verdict(app: Application, actor: Actor) -> None:
    seen = app.llm.verdict(actor)
    if seen is None:
        return
    calls = "native tool calls" if seen.native else "no native tool calls"
    several = ", several at once" if seen.several else ""
    counts = "says its tokens" if seen.counts else "does not say its tokens: they are estimated"
    st.caption(f"Seen: {calls}{several}; {counts}; a reply took {figures.seconds(seen.seconds)}.")


@careful
def _save(app: Application, actor: Actor) -> None:
    _keep(app, actor)
    session.held().settings_told = ("success", "Saved. The next question uses it.")


@careful
def _test(app: Application, actor: Actor) -> None:
    if app.settings.llm_choice:
        _keep(app, actor)
    found = app.llm.test(actor)
    session.held().settings_told = ("success" if found.ok else "error", found.words)


def _keep(app: Application, actor: Actor) -> None:
    """Take the fields over; the key's is emptied whatever comes of it."""
    typed = str(session.read(_KEY) or "")
    session.put(_KEY, "")
    now = app.llm.of(actor)
    url, model = str(session.read(_URL) or ""), str(session.read(_MODEL) or "")
    tools: Any = session.read(_TOOLS) or "auto"
    if now is None or now.mine or typed or (url, model, tools) != (now.base_url, now.model, now.tools):
        app.llm.choose(actor, url, model, key=typed or None, tools=tools)


@careful
def _environment(app: Application, actor: Actor) -> None:
    app.llm.use_environment(actor)
    session.forget(_URL, _MODEL, _KEY, _TOOLS)


@careful
def _offline(app: Application, actor: Actor) -> None:
    app.llm.go_offline(actor)
    session.forget(_URL, _MODEL, _KEY, _TOOLS)


@careful
def _private(app: Application, actor: Actor) -> None:
    app.llm.set_aggregates_only(actor, bool(session.read(_PRIVATE)))


def _price_table(app: Application, actor: Actor) -> None:
    st.caption("Price of a million tokens, in your currency. Without a price no cost is shown: none is invented.")
    kept, now = app.llm.prices(actor), app.llm.of(actor)
    rows = [{"model": m, "read": p["prompt"], "written": p["completion"]} for m, p in kept.items()]
    if now is not None and now.model not in kept:
        rows.append({"model": now.model, "read": None, "written": None})
    types = {"model": "string", "read": "Float64", "written": "Float64"}
    table = pd.DataFrame(rows, columns=list(types)).astype(types)
    edited = st.data_editor(
        table, num_rows="dynamic", hide_index=True, key=_PRICES, width="stretch",
        column_config={
            "model": st.column_config.TextColumn("Model", required=True),
            "read": st.column_config.NumberColumn("Read, a million tokens", min_value=0, format="%.4f"),
            "written": st.column_config.NumberColumn("Written, a million tokens", min_value=0, format="%.4f"),
        },
    )  # fmt: skip
    st.button("Save prices", key="settings-llm-prices-save", on_click=_save_prices, args=(app, actor, edited))


@careful
def _save_prices(app: Application, actor: Actor, edited: pd.DataFrame) -> None:
    whole = edited.dropna()
    app.llm.set_prices(
        actor,
        {str(r["model"]): {"prompt": float(r["read"]), "completion": float(r["written"])} for r in whole.to_dict("records")},
    )
    session.held().settings_told = ("success", "The prices are saved.")


def _last_runs(app: Application, actor: Actor) -> None:
    used = app.ledgers.recent(actor)
    if not used:
        st.caption("No answer has asked a language model yet.")
        return
    rows = [
        {"Question": plain(u.question, 80), "Requests": u.requests, "Tokens read": u.prompt_tokens,
         "Tokens written": u.completion_tokens, "Waited, s": round(u.seconds, 1), "Cost": u.cost}
        for u in used
    ]  # fmt: skip
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
