"""The function words of a question: what asks for a count, a sum, a grouping, a filter, an order. English only, no data.

A word that is neither here nor in the lexicon is a word that was not understood.
"""

from __future__ import annotations

from typing import Literal

CueKind = Literal[
    "count", "sum", "average", "median", "minimum", "maximum", "distinct", "share", "rate", "by", "each", "which", "list", "top",
    "bottom", "most", "least", "large", "small", "worst", "best", "desc", "asc", "more", "less", "at_least", "at_most", "between",
    "equal", "not", "with", "without", "or", "and", "versus", "trend", "be", "have", "of", "in", "from", "to", "since", "before",
    "after", "than", "grain", "only", "polite", "percent", "long", "short", "late", "early", "rank", "quarter_of", "older",
    "younger", "all", "number_of_rows", "next", "last",
]

_TEXT: dict[CueKind, str] = {
    "count": "how many|number of|count of|count|count the|no of|nr of|how often|total number of|total count of|overall number of"
             "|the number of|headcount|head count|quantity of|tally|just the number|in number|how many of|counts of|counts|number",
    "sum": "total|sum of|sum|altogether|in total|in all|combined|overall|sum up|total of|totals|how much|add up|added up|total amount of"
           "|summed|grand total|cumulated sum of",
    "average": "average|avg|mean|on average|average of|mean of|averages|typically|the average|in the mean",
    "median": "median|median of|the median",
    "minimum": "minimum|min|minimum of|the minimum",
    "maximum": "maximum|max|maximum of|the maximum",
    "distinct": "different|distinct|unique|various",
    "share": "percentage of|percent of|share of|proportion of|fraction of|what percentage of|what percent of|percentage|proportion"
             "|what share of|what proportion of|what fraction of|pct of|how large a share of|in what percentage of|which percentage of",
    "rate": "rate|rate of",
    "by": "by|per|grouped by|group by|broken down by|break down by|split by|split up by|according to|sorted into|across|depending on"
          "|for different|as a function of|broken out by|breakdown by|separately for|within each|for each of the|divided by|versus different",
    "each": "for each|for every|in each|each|every|in every|of each|of every|at each|per each|on each|within every|for all the different",
    "which": "which|what|in which|who|for which|whose|where|on which|from which|of which|with which",
    "list": "list|show|show me|give me|give|display|which are|name|tell me|list all|list the|show all|print|return|find|get|see|provide"
            "|i want to see|i would like to see|want to see|let us see|look up|fetch|pull up",
    "top": "top|first",
    "bottom": "bottom",
    "most": "most|the most|the greatest number of|the highest number of|the largest number of|the biggest number of|greatest number of"
            "|highest number of|largest number of|biggest number of|highest count of|most of",
    "least": "fewest|least|the fewest|the least|the lowest number of|the smallest number of|lowest number of|smallest number of",
    "large": "largest|biggest|highest|greatest|the largest|maximal|top most|highest of|largest of",
    "small": "smallest|lowest|littlest|the smallest|minimal",
    "worst": "worst", "best": "best",
    "long": "longest", "short": "shortest",
    "late": "latest|newest|most recent|last|youngest", "early": "earliest|oldest|first ever",
    "desc": "biggest first|largest first|highest first|descending|in descending order|desc|worst first|longest first|newest first"
            "|from highest to lowest|from largest to smallest|highest to lowest|largest to smallest|most first|decreasing|latest first"
            "|from high to low|high to low|best first|sorted descending|ordered descending",
    "asc": "smallest first|lowest first|ascending|in ascending order|asc|from lowest to highest|from smallest to largest|shortest first"
           "|lowest to highest|smallest to largest|oldest first|increasing|earliest first|fewest first|low to high",
    "more": "more than|greater than|above|over|larger than|bigger than|higher than|exceeding|exceeds|exceed|longer than|bigger|upwards of"
            "|in excess of|beyond|more|greater|higher|larger|>",
    "less": "less than|fewer than|below|under|smaller than|lower than|shorter than|beneath|less|fewer|lower|smaller|not more|<",
    "at_least": "at least|or more|no less than|not less than|minimum of|at minimum|or over|or above|no fewer than|and above|and up|or better"
                "|or higher|and more|>=|from at least|or longer|or greater|or larger|and over|a minimum of",
    "at_most": "at most|no more than|not more than|up to|maximum of|or less|or fewer|or below|at maximum|<=|or lower|or under|and below"
               "|or shorter|or smaller|a maximum of",
    "older": "older than", "younger": "younger than",
    "between": "between|ranging from|in the range of|from between",
    "equal": "equal to|equals|exactly|equal|=|is exactly",
    "not": "not|never|nor|non|except|excluding|other than|except for|apart from|but not|anything but|exclude|leaving out|leave out|ignoring",
    "with": "with|having|that have|who have|which have|that has|who has|has|have|had|holding|including|that had|who had|where there are",
    "without": "without|with no|that have no|who have no|lacking|have no|has no|missing|with neither",
    "or": "or", "and": "and|as well as|plus|along with|together with|both|but", "versus": "versus|vs|compared with|compared to|against",
    "trend": "falling|rising|growing|improving|worsening|going up|going down|decreasing over time|increasing over time|getting worse"
             "|getting better|trend|trend of|trends|develop|developed|change|changed|changing|evolve|evolved|evolution of|over time|dropping"
             "|declining|go up|go down|dropped|risen|fallen|development of|climbing|shrinking|went up|went down",
    "be": "is|are|was|were|be|been|being|am",
    "of": "of|among|amongst|out of|for|from among|on|at|within|belonging to|owned by|held by|taken by|about",
    "in": "in|during|throughout|within the year|in the year|for the year|of the year|in the year of|during the year|through|in year|year",
    "from": "from", "to": "to|until|till|up until", "since": "since|starting in|from the year|as of",
    "before": "before|prior to|earlier than|up to the year", "after": "after|later than|following",
    "than": "than",
    "grain": "year|month|quarter|week|day|yearly|monthly|quarterly|weekly|daily|annually|annual|calendar year|weekday|day of the week"
             "|month by month|year by year|day by day|week by week|quarter by quarter|years|months|quarters|weeks|days|year over year"
             "|month over month",
    "only": "only|just|but only|limited to|restricted to|and only",
    "polite": "i would like to know|i would like to see|i would like|i want to know|i want to see|i need to know|could you|would you|can you"
              "|will you|please tell me|let me know|do you know|could you please tell me|could you please|can you please|can you tell me"
              "|could you tell me|i wonder|i am interested in|i need|we need|we would like to know|i am looking for|do you have|could i see"
              "|can i see|can we see|i am wondering|would you mind|help me find|i have a question|quick question|tell me about|we want to know"
              "|could we see|please show|just tell me|just show me|please give me|i was wondering",
    "percent": "in percent|in %|as a percentage|as percentage|in percentages|as percent|in per cent|as a percent|as a share|in pct",
    "rank": "rank|ranked|ranking|rank the|sort|sorted|order|ordered|sort by|ordered by|sorted by|ranked by|order by|in order of|rank by"
            "|sorted on|ordered on|in the order of|with the",
    "all": "all|any|entire|whole|every single|complete",
    "next": "next", "last": "previous|past|this",
}

