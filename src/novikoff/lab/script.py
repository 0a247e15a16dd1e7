"""A scene to download: as a table, and as a Python script that learns it again with this library."""

from pathlib import Path

from novikoff.lab.state import State, StateError

HOW = {
    "line": "by a line",
    "circle": "by a circle",
    "poly": "with a polynomial kernel",
    "rbf": "with a Gaussian kernel",
}


def as_csv(state: State) -> str:
    """Return the points as a table with the columns x, y and label.

    >>> from novikoff.lab.state import parse_state
    >>> print(as_csv(parse_state({"points": [[1, 0.5, 1], [-1, 2, -1]]})), end="")
    x,y,label
    1.0,0.5,1
    -1.0,2.0,-1
    """
    return "".join(f"{line}\n" for line in ("x,y,label", *(f"{x!r},{y!r},{label}" for x, y, label in state.points)))


def as_script(state: State) -> str:
    """Return a script that makes the same mistakes, requests the same certificate, and follows the proof."""
    from jinja2 import Environment, StrictUndefined

    if not state.has_two_classes:
        raise StateError("points", "a script needs points of both classes; put at least one red and one blue point")
    bias = float(state.fit_intercept)
    space, gram = f"fit_intercept={state.adds_one}", ""
    if state.space == "rbf":
        space = f'kernel="rbf", gamma={state.gamma!r}'
        gram = f"np.exp(-{state.gamma!r} * ((X[:, None] - X) ** 2).sum(axis=2))"
    elif state.space == "poly":
        space = f'kernel="poly", degree={state.degree}, gamma=1.0, coef0={bias}'
        gram = f"(X @ X.T + {bias}) ** {state.degree}"
    folds = {"fold_bias": state.is_scaled and state.fit_intercept, "fold_labels": state.is_folded}
    folds["unit_length"] = state.is_scaled
    environment = Environment(
        trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    template = environment.from_string(Path(__file__).with_name("scene.py.jinja").read_text(encoding="utf-8"))
    return template.render(
        state=state,
        how=HOW[state.space],
        learner="KernelPerceptron" if state.is_kernel else "Perceptron",
        folds=[name for name, is_used in folds.items() if is_used],
        space=space,
        gram=gram,
    )
