"""The words by which a prediction is asked for. Kept apart from the words of counting questions: "will" and "risk" mean nothing there.

``strong`` words ask for a prediction by themselves; ``weak`` ones ("could") only beside an outcome.
"""

from __future__ import annotations

STRONG, WEAK = "strong", "weak"

_TEXT = {
    STRONG: "predict|prediction|predictions|predicted|predicting|forecast|forecasts|forecasting|likely|likely to|most likely|most likely to"
            "|more likely to|likeliest|likeliest to|will|propensity|propensity to|probability|probability of|probabilities|probable|probably"
            "|risk|risk of|risks|at risk|at risk of|at highest risk|at highest risk of|at the highest risk of|at high risk of|risky|riskiest"
            "|riskier|high risk|highest risk|highest risk of|greatest risk|greatest risk of|biggest risk|most at risk|most at risk of"
            "|chance|chances|chance of|chances of|likelihood|likelihood of|odds|odds of|score|scores|scoring|prone to|in danger of|in danger"
            "|going to|about to|bound to|on the verge of|expected to|should worry us|worry us|worry about|be worried about|watch out for"
            "|vulnerable|endangered|pose the greatest risk|pose the highest risk|threaten to|threatening to|anticipate|model|train|train a model"
            "|flight risk|how likely|how probable|how risky|we worry about|be afraid for|worry us|heading for|headed for|should we worry about|threatened by|susceptible to|risk scores|risk score",
    WEAK: "could|might|may|would|expect|tend to|soon|danger|worry|worried|should",
    "why": "why|and why|tell me why|tell us why|say why|explain why|explain|explain them|with reasons|reasons|reason|the reasons|with explanation"
           "|with explanations|explanation|explanations|drivers|what drives|what drives it|what drives them|what drives that|justify|because of what"
           "|what makes them risky|and explain|give reasons|for what reasons|main drivers|why so|the main reasons|what is behind it|factors"
           "|main factors|what causes it|with their drivers|how come|what is driving it|what is driving that|what speaks for it",
    "plain": "top|first|list|show|show me|give|give me|rank|ranked|ranking|sort|sorted|order|by|with|of|for|and|or|which|who|what|whose|that"
             "|in|from|among|on|out of|the most|most|highest|largest|greatest|biggest|worst|are|is|be|been|being|was|were|have|has|had|to|as|per"
             "|each|all|every|any|their|descending|highest first|find|identify|name|tell me|see|spot|flag|detect|determine|display|only|just|those"
             "|currently|still|now|today|at present|not yet|right now|how|get|select|me|us|whom|where|when|not|so|far|case|cases|some|them|"
             "|by risk|people|person|at|up|end up|end|does|will be|ones|one|looking|look|could you|can you|would you|please|based on|whether|if"
             "|come|ordered|including|together|together with|along with|along|also|plus|pick|pick out|point out|single out|need|make"
             "|create|build|run|do|using|use|history|past|data|from most to least|most to least|least|order of|in order of|descending order"
             "|how many|how much",
}


def _phrases() -> dict[tuple[str, ...], str]:
    table: dict[tuple[str, ...], str] = {}
    for kind, text in _TEXT.items():
        for entry in text.split("|"):
            if entry:
                table[tuple(entry.split())] = kind
    table[("how", "many")] = "count_word"
    table[("how", "much")] = "count_word"
    return table


PREDICT_CUES = _phrases()
"""Every cue of a prediction question by its words."""
LONGEST_PREDICT_CUE = max(len(words) for words in PREDICT_CUES)
