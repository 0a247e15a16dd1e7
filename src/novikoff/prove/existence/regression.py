"""The regression of the labels of examples on their columns, in the usual design: binomial for two classes, multinomial
for more.

Examples from a table are encoded, centred and scaled, with a feature for every category. Claims about estimates are not
about these features but about the table itself, with a formula that names the columns used, so that the answer is that
of `existence(formula, table)`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from novikoff.data.batches import Records
from novikoff.data.examples import Examples
from novikoff.features.examples import comes_once
from novikoff.prove.existence.formulas import factor, quoted
from novikoff.prove.existence.inputs import likelihood_of
from novikoff.prove.existence.likelihood import Likelihood
from novikoff.prove.separable.kernels import ExactKernel
from novikoff.prove.separable.subject import Subject, Table

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding


def regression(X: Any, y: Any, subject: Subject) -> Likelihood:
    """Return the likelihood of the data of a certificate, as given to it; raise ValueError if there is none."""
    why = why_none(subject.classes, subject.fit_intercept, subject.table, subject.kernel)
    if why is None and y is None and subject.table is None and comes_once(X):
        why = _ONCE
    if why is not None:
        raise ValueError(f"infinite estimates cannot be computed: {why}")
    family = "binomial" if len(subject.classes) == 2 else "multinomial"
    if y is None and subject.table is not None:
        formula, table = formula_of(subject.table), _frame(X, subject.table)
        found = likelihood_of(formula, table, is_from_file=True, family=family)
    else:
        found = likelihood_of(X, y, family=family, fit_intercept=subject.fit_intercept)
    if found.omitted:
        raise ValueError(f"infinite estimates cannot be computed: row {found.omitted[0]} has a missing value")
    return found


_ONCE = "these data can be passed over only once; give them in arrays, or in a file"


def why_none(
    classes: Sequence[Any], fit_intercept: bool, table: Table | None = None, kernel: ExactKernel | None = None
) -> str | None:
    """Return the reason why there is no such regression; None if there is one."""
    if kernel is not None:
        return "a kernel has no columns, and so no coefficients"
    if len(classes) == 2 and all(type(c) is float and 0 <= c <= 1 for c in classes) and set(classes) != {0.0, 1.0}:
        return f"the labels {classes[0]} and {classes[1]} are proportions to a binomial regression; name the classes"
    return None if table is None else _why_none_of_table(table.encoding, fit_intercept, table.label)


def _why_none_of_table(encoding: "Encoding", fit_intercept: bool, label: str | None) -> str | None:
    if encoding.lift is not None:
        return "a lift adds features that no formula names"
    if not encoding.is_of_table or label is None:
        return "the examples are numbers that were scaled"
    if not fit_intercept:
        return "columns of a table are centred, which without an intercept is another model; write a formula"
    for name, kind in encoding.columns.items():
        if kind.no_formula is not None:
            return f"the column {name!r} has {kind.no_formula}; leave it out, or write a formula"
        if kind.has_missing:
            return f"the column {name!r} has missing values; fill them in, or leave out the column or the rows"
        if "`" in name:
            return f"the name {name!r} has a backtick, which no formula can have; rename the column"
    return None


def formula_of(table: Table) -> str:
    """Return the formula of the label and the columns used; numeric columns that are coded are marked as factors."""
    terms = [
        factor(name) if kind.is_coded else quoted(name) for name, kind in table.encoding.columns.items() if kind.is_used
    ]
    return f"{quoted(table.label or '')} ~ {' + '.join(terms)}"


def _frame(source: Any, table: Table) -> Any:
    """Return the records of a table, with their labels, as a data frame."""
    import pyarrow as pa

    if isinstance(source, Examples) or comes_once(source):
        raise ValueError(f"infinite estimates cannot be computed: {_ONCE}")
    used = [name for name, kind in table.encoding.columns.items() if kind.is_used]
    parts = []
    for records in source:
        if not isinstance(records, Records) or records.labels is None:
            raise ValueError("infinite estimates cannot be computed: these are not the records of a labelled table")
        columns = pa.Table.from_batches([records.columns]).select(used)
        parts.append(columns.append_column(table.label, pa.array(records.labels)))
    return pa.concat_tables(parts, promote_options="default").to_pandas()
