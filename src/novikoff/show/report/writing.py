"""Reports as files: what a command asks for before it learns, and has written when it is done.

What makes the page is imported when it is made: a command that writes none does not wait for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.data.examples import Examples
from novikoff.data.whole_file import WholeFile

if TYPE_CHECKING:
    from novikoff.learn.model import Classifier
    from novikoff.prove.separable.certificate import Certificate
    from novikoff.show.report.evidence import Evidence
    from novikoff.show.report.page import Names
    from novikoff.show.report.picture import Columns


@dataclass(frozen=True)
class Report:
    """A page to be written: where, on which examples, with which picture, and what things are called."""

    path: Path
    examples: Examples
    columns: "Columns | None"
    names: "Names"

    @property
    def needs_mistakes(self) -> bool:
        """Whether the proof will be followed, mistake by mistake."""
        from novikoff.show.report.evidence import FOLLOWED_NUMBERS

        return self.examples.n_entries <= FOLLOWED_NUMBERS

    def on_model(self, model: "Classifier", certificate: "Certificate | None", mistakes: Any, model_file: Path) -> None:
        """Write the report on a model."""
        from novikoff.show.report.page import fit_report

        found = self._evidence(model=model, certificate=certificate, mistakes=mistakes)
        names = replace(self.names, model_file=str(model_file))
        self._write(fit_report(model, found, names, certificate=certificate))

    def on_certificate(self, certificate: "Certificate", certificate_file: Path | None) -> None:
        """Write the report on a certificate."""
        from novikoff.show.report.page import certify_report

        found = self._evidence(certificate=certificate)
        names = replace(self.names, certificate_file=None if certificate_file is None else str(certificate_file))
        self._write(certify_report(certificate, found, names, encoding=self.examples.encoding))

    def _evidence(self, **parts: Any) -> "Evidence":
        from novikoff.show.report.evidence import gather

        return gather(self.examples, columns=self.columns, **parts)

    def _write(self, page: str) -> None:
        with WholeFile(self.path) as file:
            file.write(page.encode())


def report_on(
    path: Path | None, examples: Examples, features: tuple[str, str] | None, names: "Callable[[], Names]"
) -> Report | None:
    """The report that is wanted, if one is; finds out before anything is learned that there is no such feature."""
    if path is None:
        return None
    from novikoff.show.report.picture import columns_to_draw

    columns = columns_to_draw(examples.encoding, examples.n_columns, examples, features or ())
    return Report(path, examples, columns, names())