_STOP = (
    "a an the our my your their its his her we us i you it they them me there here that this these those do does did please kindly could"
    " can would should thanks thank hi hello hey so then also now actually really just exactly currently ok okay well tell know like want"
    " need wish let overall basis data database dataset source system table records rows figure figures value values information info"
    " existing exist exists altogether as too if am quickly short question wonder wondering curious look looking curiosity interested"
    " answer query question hand quick briefly simply maybe perhaps one ones us ours we've us compute calculate determine work out"
    " regarding concerning terms respectively each other when how what's whats it's many much some got get say us tell break broken"
    " down up out own us same s et cetera etc ever so far yet today right moment present hold held holds holding keep kept stored store"
    " recorded record on file available"
)
STOP_WORDS = frozenset(_STOP.split())  # noqa: SIM905 - a prose list reads better than five hundred quotes

NEVER_STOP = frozenset({"not", "no", "without", "except", "never", "than", "more", "less", "each", "last", "next", "every"})


def _phrases() -> dict[tuple[str, ...], CueKind]:
    table: dict[tuple[str, ...], CueKind] = {}
    for kind, text in _TEXT.items():
        for entry in text.split("|"):
            table[tuple(entry.split())] = kind
    return table


CUES = _phrases()
"""Every cue by its words."""
LONGEST_CUE = max(len(words) for words in CUES)
CUE_WORDS = frozenset(w for words in CUES for w in words if w.isalpha() and len(w) > 4 and CUES[words] != "polite")
"""Words of cues that a misspelling may mean."""

GRAINS = {
    "year": "year", "yearly": "year", "annually": "year", "annual": "year", "years": "year", "month": "month", "monthly": "month",
    "months": "month", "quarter": "quarter", "quarterly": "quarter", "quarters": "quarter", "week": "week", "weekly": "week", "weeks": "week",
    "day": "day", "daily": "day", "days": "day", "weekday": "weekday",
}
