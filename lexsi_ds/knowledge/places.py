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


_CODE_LIST = """
    = ar=argentina au=australia at=austria be=belgium br=brazil bg=bulgaria ca=canada cl=chile cn=china co=colombia
    hr=croatia cz=czechia dk=denmark eg=egypt ee=estonia fi=finland fr=france de=germany gr=greece hu=hungary in=india
    id=indonesia ie=ireland it=italy jp=japan ke=kenya lv=latvia lt=lithuania lu=luxembourg my=malaysia mx=mexico
    ma=morocco nl=netherlands ng=nigeria no=norway pk=pakistan pe=peru ph=philippines pl=poland pt=portugal ro=romania
    ru=russia rs=serbia sg=singapore sk=slovakia si=slovenia es=spain se=sweden ch=switzerland th=thailand tr=turkey
    ua=ukraine gb=uk usa=usa gbr=uk deu=germany fra=france ita=italy esp=spain aut=austria che=switzerland nld=netherlands
    pol=poland jpn=japan chn=china ind=india bra=brazil can=canada aus=australia mex=mexico
"""
_CODES = {pair.partition("=")[0]: pair.partition("=")[2] for pair in _CODE_LIST.split()}
"""Codes of countries, for columns of countries alone."""
_NAMED_FOR: dict[str, tuple[str, ...]] = {}
for _country, _said in _WORDS.items():
    _NAMED_FOR[_said[0]] = (*_NAMED_FOR.get(_said[0], ()), _country)
"""Countries by their adjective, for columns that hold nationalities."""


def said_for(country: str) -> tuple[str, ...]:
    """Adjectives and other names of a country, of its code or its nationality. Short forms that are English words are left out."""
    name = " ".join(fold(country).split())
    meant = _CODES.get(name)
    if meant is not None and country.isupper():
        return tuple(w for w in (meant, *_WORDS.get(meant, ())) if w not in ("us", name))
    return tuple(w for w in (*_WORDS.get(name, ()), *_NAMED_FOR.get(name, ())) if w != "us")
