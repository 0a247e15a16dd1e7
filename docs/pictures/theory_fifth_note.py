"""Draw theory_fifth_note.png: mistakes over a long stream, and the chain of inequalities of the proof.

python docs/pictures/theory_fifth_note.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import Perceptron, Steps, certify, follow_proof

RED, BLUE, GREY = "#c0392b", "#2166ac", "#555555"


def stream(n=20_000, dimension=5, gap=0.12, seed=0):
    """Points in a cube on two sides of a plane, none closer to it than the gap."""
    generator = np.random.default_rng(seed)
    normal = np.array([2.0, -1.0, 1.0, 0.5, -1.5])
    X = generator.uniform(-1, 1, (2 * n, dimension))
    score = X @ normal / np.linalg.norm(normal)
    far = abs(score) > gap
    return X[far][:n], np.where(score[far][:n] > 0, 1, -1)


def learned(X, y):
    learner = Perceptron(readout="last", fit_intercept=False, record_mistakes=True)
    return learner.partial_fit(X, y).mistake_rows_


def draw_stream(ax, X, y, bound):
    generator = np.random.default_rng(1)
    for _ in range(12):
        order = generator.permutation(len(X))
        rows = learned(X[order], y[order])
        seen, made = np.append(rows + 1, len(X)), np.append(np.arange(1, len(rows) + 1), len(rows))
        ax.step(seen, made, where="post", color=BLUE, alpha=0.5, linewidth=1)
    ax.axhline(bound, color=RED, label=f"the bound, {bound:,}")
    ax.plot([], [], color=BLUE, label="twelve orders")
    ax.set(xscale="log", yscale="log", xlabel="examples seen", title="Mistakes so far")
    ax.legend(frameon=False)


def draw_chain(ax, X, y, widest):
    proof = follow_proof(Steps.of_rows(X, y, learned(X, y), fit_intercept=False), widest)
    k = np.arange(proof.mistakes + 1)
    ax.plot(k, proof.length_ceiling, color=RED, label=r"$\sqrt{k}\,D$")
    ax.plot(k, proof.length, color=BLUE, label=r"$\|\theta\|$")
    ax.plot(k, proof.progress, color=BLUE, linestyle="--", label=r"$\theta\cdot u$")
    ax.plot(k, proof.progress_floor, color=GREY, label=r"$k\gamma$")
    ax.set(xlabel="mistakes k", title="The chain of the proof")
    ax.legend(frameon=False)


def main(folder=Path(__file__).parent):
    X, y = stream()
    certificate = certify(X, y, fit_intercept=False)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.9), layout="constrained")
    draw_stream(left, X, y, certificate.mistake_bound)
    draw_chain(right, X, y, certificate.separator)
    figure.savefig(folder / "theory_fifth_note.png", dpi=110)


if __name__ == "__main__":
    main()
