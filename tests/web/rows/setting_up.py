"""The first household, setting it up, and what was told of it."""

from typing import Final

from tests.web.rows.row import Row, by_owners, kept

_HOUSEHOLD: Final = {
    "first_name": "Maria",
    "last_name": "Rivera",
    "email": "maria@example.com",
    "state": "CA",
    "address_line1": "1 Elm Street",
    "address_city": "Oakland",
    "address_state": "CA",
    "address_zip": "94610",
}
NEW_HOUSEHOLD: Final = {name: value for name, value in _HOUSEHOLD.items() if name != "state"}

ROWS: Final[dict[str, Row]] = {
    "GET /app/start": kept(200, other=200),
    "POST /app/start": kept(303, other=303, **NEW_HOUSEHOLD),
    "GET /app/{household_id}/setup": kept(200),
    "GET /app/{household_id}/setup/household": kept(200),
    "POST /app/{household_id}/setup/household": kept(303, fresh=True, **_HOUSEHOLD),
    "GET /app/{household_id}/setup/person": kept(200),
    "POST /app/{household_id}/setup/person": kept(
        303, first_name="Eva", last_name="Ruiz", start_date="2026-11-02"
    ),
    "GET /app/{household_id}/setup/{employee_id}/person": kept(200),
    # Without what it was shown with, a form may have been opened before somebody else's change.
    "POST /app/{household_id}/setup/{employee_id}/person": kept(
        409, fresh=True, first_name="Rosa", last_name="Diaz", start_date="2026-01-05"
    ),
    "GET /app/{household_id}/setup/{employee_id}/pay": kept(200),
    "POST /app/{household_id}/setup/{employee_id}/pay": kept(
        409, paid_by="hourly", pay="31", usual_weekly_hours="20"
    ),
    "GET /app/{household_id}/setup/{employee_id}/frequency": kept(200),
    "POST /app/{household_id}/setup/{employee_id}/frequency": kept(303, pay_frequency="weekly"),
    "GET /app/{household_id}/setup/{employee_id}/method": kept(200),
    "POST /app/{household_id}/setup/{employee_id}/method": kept(303, payment_method="check"),
    "GET /app/{household_id}/household": kept(200),
    "POST /app/{household_id}/household": kept(303, fresh=True, **_HOUSEHOLD),
    # A real household is never emptied or deleted.
    "GET /app/{household_id}/household/empty": by_owners(200),
    "POST /app/{household_id}/household/empty": by_owners(400),
    "GET /app/{household_id}/household/delete": by_owners(200),
    "POST /app/{household_id}/household/delete": by_owners(400),
}


async def things(world: object) -> dict[str, str]:
    """What a path says of an invitation."""
    return {"kind": "tax_info"}
