"""How payloads are drawn: functions of a payload that return what the person wants. Nothing is computed or kept here."""
