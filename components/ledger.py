"""What the model saw in a turn: each request as it left for the endpoint, word for word, and the reply beside it."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from components import figures, session
from components.safe import plain
from components.turn import TurnView
from lexsi_ds.application import Application
from lexsi_ds.llm.ledger import Sent
from lexsi_ds.services.access import Actor

_NAMES = {"plan": "Choosing a step", "summarize": "Wording the answer", "probe": "Finding out what the endpoint can do"}


@st.fragment
def what_the_model_saw(app: Application, actor: Actor, view: TurnView) -> None:
    """Folded under a turn that asked a model; reads the file only when it is opened."""
    if not view.usage.get("requests"):
        return
    outer = st.expander(
        "What did the model see?", type="compact", icon=":material/visibility:", on_change="rerun",
        key=session.wkey("ledger", view.run_id),
    )
    if not outer.open:
        return
    with outer:
        sent = app.ledgers.of_run(actor, view.run_id)
        if not sent:
            st.caption("What left was not kept: this turn is from before that was done.")
            return
        st.caption(f"{figures.counted(len(sent), 'request')} left for the endpoint, and this is all of it, word for word.")
        names = [f"{i}. {_named(s)}" for i, s in enumerate(sent, 1)]
        key = session.wkey("ledger", view.run_id, "pick")
        chosen = st.selectbox("Request", range(len(sent)), format_func=lambda i: names[i], key=key)
        _request(sent[chosen])


def _named(sent: Sent) -> str:
    return _NAMES.get(sent.purpose, "Writing SQL") + (", did not work" if sent.problem else "")


def _request(sent: Sent) -> None:
    """One request, as text: nothing of it is Markdown."""
    try:
        body: Any = json.loads(sent.body)
    except ValueError:
        st.code(sent.body, language=None, wrap_lines=True)
        return
    for message in body.get("messages", []):
        st.caption(str(message.get("role")))
        called = "\n".join(f"{c['function']['name']}({c['function']['arguments']})" for c in message.get("tool_calls") or ())
        st.code("\n".join(filter(None, (message.get("content") or "", called))), language=None, wrap_lines=True)
    if body.get("tools"):
        st.caption("tools on offer")
        st.code("\n".join(t["function"]["name"] for t in body["tools"]), language=None, wrap_lines=True)
    st.caption("reply")
    replied = "\n".join(f"{c['name']}({c['arguments']})" for c in sent.calls)
    st.code(sent.problem or "\n".join(filter(None, (sent.reply, replied))) or "(empty)", language=None, wrap_lines=True)
    rest = {k: v for k, v in body.items() if k not in ("messages", "tools")}
    tokens = f"{figures.count(sent.prompt_tokens)} tokens read, {figures.count(sent.completion_tokens)} written"
    st.caption(f"{tokens}, {figures.seconds(sent.seconds)}, to {plain(sent.address)}")
    st.code(json.dumps(rest), language="json", wrap_lines=True)
