"""The letters of the page, each with its name and one sentence."""

from novikoff.show.style import ALPHA, GAMMA, MINUS

SYMBOLS = {
    "w": ("w", "the weights", f"The sum of the mistakes so far. The sign of ⟨w, x⟩ predicts: + red, {MINUS} blue."),
    "x": ("x", "an example", "A point, with a 1 appended if there is a bias: then the bias is one more weight."),
    "u": ("u", "a separator", "Of length 1; here the widest there is. The learner never sees it: only the proof does."),
    "gamma": (GAMMA, "the margin", "How far on its right side of u every example is, at least."),
    "R": ("R", "the radius", "The length of the longest example."),
    "k": ("k", "the mistakes", "How many there have been so far. Only they change the weights."),
    "alpha": (ALPHA, "a distance", f"How far w is from (R²/{GAMMA})·u, squared. A mistake takes at least R² off it."),
}  # fmt: skip


# What stands before and after the number of the rule, and what is said of an example that is right by too little.
LEAD_WORDS = {
    "before": "learn unless right by more than",
    "after": "R²",
    "narrow": "Right, but not by the lead: update",
}


def symbols_as_json() -> dict[str, dict[str, str]]:
    return {name: dict(zip(("symbol", "called", "words"), parts, strict=True)) for name, parts in SYMBOLS.items()}
