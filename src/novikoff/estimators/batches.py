"""Predictions for batches of a table, as batch pipelines take them: `dataset.map_batches(model.map_batches())`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch
from novikoff.data.frames import is_frame, read_frame
from novikoff.engine.rows import as_rows
from novikoff.learn.linear.memory import LinearModel


@dataclass(frozen=True)
class BatchPredictor:
    """A function that adds a column of predictions to a batch, and can be sent to another machine.

    A batch is a mapping from names to arrays, or a table of pandas, polars or pyarrow; the result is of the same kind.
    """

    model: LinearModel
    column: str = "prediction"

    def __call__(self, batch: Any) -> Any:
        names = list(batch) if isinstance(batch, dict) else list(getattr(batch, "column_names", batch.columns))
        if self.column in names:
            raise ValueError(f"the batch has a column {self.column!r} already; choose another with column=")
        labels = self._labels(batch, names)
        if isinstance(batch, dict):
            return {**batch, self.column: labels}
        if hasattr(batch, "append_column"):
            return batch.append_column(self.column, [labels.tolist()])
        if hasattr(batch, "with_columns"):
            import polars

            return batch.with_columns(polars.Series(self.column, labels.tolist()))
        return batch.assign(**{self.column: labels})

    def _labels(self, batch: Any, names: list[str]) -> NDArray[Any]:
        if self.model.encoding is None or not self.model.takes_a_table:
            return self.model.predict(Batch(as_rows(self._matrix(batch, names)), None))
        if not is_frame(batch):
            import pyarrow as pa

            batch = pa.table({name: list(batch[name]) for name in self.model.encoding.types})
        records = read_frame(batch, types=self.model.encoding.types)
        return np.concatenate([self.model.predict(part) for part in records])

    def _matrix(self, batch: Any, names: list[str]) -> NDArray[Any]:
        """The columns that the model was learned from, selected by name if it has their names."""
        wanted = self.model.input_names or names
        if len(wanted) != self.model.n_inputs:
            raise ValueError(f"the batch has {len(wanted)} columns, but the model has {self.model.n_inputs}")
        return np.column_stack([np.asarray(batch[name], dtype=np.float64) for name in wanted])
