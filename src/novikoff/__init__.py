"""A complete perceptron library, in which every run carries its proof.

Named after the theorem (Block 1962, Novikoff 1962): a perceptron that sees points of length at most R, separable with
margin gamma, makes at most (R/gamma)^2 mistakes.

Importing the package is cheap: a name is loaded when it is first used, with what it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.data.sentences import Sentences as Sentences
    from novikoff.data.sentences import read_conll as read_conll
    from novikoff.data.sentences import read_conllu as read_conllu
    from novikoff.data.sentences import write_conll as write_conll
    from novikoff.estimators.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from novikoff.estimators.lifts import Paraboloid as Paraboloid
    from novikoff.estimators.perceptron import Perceptron as Perceptron
    from novikoff.estimators.sequence_perceptron import SequencePerceptron as SequencePerceptron
    from novikoff.features.templates import default_templates as default_templates
    from novikoff.features.templates import read_templates as read_templates
    from novikoff.keep.models import load as load
    from novikoff.keep.models import save as save
    from novikoff.learn.linear.notes import batch_descent as batch_descent
    from novikoff.learn.linear.notes import perceptron_criterion as perceptron_criterion
    from novikoff.learn.linear.notes import stochastic_descent as stochastic_descent
    from novikoff.learn.measures import ChunkScores as ChunkScores
    from novikoff.learn.measures import score_chunks as score_chunks
    from novikoff.learn.new_rows import Generalisation as Generalisation
    from novikoff.learn.new_rows import Statement as Statement
    from novikoff.learn.online.perceptron import OnlinePerceptron as OnlinePerceptron
    from novikoff.learn.online.perceptron import predict_reveal_learn as predict_reveal_learn
    from novikoff.learn.review import Review as Review
    from novikoff.learn.run import Run as Run
    from novikoff.learn.run import Stopped as Stopped
    from novikoff.learn.structure.perceptron import StructuredPerceptron as StructuredPerceptron
    from novikoff.prove.exact.codec import Combination as Combination
    from novikoff.prove.exact.document import CertificateError as CertificateError
    from novikoff.prove.existence.certificate import Existence as Existence
    from novikoff.prove.existence.conclude import Estimate as Estimate
    from novikoff.prove.existence.search.existence import existence as existence
    from novikoff.prove.expressivity.ball import Ball as Ball
    from novikoff.prove.expressivity.ball import NoBall as NoBall
    from novikoff.prove.expressivity.search.separating_ball import separating_ball as separating_ball
    from novikoff.prove.expressivity.shattering import cover_count as cover_count
    from novikoff.prove.expressivity.shattering import dichotomies as dichotomies
    from novikoff.prove.expressivity.shattering import enough_examples as enough_examples
    from novikoff.prove.expressivity.shattering import growth as growth
    from novikoff.prove.expressivity.shattering import is_shattered as is_shattered
    from novikoff.prove.expressivity.shattering import sauer_bound as sauer_bound
    from novikoff.prove.expressivity.shattering import vc_dimension as vc_dimension
    from novikoff.prove.inequalities.check import Inequalities as Inequalities
    from novikoff.prove.inequalities.check import Outcome as Outcome
    from novikoff.prove.inequalities.search.solve import solve_inequalities as solve_inequalities
    from novikoff.prove.programs.check import ProgramCertificate as ProgramCertificate
    from novikoff.prove.programs.search.linprog import linprog as linprog
    from novikoff.prove.programs.search.reductions import Separation as Separation
    from novikoff.prove.programs.search.reductions import program_as_separation as program_as_separation
    from novikoff.prove.programs.search.reductions import separation_as_program as separation_as_program
    from novikoff.prove.run.bounds import FreundSchapireBound as FreundSchapireBound
    from novikoff.prove.run.bounds import Lifted as Lifted
    from novikoff.prove.run.bounds import lift_inseparable as lift_inseparable
    from novikoff.prove.run.bounds import mistake_bound as mistake_bound
    from novikoff.prove.run.follow import FollowedProof as FollowedProof
    from novikoff.prove.run.follow import follow_proof as follow_proof
    from novikoff.prove.run.search.freund_schapire import freund_schapire_bound as freund_schapire_bound
    from novikoff.prove.run.steps import Steps as Steps
    from novikoff.prove.separable.certificate import Bracket as Bracket
    from novikoff.prove.separable.certificate import Certificate as Certificate
    from novikoff.prove.separable.margin import Separator as Separator
    from novikoff.prove.separable.margin import margins as margins
    from novikoff.prove.separable.margin import multiclass_margins as multiclass_margins
    from novikoff.prove.separable.margin import radius as radius
    from novikoff.prove.separable.question import Verdict as Verdict
    from novikoff.prove.separable.search.certify import certify as certify
    from novikoff.show.boundary import BoundaryDisplay as BoundaryDisplay
    from novikoff.show.margins import MarginsDisplay as MarginsDisplay
    from novikoff.show.mistakes import MistakesDisplay as MistakesDisplay
    from novikoff.show.progress_line import ProgressLine as ProgressLine
    from novikoff.show.proof import ProofDisplay as ProofDisplay
    from novikoff.warming import warm_up as warm_up

__version__ = "0.2.0"

# The names of each module.
_NAMES = {
    "data.sentences": "Sentences read_conll read_conllu write_conll",
    "estimators.kernel_perceptron": "KernelPerceptron",
    "estimators.lifts": "Paraboloid",
    "estimators.perceptron": "Perceptron",
    "estimators.sequence_perceptron": "SequencePerceptron",
    "features.templates": "default_templates read_templates",
    "keep.models": "load save",
    "learn.measures": "ChunkScores score_chunks",
    "learn.linear.notes": "batch_descent perceptron_criterion stochastic_descent",
    "learn.new_rows": "Generalisation Statement",
    "learn.online.perceptron": "OnlinePerceptron predict_reveal_learn",
    "learn.review": "Review",
    "learn.run": "Run Stopped",
    "learn.structure.perceptron": "StructuredPerceptron",
    "prove.exact.codec": "Combination",
    "prove.exact.document": "CertificateError",
    "prove.existence.certificate": "Existence",
    "prove.existence.conclude": "Estimate",
    "prove.existence.search.existence": "existence",
    "prove.expressivity.ball": "Ball NoBall",
    "prove.expressivity.search.separating_ball": "separating_ball",
    "prove.expressivity.shattering": (
        "cover_count dichotomies enough_examples growth is_shattered sauer_bound vc_dimension"
    ),
    "prove.inequalities.check": "Inequalities Outcome",
    "prove.inequalities.search.solve": "solve_inequalities",
    "prove.programs.check": "ProgramCertificate",
    "prove.programs.search.linprog": "linprog",
    "prove.programs.search.reductions": "Separation program_as_separation separation_as_program",
    "prove.run.bounds": "FreundSchapireBound Lifted lift_inseparable mistake_bound",
    "prove.run.follow": "FollowedProof follow_proof",
    "prove.run.search.freund_schapire": "freund_schapire_bound",
    "prove.run.steps": "Steps",
    "prove.separable.certificate": "Bracket Certificate",
    "prove.separable.margin": "Separator margins multiclass_margins radius",
    "prove.separable.question": "Verdict",
    "prove.separable.search.certify": "certify",
    "show.boundary": "BoundaryDisplay",
    "show.margins": "MarginsDisplay",
    "show.mistakes": "MistakesDisplay",
    "show.progress_line": "ProgressLine",
    "show.proof": "ProofDisplay",
    "warming": "warm_up",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOMES)  # type checkers use the imports above


# Parts of the package with names of their own.
_ROOMS = ("cluster",)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
