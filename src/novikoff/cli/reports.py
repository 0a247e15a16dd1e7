"""`--report`: what `fit` and `certify` found, as one HTML page."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from novikoff.cli.outputs import check_free
from novikoff.cli.training import Examples
from novikoff.data.whole_file import WholeFile
from novikoff.learn.vote import Mistakes
from novikoff.show.report import certify_report, fit_report
from novikoff.show.report_evidence import FOLLOWED_NUMBERS, gather
from novikoff.show.report_picture import Columns, columns_to_draw

if TYPE_CHECKING:
    from novikoff.learn.linear_model import LinearModel
    from novikoff.prove.certificate import Certificate


@dataclass(frozen=True)
class Report:
    """A page to be written: where, on which examples, with which picture, and what was asked of the table."""

    path: Path
    files: tuple[str, ...]
    examples: Examples
    columns: Columns | None
    asked: tuple[str, ...]

    @property
    def needs_mistakes(self) -> bool:
        """Whether the proof will be followed, mistake by mistake."""
        return self.examples.n_numbers <= FOLLOWED_NUMBERS

    def on_model(
        self,
        model: "LinearModel",
        certificate: "Certificate | None",
        mistakes: Mistakes | None,
        model_file: Path,
    ) -> None:
        """Write the report on a model."""
        found = gather(
            self.examples,
            n_rows=self.examples.blocks.n_rows,
            model=model,
            certificate=certificate,
            mistakes=mistakes,
            columns=self.columns,
        )
        named = {"files": self.files, "model_file": str(model_file), "asked": self.asked}
        self._write(fit_report(model, found, certificate=certificate, **named))

    def on_certificate(self, certificate: "Certificate", label: str | None, certificate_file: Path | None) -> None:
        """Write the report on a certificate."""
        n_rows = self.examples.blocks.n_rows
        found = gather(self.examples, n_rows=n_rows, certificate=certificate, columns=self.columns)
        page = certify_report(
            certificate,
            found,
            files=self.files,
            label=label,
            encoding=self.examples.encoding,
            certificate_file=None if certificate_file is None else str(certificate_file),
            asked=self.asked,
        )
        self._write(page)

    def _write(self, page: str) -> None:
        with WholeFile(self.path) as file:
            file.write(page.encode())


def report_path(report: str | None, features: tuple[str, str] | None, force: bool) -> Path | None:
    """Where the report goes, if a file may be written there."""
    if report is None and features is not None:
        raise ValueError("--report-features chooses what a report draws; say where it goes, too, by --report")
    return None if report is None else check_free(report, force)


def report_on(
    path: Path | None,
    files: tuple[str, ...],
    examples: Examples,
    features: tuple[str, str] | None,
    asked: dict[str, tuple[str, ...] | str | None],
) -> Report | None:
    """The report that is wanted; finds out before anything is learned that there is no such feature."""
    if path is None:
        return None
    columns = columns_to_draw(examples.encoding, examples.blocks.n_columns, examples, features or ())
    words = [
        word
        for option, values in asked.items()
        for value in ([values] if isinstance(values, str) else values or ())
        for word in (f"--{option}", value)
    ]
    return Report(path, files, examples, columns, tuple(words))
