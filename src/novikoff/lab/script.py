"""A scene to take away: as a table, and as a Python script that learns it again with this library."""

from novikoff.lab.state import State, StateError
from novikoff.options import Readout

Lines = list[str]


def as_csv(state: State) -> str:
    """The points as a table with the columns x, y and label.

    >>> from novikoff.lab.state import parse_state
    >>> print(as_csv(parse_state({"points": [[1, 0.5, 1], [-1, 2, -1]]})), end="")
    x,y,label
    1.0,0.5,1
    -1.0,2.0,-1
    """
    return "".join(f"{line}\n" for line in ("x,y,label", *(f"{x!r},{y!r},{label}" for x, y, label in state.points)))


def as_script(state: State) -> str:
    """A script that makes the same mistakes, asks for the same certificate, and follows the proof."""
    if not state.has_two_classes:
        raise StateError("points", "a script needs points of both classes; put at least one red and one blue point")
    parts = (_head(state), _points(state), _space(state), _learning(state), _report(state))
    return "\n".join("\n".join(part) + "\n" for part in parts)


def _head(state: State) -> Lines:
    learner = "KernelPerceptron" if state.is_kernel else "Perceptron"
    names = sorted([learner, "Steps", "certify", "follow_proof"])
    lines = [
        f'"""A scene of the novikoff lab: {len(state.points)} points, {_WHAT[state.space]}."""',
        "",
        "import numpy as np",
        f"from novikoff import {', '.join(names)}",
    ]
    used = [name for name, is_used in _folds(state).items() if is_used]
    return [*lines, f"from novikoff.features.fold import {', '.join(used)}"] if used else lines


def _folds(state: State) -> dict[str, bool]:
    """The simplifications of the fourth note that the state makes, in the order of their names."""
    scaled = state.is_scaled
    return {"fold_bias": scaled and state.fit_intercept, "fold_labels": state.is_folded, "unit_length": scaled}


def _points(state: State) -> Lines:
    rows = ["    " + ", ".join(f"[{x!r}, {y!r}]" for x, y, _ in state.points[i : i + 6]) + "," for i in _starts(state)]
    signs = ["    " + ", ".join(str(point[2]) for point in state.points[i : i + 24]) + "," for i in _starts(state, 24)]
    return ["points = np.array([", *rows, "])", "labels = np.array([  # +1 is red, -1 is blue", *signs, "])"]


def _starts(state: State, step: int = 6) -> range:
    return range(0, len(state.points), step)


def _space(state: State) -> Lines:
    lines = ["X = points"]
    if state.space == "circle":
        lines = ["# Lifted to a paraboloid: a plane above is a circle below.",
                 "X = np.column_stack([points, (points**2).sum(axis=1)])"]  # fmt: skip
    if state.is_scaled:
        lines += ["X = unit_length(fold_bias(X))" if state.fit_intercept else "X = unit_length(X)"]
    if state.is_folded:
        lines += ["# Folded: every (x, -1) becomes (-x, +1).",
                  "examples, answers = fold_labels(X, labels), np.ones(len(X), dtype=int)"]  # fmt: skip
    return lines


def _learning(state: State) -> Lines:
    model = _model(state)
    shown, answers = ("examples", "answers") if state.is_folded else ("X", "labels")
    if not state.shuffle and not state.is_folded:
        return [
            f"model = {model.format(more=f', shuffle=False, max_iter={state.epochs}')}",
            "model.fit(X, labels)",
            "mistakes = model.mistake_rows_",
        ]
    return [
        f"model = {model.format(more='')}",
        f"generator = np.random.default_rng({state.seed})",
        "visits = []",
        f"for epoch in range({state.epochs}):",
        f"    order = {'generator.permutation(len(X))' if state.shuffle else 'np.arange(len(X))'}",
        "    visits.extend(order)",
        f"    before = {_made(state)} if epoch else 0",
        f"    model.partial_fit({shown}[order], {answers}[order], classes=[-1, 1])",
        f"    if {_made(state)} == before:",
        "        break",
        "mistakes = np.array(visits)[model.mistake_rows_]",
    ]


def _made(state: State) -> str:
    return "model.n_mistakes_ + model.n_narrow_" if state.lead else "model.n_mistakes_"


def _model(state: State) -> str:
    lead = f"lead={state.lead:g}, "
    rules = f'readout="{_readout(state)}", tie="{state.tie}", {lead}record_mistakes=True{{more}}'
    if not state.is_kernel:
        return f"Perceptron(fit_intercept={state.adds_one}, {rules})"
    if state.space == "rbf":
        return f'KernelPerceptron(kernel="rbf", gamma={state.gamma!r}, {rules})'
    poly = f'kernel="poly", degree={state.degree}, gamma=1.0, coef0={float(state.fit_intercept)}'
    return f"KernelPerceptron({poly}, {rules})"


def _readout(state: State) -> Readout:
    return "vote" if state.readout == "all" else state.readout


def _report(state: State) -> Lines:
    lines = ["print(model.run_)", 'print("mistakes:", len(mistakes), mistakes.tolist())']
    if not state.is_kernel:
        lines += ["ones = np.full((len(mistakes), 1), float(model.fit_intercept))",
                  "w = (labels[mistakes, None] * np.hstack([X[mistakes], ones])).sum(axis=0)",
                  'print("the sum of the mistakes:", w.tolist())']  # fmt: skip
    lines += ["", *_certificate(state), "print(certificate)", f'print("bound:", {_bound(state)})']
    lead = ", lead=model.lead" if state.lead else ""
    space, separator = f"rows(X, labels, mistakes, fit_intercept=model.fit_intercept{lead})", "certificate.separator"
    if state.is_kernel:
        lines += [f"K = {_kernel_matrix(state)}"]
        space, separator = f"kernel(K, labels, mistakes{lead})", "certificate.coefficients"
    lines += [f"if {separator} is not None:", f"    print(follow_proof(Steps.of_{space}, {separator}))"]
    return lines


def _bound(state: State) -> str:
    return "certificate.update_bound(model.lead)" if state.lead else "certificate.mistake_bound"


def _kernel_matrix(state: State) -> str:
    if state.space == "rbf":
        return f"np.exp(-{state.gamma!r} * ((X[:, None] - X) ** 2).sum(axis=2))"
    return f"(X @ X.T + {float(state.fit_intercept)}) ** {state.degree}"


def _certificate(state: State) -> Lines:
    if not state.is_kernel:
        return ["certificate = certify(X, labels, fit_intercept=model.fit_intercept)"]
    kernel = f'kernel="rbf", gamma={state.gamma!r}'
    if state.space == "poly":
        kernel = f'kernel="poly", degree={state.degree}, gamma=1.0, coef0={float(state.fit_intercept)}'
    return [f"certificate = certify(X, labels, {kernel}, fit_intercept=False)"]


_WHAT = {
    "line": "to be separated by a line",
    "circle": "to be separated by a circle",
    "poly": "to be separated with a polynomial kernel",
    "rbf": "to be separated with a Gaussian kernel",
}
