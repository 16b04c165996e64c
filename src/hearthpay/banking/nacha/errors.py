"""Errors in a bank file, located precisely: the line of a file read, the field of one written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class NachaError(ValueError):
    """A payment that the Nacha format can't carry, or an invalid file.

    `line` counts from 1 in a file that was read. `field` names the value of a record; for a file to be written,
    `batch` and `entry` are its positions from 0. The message repeats no account number.
    """

    def __init__(
        self,
        reason: str,
        *,
        line: int | None = None,
        field: str | None = None,
        batch: int | None = None,
        entry: int | None = None,
    ) -> None:
        self.reason = reason
        self.line = line
        self.field = field
        self.batch = batch
        self.entry = entry
        path = [f"batches[{batch}]"] if batch is not None else []
        path += [f"entries[{entry}]"] if entry is not None else []
        path += [field] if field is not None else []
        parts = [f"line {line}"] if line is not None else []
        parts += [".".join(path)] if path else []
        super().__init__(": ".join([*parts, reason]))


@contextmanager
def placed(batch: int, entry: int | None = None) -> Iterator[None]:
    """Add the position of the batch, and of the entry, to every NachaError that passes through."""
    try:
        yield
    except NachaError as error:
        inner = error.entry if entry is None else entry
        raise NachaError(error.reason, field=error.field, batch=batch, entry=inner) from None
