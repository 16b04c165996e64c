"""What the program of the version before writes, while it still runs, becomes a kind and wages apart from taxes."""

from __future__ import annotations

import psycopg
import pytest

from tests.database.household import Household


@pytest.mark.parametrize(
    ("notes", "kind"),
    [("", "regular"), (" Catch-UP ", "catch_up"), ("fica-refund\t", "fica_refund"), ("catch-up!", "regular")],
)
def test_a_payroll_without_a_kind_gets_that_of_its_notes(
    owner: psycopg.Connection, smiths: Household, notes: str, kind: str
) -> None:
    columns = ", ".join(
        name
        for (name,) in owner.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'payrolls'::regclass AND attnum > 0 "
            "AND NOT attisdropped AND attgenerated = '' AND attname NOT IN ('id', 'kind', 'notes', 'status')"
        )
    )
    assert owner.execute(
        f"INSERT INTO payrolls (id, notes, status, {columns}) SELECT new_id(), %s, 'voided', {columns} "
        "FROM payrolls WHERE id = %s RETURNING kind",
        (notes, smiths.payroll_id),
    ).fetchone() == (kind,)


def test_wages_owed_are_kept_apart_from_taxes_owed(owner: psycopg.Connection, smiths: Household) -> None:
    owner.execute('UPDATE year_balances SET owed = \'{"NY-MCTMT-ER": 12, "NY-MCTMT-ER wages": 900}\'')
    assert owner.execute("SELECT DISTINCT owed, owed_wages FROM year_balances").fetchall() == [
        ({"NY-MCTMT-ER": 12}, {"NY-MCTMT-ER": 900})
    ]
