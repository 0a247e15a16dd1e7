"""Certificates of existence as JSON, and back: strictly, but without believing anything."""

from typing import Any

from novikoff.prove.exact.document import CertificateError, ProofFields, integers, read_proof, written
from novikoff.prove.existence.certificate import Existence
from novikoff.prove.existence.families import check_different, names_of
from novikoff.prove.existence.likelihood import COLUMNS, NUMBERS, TIES
from novikoff.prove.existence.witnesses import SIGNS, Combination, Estimate, SignProof, Witnesses

KIND = "existence"
LABELS = (str, bool, int, float)


def to_json(found: Existence) -> str:
    """A certificate as JSON."""
    return written(KIND, **to_dict(found))


def to_dict(found: Existence) -> dict[str, Any]:
    """The parts of a certificate in what JSON knows; what has no value is left out."""
    claims: dict[str, Any] = {"estimate": found.estimate.value}
    if found.separated is not None and found.diverging is not None:
        places = {name: place for place, name in enumerate(found.coefficients)}
        claims["separated_rows"] = list(found.separated)
        claims["diverging"] = [[places[name], sign] for name, sign in found.diverging.items()]
    data = {name: value for name, value in found.about.items() if value is not None}
    return {"data": {**data, "sha256": found.sha256}, "claims": claims, "witnesses": _witnesses(found.witnesses)}


def _witnesses(w: Witnesses) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "directions": [integers(direction) for direction in w.directions] or None,
        "obstruction": None if w.obstruction is None else _combination(w.obstruction),
        "signs": [
            {"coefficient": proof.coefficient, **_combination(proof), "scale": integers([proof.scale])[0]}
            for proof in w.signs
        ]
        or None,
        "start": None if w.start is None else integers(w.start),
        "no_start": None if w.no_start is None else _combination(w.no_start),
    }
    return {name: part for name, part in parts.items() if part is not None}


def _combination(part: Combination | SignProof) -> dict[str, Any]:
    return {"rows": list(part.rows), "weights": integers(part.weights)}


# -- reading ----------------------------------------------------------------------------------------------------------


def from_json(text: str | bytes) -> Existence:
    """The certificate in a text; raises `CertificateError` for anything else. It is not yet checked."""
    return read(read_proof(text, KIND))


def read(fields: ProofFields) -> Existence:
    """The certificate in these fields, of which nothing else may be left."""
    data, claims, witnesses = (fields.part(name) for name in ("data", "claims", "witnesses"))
    fields.close()
    about, sha256 = _read_about(data)
    names = names_of(about["family"], tuple(about["columns"]), about["classes"])
    try:
        check_different(names)
    except ValueError as error:
        raise CertificateError(f"this is no certificate: {error}") from None
    estimate = Estimate(claims.choice("estimate", tuple(value.value for value in Estimate)))
    rows = diverging = None
    if "separated_rows" in claims or "diverging" in claims:
        rows = claims.rows("separated_rows")
        pairs = claims.each("diverging", lambda value, name: _read_pair(claims, value, name, len(names)))
        diverging = {names[place]: sign for place, sign in pairs}
        if [place for place, _ in pairs] != sorted({place for place, _ in pairs}):
            claims.fail("has coefficients in diverging that do not ascend")
    claims.close()
    return Existence(estimate, names, diverging, rows, about, sha256, _read_witnesses(witnesses))


def _read_about(data: ProofFields) -> tuple[dict[str, Any], str]:
    family = data.choice("family", tuple(NUMBERS))
    about: dict[str, Any] = {
        "family": family,
        "rows": data.whole("rows", most=10**9),
        "columns": list(data.each("columns", data.as_text)),
        "classes": list(data.each("classes", lambda v, n: _read_label(data, v, n))) if "classes" in data else None,
        "ties": data.choice("ties", TIES) if "ties" in data else None,
        "effects": [list(effect) for effect in data.each("effects", lambda v, n: _read_effect(data, v, n))],
        "numbers": list(data.each("numbers", data.as_text)),
        "formula": _read_formula(data.part("formula")) if "formula" in data else None,
    }
    if family in ("multinomial", "ordinal") and not about["classes"]:
        data.fail("has no classes")
    sha256 = data.text("sha256", longest=64)
    data.close()
    return about, sha256


def _read_formula(formula: ProofFields) -> dict[str, Any]:
    text, part = formula.text("text"), formula.part("options")
    formula.close()
    options: dict[str, Any] = {name: part.text(name) for name in COLUMNS if part.present(name)}
    options |= {"ties": part.choice("ties", TIES)} if part.present("ties") else {}
    options |= {"reference": _read_label(part, part.value("reference"), "reference")} if "reference" in part else {}
    options |= {"fit_intercept": part.flag("fit_intercept")} if part.present("fit_intercept") else {}
    options |= {"fixed_effects": list(part.texts("fixed_effects"))} if part.present("fixed_effects") else {}
    part.close()
    # In the order of the file: the fingerprint does not depend on it, but what is compared does.
    return {"text": text, "options": {name: options[name] for name in part.content}}


def _read_effect(data: ProofFields, value: Any, name: str) -> tuple[str, int, int]:
    if type(value) is not list or len(value) != 3:
        data.fail(f"has {name} = {value!r:.60}, which is no name with two numbers")
    return data.as_text(value[0], name), data.as_whole(value[1], name), data.as_whole(value[2], name)


def _read_label(data: ProofFields, value: Any, name: str) -> Any:
    if type(value) not in LABELS:
        data.fail(f"has {name} = {value!r:.60}, which is no label")
    return value


def _read_pair(claims: ProofFields, value: Any, name: str, size: int) -> tuple[int, str]:
    if type(value) is not list or len(value) != 2 or value[1] not in SIGNS:
        claims.fail(f"has {name} = {value!r:.60}, which is no coefficient with what becomes of it")
    return claims.as_whole(value[0], name, most=size - 1), value[1]


def _read_witnesses(fields: ProofFields) -> Witnesses:
    directions: tuple[tuple[int, ...], ...] = ()
    signs: tuple[SignProof, ...] = ()
    if "directions" in fields:
        directions = fields.each("directions", lambda value, name: _read_vector(fields, value, name))
        if not directions:
            fields.fail("has an empty list of directions")
    if "signs" in fields:
        signs = tuple(_read_sign(part) for part in fields.parts("signs"))
        if not signs:
            fields.fail("has an empty list of signs")
    found = Witnesses(
        directions,
        _read_combination(fields.part("obstruction")) if "obstruction" in fields else None,
        signs,
        _read_vector(fields, fields.value("start"), "start") if "start" in fields else None,
        _read_combination(fields.part("no_start")) if "no_start" in fields else None,
    )
    fields.close()
    return found


def _read_vector(fields: ProofFields, value: Any, name: str) -> tuple[int, ...]:
    if type(value) is not list:
        fields.fail(f"has {name} = {value!r:.60}, which is no list")
    return tuple(fields.as_integer(number, name) for number in value)


def _read_combination(fields: ProofFields) -> Combination:
    found = Combination(fields.rows("rows"), fields.each("weights", fields.as_integer))
    fields.close()
    return found


def _read_sign(fields: ProofFields) -> SignProof:
    weights = fields.each("weights", fields.positive)
    found = SignProof(fields.whole("coefficient"), fields.rows("rows"), weights, fields.integer("scale", least=1))
    fields.close()
    return found
