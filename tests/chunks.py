"""Chunks the slow way, and labels to try them on."""

from hypothesis import strategies as st

LETTERS = {"IOB1": "BI", "IOB2": "BI", "IOBES": "BIES", "BILOU": "BILU"}


def labels_of(scheme):
    return st.sampled_from(["O", *(f"{letter}-{kind}" for letter in LETTERS[scheme] for kind in ("X", "Y"))])


def letter_and_type(label):
    letter, _, kind = label.replace("L-", "E-").replace("U-", "S-").partition("-")
    return letter, kind


def starts_here(before, here):
    """Whether a chunk starts between two tokens, pair of letters by pair of letters."""
    (letter_before, type_before), (letter, kind) = before, here
    if letter == "O":
        return False
    pairs = {"BB", "IB", "OB", "EB", "SB", "OI", "EI", "SI", "OE", "EE", "SE", "BS", "IS", "OS", "ES", "SS"}
    return letter_before + letter in pairs or type_before != kind


def ends_here(before, here):
    """Whether a chunk ends between two tokens."""
    (letter_before, type_before), (letter, kind) = before, here
    if letter_before == "O":
        return False
    pairs = {"BB", "BO", "BS", "IB", "IO", "IS", "EB", "EI", "EE", "EO", "ES", "SB", "SI", "SE", "SO", "SS"}
    return letter_before + letter in pairs or type_before != kind


def slow_chunks(labels):
    padded = [("O", ""), *map(letter_and_type, labels), ("O", "")]
    found = []
    for start in range(len(labels)):
        if starts_here(padded[start], padded[start + 1]):
            stop = next(n for n in range(start + 1, len(labels) + 1) if ends_here(padded[n], padded[n + 1]))
            found.append((padded[start + 1][1], start, stop))
    return found
