"""What all proofs share: three records, whose fields define the file, and claims that are derived again by `check`."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, get_type_hints

from novikoff.prove.exact.codec import read_value, written_part
from novikoff.prove.exact.document import CertificateError, ProofFields, canonical, read_proof, written


def field_of(part: str, name: str) -> Any:
    """A property of a proof: a field of one of its records."""
    return property(lambda proof: getattr(getattr(proof, part), name))


PARTS = {"data": "about", "claims": "claims", "witnesses": "witnesses"}


@dataclass(frozen=True, eq=False)
class Proof:
    """The data that a proof is about, `claims`, and the `witnesses` from which these follow.

    A kind of proof is three records and a function from witnesses to claims, which makes a proof, and tests one.
    """

    about: Any
    claims: Any
    witnesses: Any

    KIND: ClassVar[str]
    # Whether all parts are known to have their types: what was read, or just proved.
    _is_well_formed = False

    def to_dict(self) -> dict[str, Any]:
        """The parts as values of JSON."""
        return {name: written_part(getattr(self, field)) for name, field in PARTS.items()}

    def to_json(self) -> str:
        """The claims with their proof; see `docs/certificates.md`."""
        return written(self.KIND, **self.to_dict())

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote; raises `CertificateError` for anything else. It is not yet checked."""
        return cls.read(read_proof(text, cls.KIND))

    @classmethod
    def read(cls, fields: ProofFields) -> Self:
        """Read these fields; raises `CertificateError` if there are others."""
        kinds = get_type_hints(cls)
        parts = {field: read_value(fields, fields.value(name), name, kinds[field]) for name, field in PARTS.items()}
        fields.close()
        return cls(**parts).marked_well_formed()

    def marked_well_formed(self) -> Self:
        object.__setattr__(self, "_is_well_formed", True)
        return self

    def well_formed(self) -> Self:
        """The proof as read from its own file, since objects made in Python are not trusted, either."""
        if self._is_well_formed:
            return self
        try:
            again = self.from_json(self.to_json())
        except CertificateError:
            raise
        except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
            raise CertificateError(f"the certificate is malformed: {error}") from None
        if again.claims != self.claims:
            raise CertificateError("the certificate is malformed: its claims are not of the types that it writes")
        return again

    def check_claims(self, about: Any, conclude: Callable[[Any], Any]) -> None:
        """Raise `CertificateError` if this is about other data, or if other claims follow from the witnesses."""
        claimed = self.well_formed()
        own, given = written_part(claimed.about), written_part(about)
        wrong = [name for name in {**own, **given} if not same(own.get(name), given.get(name))]
        if wrong:
            name = wrong[-2:][0]  # the fingerprint is last, and says least
            ours, theirs = _short(own.get(name)), _short(given.get(name))
            raise CertificateError(
                f"the certificate is about other data: its {name} is {ours}, and that of these is {theirs}"
            )
        for where in difference(written_part(claimed.claims), written_part(conclude(claimed.witnesses))):
            raise CertificateError(f"the claim {where}")


# -- comparison of JSON values ----------------------------------------------------------------------------------------


def same(one: Any, other: Any) -> bool:
    """Whether two values have the same JSON: 1, 1.0 and True are three values."""
    return canonical(one) == canonical(other)


def difference(claimed: Any, derived: Any, path: str = "") -> Iterator[str]:
    """The differences of two JSON values, in order."""
    if isinstance(claimed, dict) and isinstance(derived, dict):
        for key in [*derived, *(key for key in claimed if key not in derived)]:
            below = f"{path}.{key}" if path else key
            if key not in derived:
                yield f"{below} is claimed, but nothing proves it"
            elif key not in claimed:
                yield f"{below} is missing"
            else:
                yield from difference(claimed[key], derived[key], below)
    elif not same(claimed, derived):
        yield f"{path} is {_short(claimed)}, but the data prove {_short(derived)}"


def _short(value: Any) -> str:
    text = canonical(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# -- combinations of rows ---------------------------------------------------------------------------------------------


def check_rows(rows: Sequence[int], weights: Sequence[Any], n_rows: int) -> None:
    """Raise `CertificateError` unless these are rows, ascending, each with a weight other than 0."""
    if len(rows) != len(weights) or not all(weights):
        raise CertificateError("a combination of rows needs as many weights as rows, none of them 0")
    if any(a >= b for a, b in itertools.pairwise(rows)) or (rows and not 0 <= rows[0] <= rows[-1] < n_rows):
        raise CertificateError(f"the rows of a combination must ascend, from 0 to {n_rows - 1}")
