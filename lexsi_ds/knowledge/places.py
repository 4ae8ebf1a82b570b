"""What people say for countries: the adjective, and the other names. General geography, for columns that hold countries."""

from __future__ import annotations

from lexsi_ds.knowledge.words import fold

_COUNTRIES = (
    "argentina:argentine,argentinian", "australia:australian,aussie", "austria:austrian", "belgium:belgian", "brazil:brazilian",
    "bulgaria:bulgarian", "canada:canadian", "chile:chilean", "china:chinese", "colombia:colombian", "croatia:croatian",
    "czech republic:czech,czechia", "czechia:czech,czech republic", "denmark:danish", "egypt:egyptian", "estonia:estonian",
    "finland:finnish", "france:french", "germany:german", "greece:greek", "hungary:hungarian", "iceland:icelandic", "india:indian",
    "indonesia:indonesian", "ireland:irish", "israel:israeli", "italy:italian", "japan:japanese", "kenya:kenyan", "latvia:latvian",
    "lithuania:lithuanian", "luxembourg:luxembourgish", "malaysia:malaysian", "mexico:mexican", "morocco:moroccan",
    "netherlands:dutch,holland", "new zealand:new zealander", "nigeria:nigerian", "norway:norwegian", "pakistan:pakistani",
    "peru:peruvian", "philippines:filipino,philippine", "poland:polish", "portugal:portuguese", "romania:romanian",
    "russia:russian", "saudi arabia:saudi", "serbia:serbian", "singapore:singaporean", "slovakia:slovak", "slovenia:slovenian",
    "south africa:south african", "south korea:south korean,korean", "spain:spanish", "sweden:swedish", "switzerland:swiss",
    "thailand:thai", "turkey:turkish", "ukraine:ukrainian", "united arab emirates:emirati,uae", "uae:emirati,united arab emirates",
    "united kingdom:british,uk,great britain,britain", "uk:british,united kingdom,great britain,britain",
    "united states:american,usa,us,united states of america,america", "usa:american,united states,united states of america,america",
    "us:american,usa,united states,united states of america,america", "venezuela:venezuelan", "vietnam:vietnamese",
)  # fmt: skip
_WORDS = {name: tuple(words.split(",")) for name, words in (entry.split(":") for entry in _COUNTRIES)}
NAMED = frozenset({"country", "nation", "nationality", "countries"})
"""Words of the names of columns that hold countries."""


def said_for(country: str) -> tuple[str, ...]:
    """Adjectives and other names of a country; empty for what is none. Short forms that are English words are left out."""
    return tuple(w for w in _WORDS.get(" ".join(fold(country).split()), ()) if w != "us")
