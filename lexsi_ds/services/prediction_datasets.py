"""Predictions kept as a data set of their model's source, so that a finding about them can have a check.

Saving the same predictions again gives the same data set. Must never: overwrite one, or lose the marks of the source's columns.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from lexsi_ds.data.handle import Table
from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.models import Models

_AT_ONCE = 50_000


class PredictionDatasets:
    """Saves predictions. Raises Denied without the right, NotFound for predictions or a source that are not there."""

    def __init__(self, models: Models, catalog: Catalog, scratch: Path) -> None:
        self._models, self._catalog, self._scratch = models, catalog, scratch

    def save(self, actor: Actor, predictions_id: str, name: str | None = None) -> Table:
        """Keep all rows of predictions, in order of rank. A name of one's own makes a further data set."""
        actor.need("datasets:write")
        known = self._models.predictions(actor, predictions_id)
        card = self._models.get(actor, known.model_id)
        called = name or f"{card.name} predictions {predictions_id[-6:]}"
        try:
            kept = self._catalog.derived(actor, card.source_id)
        except NotFound as error:
            raise BadInput("The model's source is not in the catalog any more, so nothing can be kept in it.", where=card.name,
                           to_do="Import the source again and train on it.") from error
        saved = next((t for t in kept if t.name == called), None)
        if saved is not None and name is None:
            return saved
        path = self._scratch / f"{new_id('res')}.arrow"
        try:
            self._write(actor, predictions_id, known.rows, path)
            return self._catalog.save_derived(actor, card.source_id, called, path, known.run_id)
        finally:
            path.unlink(missing_ok=True)

    def _write(self, actor: Actor, predictions_id: str, rows: int, path: Path) -> None:
        schema: pa.Schema | None = None
        with pa.OSFile(str(path), "wb") as out:
            stream: pa.RecordBatchStreamWriter | None = None
            for start in range(0, max(rows, 1), _AT_ONCE):
                frame, _ = self._models.page(actor, predictions_id, offset=start, limit=_AT_ONCE)
                part = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
                if stream is None:
                    schema = part.schema.remove_metadata()
                    stream = pa.ipc.new_stream(out, schema)
                stream.write_table(part.cast(schema) if schema is not None else part)
            if stream is not None:
                stream.close()
