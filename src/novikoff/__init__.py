"""The perceptron, complete, and every run carries its proof.

Named after the theorem (Block 1962, Novikoff 1962): a perceptron that sees points of length at most R, separable with
margin gamma, makes at most (R/gamma)^2 mistakes.

Importing the package is cheap: a name is loaded when it is first used, with what it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.data.conll import read_conll, write_conll
    from novikoff.data.conllu import read_conllu, write_conllu
    from novikoff.data.sentences import Sentences
    from novikoff.estimators.kernel_perceptron import KernelPerceptron
    from novikoff.estimators.lifts import Paraboloid
    from novikoff.estimators.perceptron import Perceptron
    from novikoff.estimators.sequence_perceptron import SequencePerceptron
    from novikoff.keep.models import load, save
    from novikoff.learn.chunk_scores import ChunkScores, score_chunks
    from novikoff.learn.history import Run, Stopped
    from novikoff.learn.online import OnlinePerceptron, predict_reveal_learn
    from novikoff.learn.structure.perceptron import StructuredPerceptron
    from novikoff.prove.exact.document import CertificateError
    from novikoff.prove.expressivity.ball import Ball, NoBall
    from novikoff.prove.expressivity.search.separating_ball import separating_ball
    from novikoff.prove.expressivity.shattering import (
        cover_count,
        dichotomies,
        growth,
        is_shattered,
        sauer_bound,
        shattered_example,
        vc_dimension,
    )
    from novikoff.prove.inequalities.check import Combination, Inequalities, InequalitiesError, Outcome
    from novikoff.prove.inequalities.search.solve import solve_inequalities
    from novikoff.prove.programs.check import ProgramCertificate
    from novikoff.prove.programs.search.linprog import linprog
    from novikoff.prove.programs.search.reductions import (
        LinearProgram,
        Separation,
        program_as_separation,
        separation_as_program,
    )
    from novikoff.prove.run.bounds import mistake_bound
    from novikoff.prove.run.follow import FollowedProof, follow_proof
    from novikoff.prove.run.inseparable import FreundSchapireBound
    from novikoff.prove.run.search.freund_schapire import freund_schapire_bound
    from novikoff.prove.run.steps import Steps
    from novikoff.prove.separable.certificate import Bracket, Certificate
    from novikoff.prove.separable.margin import Separator, margins, multiclass_margins, radius
    from novikoff.prove.separable.question import Verdict
    from novikoff.prove.separable.search.certify import certify
    from novikoff.show.boundary import BoundaryDisplay
    from novikoff.show.confusion import ConfusionDisplay
    from novikoff.show.folding import FoldingDisplay
    from novikoff.show.heaviest import HeaviestDisplay
    from novikoff.show.margins import MarginsDisplay
    from novikoff.show.mistakes import MistakesDisplay
    from novikoff.show.paraboloid import ParaboloidDisplay
    from novikoff.show.proof import ProofDisplay
    from novikoff.show.weight_space import WeightSpaceDisplay

__version__ = "0.1.0"

_HOMES = {
    "KernelPerceptron": "estimators.kernel_perceptron",
    "Paraboloid": "estimators.lifts",
    "Perceptron": "estimators.perceptron",
    "SequencePerceptron": "estimators.sequence_perceptron",
    "ChunkScores": "learn.chunk_scores",
    "score_chunks": "learn.chunk_scores",
    "Sentences": "data.sentences",
    "read_conll": "data.conll",
    "read_conllu": "data.conllu",
    "write_conll": "data.conll",
    "write_conllu": "data.conllu",
    "StructuredPerceptron": "learn.structure.perceptron",
    "load": "keep.models",
    "save": "keep.models",
    "OnlinePerceptron": "learn.online",
    "predict_reveal_learn": "learn.online",
    "Run": "learn.history",
    "Stopped": "learn.history",
    "Separator": "prove.separable.margin",
    "margins": "prove.separable.margin",
    "multiclass_margins": "prove.separable.margin",
    "radius": "prove.separable.margin",
    "Ball": "prove.expressivity.ball",
    "NoBall": "prove.expressivity.ball",
    "separating_ball": "prove.expressivity.search.separating_ball",
    "mistake_bound": "prove.run.bounds",
    "Bracket": "prove.separable.certificate",
    "Certificate": "prove.separable.certificate",
    "CertificateError": "prove.exact.document",
    "Verdict": "prove.separable.question",
    "certify": "prove.separable.search.certify",
    "Inequalities": "prove.inequalities.check",
    "InequalitiesError": "prove.inequalities.check",
    "Outcome": "prove.inequalities.check",
    "solve_inequalities": "prove.inequalities.search.solve",
    "FreundSchapireBound": "prove.run.inseparable",
    "freund_schapire_bound": "prove.run.search.freund_schapire",
    "linprog": "prove.programs.search.linprog",
    "ProgramCertificate": "prove.programs.check",
    "LinearProgram": "prove.programs.search.reductions",
    "Separation": "prove.programs.search.reductions",
    "program_as_separation": "prove.programs.search.reductions",
    "separation_as_program": "prove.programs.search.reductions",
    "Combination": "prove.inequalities.check",
    "cover_count": "prove.expressivity.shattering",
    "dichotomies": "prove.expressivity.shattering",
    "growth": "prove.expressivity.shattering",
    "is_shattered": "prove.expressivity.shattering",
    "sauer_bound": "prove.expressivity.shattering",
    "shattered_example": "prove.expressivity.shattering",
    "vc_dimension": "prove.expressivity.shattering",
    "BoundaryDisplay": "show.boundary",
    "ConfusionDisplay": "show.confusion",
    "FoldingDisplay": "show.folding",
    "HeaviestDisplay": "show.heaviest",
    "MarginsDisplay": "show.margins",
    "MistakesDisplay": "show.mistakes",
    "ParaboloidDisplay": "show.paraboloid",
    "ProofDisplay": "show.proof",
    "WeightSpaceDisplay": "show.weight_space",
    "FollowedProof": "prove.run.follow",
    "follow_proof": "prove.run.follow",
    "Steps": "prove.run.steps",
}

__all__ = [
    "Ball",
    "BoundaryDisplay",
    "Bracket",
    "Certificate",
    "CertificateError",
    "ChunkScores",
    "Combination",
    "ConfusionDisplay",
    "FoldingDisplay",
    "FollowedProof",
    "FreundSchapireBound",
    "HeaviestDisplay",
    "Inequalities",
    "InequalitiesError",
    "KernelPerceptron",
    "LinearProgram",
    "MarginsDisplay",
    "MistakesDisplay",
    "NoBall",
    "OnlinePerceptron",
    "Outcome",
    "Paraboloid",
    "ParaboloidDisplay",
    "Perceptron",
    "ProgramCertificate",
    "ProofDisplay",
    "Run",
    "Sentences",
    "Separation",
    "Separator",
    "SequencePerceptron",
    "Steps",
    "Stopped",
    "StructuredPerceptron",
    "Verdict",
    "WeightSpaceDisplay",
    "certify",
    "cover_count",
    "dichotomies",
    "follow_proof",
    "freund_schapire_bound",
    "growth",
    "is_shattered",
    "linprog",
    "load",
    "margins",
    "mistake_bound",
    "multiclass_margins",
    "predict_reveal_learn",
    "program_as_separation",
    "radius",
    "read_conll",
    "read_conllu",
    "sauer_bound",
    "save",
    "score_chunks",
    "separating_ball",
    "separation_as_program",
    "shattered_example",
    "solve_inequalities",
    "vc_dimension",
    "write_conll",
    "write_conllu",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
