"""Common words of the names of columns and tables, and the words that names without a separator end with. General English only.

Data. It helps to read a name; it never makes a name mean something that its letters do not say.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


COMMON = _words(
    "electric electronic elevation account active activity actual address admission advance agent airline airport amount annual"
    " answer apartment application appointment approved area arrival article artist asset attendance author available average"
    " award balance bank base basic batch bed benefit bill billing birth blood board body bonus book booking branch brand budget"
    " building business buyer campaign cancel cancelled capacity capital car card career carrier case cash category cause center"
    " channel charge check child city claim class client close closed code color colour comment commission company condition"
    " contact contract cost count country county course coverage created credit currency current customer daily damage data date"
    " day debit deductible default degree delay delivered delivery department departure deposit description destination device"
    " diagnosis director discharge discount distance district division doctor document donor driver due duration education"
    " effective efficiency email employee end energy engine enrolment entry environment equipment error estimated event exam"
    " expected expense experience expiry export express external factory fare fee field file final fine first flag flight floor"
    " food freight frequency fuel full game gender genre goal grade gross group guest health height hire hired holder holiday"
    " home hospital hotel hour hourly house household humidity image import income industry initial inspection instructor"
    " insurance interest internal inventory invoice issue item job journey key kind label language last length lesson letter"
    " level licence license life limit line list loan local location loss machine main maintenance make manager manufacturer"
    " margin marital market material maximum measure member membership message meter method middle mileage minimum minute mode"
    " model month monthly movie name nation nationality net network night nightly number object occupation occupancy office"
    " official open opened operator option order origin original output owner package page parent parking part partner passenger"
    " patient payment payload percent performance period permit person phone place plan plant platform player point policy"
    " population port position post postal power premium pressure previous price primary priority product production profession"
    " profit program project promotion property province publisher publish purchase quality quantity quarter question queue"
    " range rank rate rating reading reason receipt record reference refund region registration rejected release rent rental"
    " repair report request required reservation response result retail return revenue review risk road role room route runtime"
    " salary sale sales sample satisfaction schedule school score season seat second section sector segment seller semester"
    " sensor serial service session severity shift ship shipment shipped shipping shop side signup size skill smoker source"
    " speed staff stage standard star start state station status stock store street student subject subscription supplier supply"
    " support survey system target task tax teacher team telephone temperature tenure term terminal territory test ticket time"
    " title total tour town track trade trailer trainer training transaction transfer transport travel treatment trip type unit"
    " update user value variant vehicle vendor version visit visitor volume voltage work teach train play win sport run walk"
    " read write talk call mail sign stop step deal gift pool voucher wage warehouse warranty weather website week weekly weight"
    " width winner worker yearly year zone"
)
"""Words that names are made of."""

ENDS = (
    "date", "name", "id", "price", "code", "number", "type", "status", "amount", "count", "total", "rate", "city", "country",
    "cost", "limit", "flag", "weight", "height", "length", "width", "level", "group", "value", "score", "address", "phone",
    "email", "state", "region", "quantity", "qty", "desc", "description", "no", "num", "nbr", "cnt", "amt", "size", "color",
    "colour", "speed", "distance", "duration", "fee", "tax", "discount", "balance", "salary", "method", "mode", "reason",
    "category", "brand", "model", "unit", "units", "percent", "pct", "rank", "hours", "minutes", "days", "months", "years", "year",
    "month", "day", "week", "time", "income", "capacity", "power", "temp", "temperature", "title", "class", "cd", "dt", "nm",
    "typ", "key", "line", "term", "start", "end", "office", "charge", "volume", "area", "point", "points", "rating", "margin",
    "connected", "enabled", "verified", "approved", "included", "required", "insured", "completed", "delivered", "licensed",
    "budget", "revenue", "sales", "reference", "ref", "label", "kind", "role", "zone", "zip", "street", "currency", "bonus",
)  # fmt: skip
"""Last words of names that are written in one."""

SURE_ENDS = _words(
    "connected enabled verified approved included required date cost weight height amount number limit address country currency"
    " quantity salary region flag price code status category description distance duration speed discount balance revenue budget"
    " income capacity temperature"
)
"""Of these, the ones that stand at the end of a name even where the word before them is in no list: freightcost."""

WHOLE = _words(
    "update candidate mandate validate consolidate liquidate accommodate intimidate corporate separate operate generate"
    " moderate prototype stereotype surname nickname username filename barcode postcode zipcode encode decode estate interstate"
    " capacity velocity ethnicity electricity publicity toxicity elasticity discount account viscount mileage overweight"
    " underweight caprice discost accost apparatus weekday birthday workday holiday sunday monday tuesday wednesday thursday"
    " friday saturday timeline deadline airline pipeline headline online offline hotline baseline discipline weekend trend"
    " backend frontend overtime runtime lifetime bedtime downtime uptime sometime maritime airtime warranty monkey turkey hockey"
    " jockey whiskey restart upstart subtotal teapot cashflow homepage website password keyword software hardware subclass"
    " entitle subtitle interest minimum maximum northeast southwest northwest southeast casino domino piano volcano kimono keno"
    " reno checkpoint viewpoint standpoint appoint disappoint recharge discharge surcharge overcharge backoffice carrot postpone"
    " dividend recommend suspend depend datetime timestamp attend spend send lend blend friend legend defend extend intend"
    " gender tender gradient quotient orientation nutrient nation ration location salient valid paid raid fluid solid rapid"
    " avoid said hybrid grid void druid android asteroid steroid thyroid liquid acid rigid vivid humid squid hemorrhoid aid maid"
    " timid placid covid postmodern supermodel remodel overdue ensure insure medium premium opium stadium sodium radium"
)
"""Words that only look as if they were two."""
