"""To-dos from registrations: the accounts to apply for, and the numbers to enter once an agency has assigned them."""

from collections.abc import Iterable, Iterator
from uuid import UUID

from hearthpay.registrations.derivation import Registration
from hearthpay.taxes.agencies import agencies
from hearthpay.todos.to_do import ToDo


def to_dos_of_registrations(employer_id: UUID, rows: Iterable[Registration]) -> Iterator[ToDo]:
    """Yield one to-do for each number that is needed now, whichever accounts share it.

    An account that is needed from wages on that are not reached yet is none.
    """
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if not row.required or row.required_from is not None or (row.state, row.number_id) in seen:
            continue
        seen.add((row.state, row.number_id))
        yield ToDo(
            employer_id=employer_id,
            kind="register" if row.status == "required" else "enter_number",
            key=f"registration/{row.state}/{row.number_id}",
            subject_type="registration",
            subject_id=f"{row.state}/{row.account_id}",
            path=f"/state-accounts#{row.state}",
            agency=_short_name(row),
            what=row.label,
            day=row.applied_on,
            state=row.state,
            account=row.account_type,
        )


def _short_name(row: Registration) -> str:
    """Return the agency's short name, or its full one where it is not listed."""
    named = (each for each in agencies().values() if (each.state, each.full_name) == (row.state, row.agency))
    return next((each.name for each in named), row.agency)
