"""General English for business data: which words stand for the same thing, whatever the source. No data set's own names.

Data only. A word here widens what is understood; it must never make two different columns of one table the same.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROW_NOISE = _words(
    "data dataset table tbl csv tsv file list export sample full train test final raw clean cleaned view fact dim the of kaggle"
    " churn attrition survey records record rows stg staging tmp new old copy version part all db src"
)
"""Words of a table's name that do not name its rows."""

KEY_ENDINGS = ("id", "key", "number", "code", "nr", "no", "uuid", "guid")

PEOPLE = _words(
    "customer client employee passenger patient user member subscriber person student worker applicant borrower policyholder"
    " guest driver donor voter citizen resident buyer shopper player"
)

ROW_SYNONYMS: dict[str, tuple[str, ...]] = {
    "customer": ("client", "subscriber", "buyer"), "client": ("customer",), "subscriber": ("customer",), "user": ("customer",),
    "employee": ("staff", "worker", "staff member", "colleague", "headcount"), "worker": ("employee", "staff"),
    "patient": ("case",), "transaction": ("booking",), "invoice": ("bill",), "order": ("purchase",), "purchase": ("order",),
    "house": ("home",), "home": ("house",), "apartment": ("flat",), "flat": ("apartment",), "property": ("home", "listing"),
    "track": ("song",), "song": ("track",), "item": ("product",), "product": ("item", "article"), "movie": ("film",),
    "film": ("movie",), "car": ("vehicle", "automobile"), "vehicle": ("car",), "shipment": ("delivery", "consignment"),
    "delivery": ("shipment",), "trip": ("journey",), "ride": ("trip",), "listing": ("property",), "booking": ("reservation",),
    "reservation": ("booking",), "teacher": ("instructor",), "instructor": ("teacher",), "doctor": ("physician",),
    "physician": ("doctor",), "student": ("pupil",), "pupil": ("student",), "holder": ("policyholder", "policy holder"),
    "reading": ("measurement",), "measurement": ("reading",), "supplier": ("vendor",), "vendor": ("supplier",),
    "match": ("game",), "game": ("match",), "team": ("club",), "club": ("team",), "store": ("shop", "outlet"),
    "shop": ("store",), "airline": ("carrier",), "author": ("writer",), "artist": ("musician",), "artwork": ("work",),
    "enrolment": ("enrollment",), "enrollment": ("enrolment",), "absence": ("missed day",), "accident": ("crash",),
    "device": ("machine",), "machine": ("device",), "plant": ("facility",), "department": ("dept",), "branch": ("location",),
    "admission": ("stay", "hospital stay"),
    "appointment": ("visit",), "visit": ("appointment",), "medication": ("drug",), "drug": ("medication",),
}
"""Other words for rows; each counts only where no table is called so."""

COLUMN_SYNONYMS: dict[str, tuple[str, ...]] = {
    "gender": ("sex",),
    "sex": ("gender",),
    "monthly income": ("income", "salary", "pay", "wage", "monthly salary", "earnings", "earn"),
    "salary": ("pay", "wage", "income", "earnings", "earn"),
    "monthly charge": ("monthly bill", "monthly fee"),
    "total charge": ("lifetime charge", "total bill"),
    "department": ("dept",),
    "job role": ("role", "position", "job title", "job"),
    "zip code": ("zip", "postal code", "postcode"),
    "zipcode": ("zip code", "zip", "postal code", "postcode"),
    "postal code": ("zip code", "zip", "postcode"),
    "price": ("sale price",),
    "fare": ("ticket price",),
    "tenure": ("length of stay", "time as customer", "months as customer"),
    "contract": ("contract type", "type of contract"),
    "internet service": ("internet", "type of internet service"),
    "payment method": ("method of payment", "way of paying", "payment type"),
    "embarked": ("port of embarkation", "port", "embarkation port"),
    "passenger class": ("class", "ticket class"),
    "distance from home": ("commute", "commuting distance", "distance to work"),
    "marital status": ("family status", "civil status"),
    "business travel": ("travel", "travelling"),
    "revenue": ("turnover", "sales volume"),
    "quantity": ("units",),
    "attendance": ("spectators", "visitors", "crowd"),
    "salesperson": ("sales rep", "seller"),
    "sales rep": ("salesperson", "sales representative"),
    "total": ("revenue", "invoice value", "value"),
}

ADDITIVE_WORDS = _words(
    "amount total charge charges revenue sales cost costs price payment payments quantity count income volume fare value profit"
    " spend spending paid fee fees balance units number sum loss turnover"
)

CUTOFF_WORDS = (
    "created",
    "opened",
    "granted",
    "start",
    "application",
    "applied",
    "order",
    "date",
    "signup",
    "issued",
    "purchase",
)
"""Which of several dates of a row is the one to predict at, by name, best first."""

YES = frozenset({"yes", "y", "true", "t", "1"})
NO = frozenset({"no", "n", "false", "f", "0"})

OUTCOME_WORDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    # column word: (adjectives and nouns of the positive rows, of the negative rows, verbs that mean it will happen)
    "churn": (
        ("churned", "churner", "lost", "churn"),
        (
            "not churned",
            "stayed",
            "retained",
            "loyal",
            "stayer",
            "current",
            "remaining",
            "non churned",
            "have not churned",
        ),
        (
            "churn",
            "churning",
            "leave",
            "leaving",
            "leave us",
            "leaving us",
            "cancel",
            "cancelling",
            "cancel their contract",
            "quit",
            "quitting",
            "lose",
            "losing",
            "go away",
            "switch",
            "switch away",
            "walk away",
            "defect",
            "lost",
            "cancellation",
            "end their contract",
            "terminate",
            "churner",
            "about to leave",
            "customer loss",
            "attrition",
        ),
    ),
    "attrition": (
        ("left", "leaver", "quit", "resigned", "departed", "left the company", "attrited", "have left"),
        ("stayed", "stayer", "remaining", "still here", "not left", "current", "retained"),
        (
            "attrition",
            "leave",
            "leaving",
            "quit",
            "quitting",
            "resign",
            "resigning",
            "leave us",
            "leaving us",
            "turnover",
            "leave the company",
            "leaving the company",
            "attrit",
            "walk away",
            "hand in their notice",
            "go",
            "about to leave",
        ),
    ),
    "survived": (
        ("survived", "survivor", "survive", "saved"),
        ("died", "dead", "perished", "not survived", "drowned", "killed"),
        ("survive", "surviving", "survival", "survived", "survivor"),
    ),
    "default": (
        ("defaulted", "defaulter", "in default", "default"),
        ("not defaulted", "performing"),
        (
            "default",
            "defaulting",
            "go bad",
            "not pay back",
            "not repay",
            "fail to repay",
            "fail to pay back",
            "not paying back",
        ),
    ),
    "fraud": (
        ("fraudulent", "fraud"),
        ("legitimate", "genuine", "not fraudulent"),
        ("fraud", "fraudulent", "be fraudulent", "be fraud"),
    ),
}

OUTCOME_ALIASES = {
    "exited": "churn",
    "cancelled": "churn",
    "canceled": "churn",
    "quit": "attrition",
    "left": "attrition",
    "survival": "survived",
}
"""Other names of columns that hold one of these outcomes."""
OUTCOME_NOUNS = {"survived": "survival"}
DONE_NOUNS = {
    "attended": "attendance", "cancelled": "cancellation", "canceled": "cancellation", "returned": "return",
    "converted": "conversion", "retained": "retention", "approved": "approval", "delivered": "delivery",
    "completed": "completion", "rejected": "rejection", "readmitted": "readmission", "failed": "failure", "passed": "pass",
    "subscribed": "subscription", "renewed": "renewal", "accepted": "acceptance", "vaccinated": "vaccination",
    "employed": "employment", "infected": "infection", "occupied": "occupancy", "refunded": "refund", "opened": "open",
    "clicked": "click", "responded": "response", "promoted": "promotion", "recovered": "recovery",
    "hospitalised": "hospitalisation", "hospitalized": "hospitalization",
}  # fmt: skip
"""The noun of what a yes/no column says was done: its rate is called by it."""
GOOD_OUTCOMES = frozenset({"survived"})
"""Outcomes that nobody is at risk of."""
