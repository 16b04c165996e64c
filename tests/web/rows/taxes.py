"""Taxes."""

from datetime import date
from typing import Final

from hearthpay.filing.commands import RecordFiling, RecordTaxPayment
from hearthpay.filing.filings import record_filing
from hearthpay.filing.service import record_tax_payment
from tests.web.rows.row import at_household, kept
from tests.web.rows.world import World

_HERE: Final = "/app/{household_id}/taxes"

ROWS: Final = {
    f"GET {_HERE}": at_household(200),
    f"GET {_HERE}/owed": at_household(200),
    f"GET {_HERE}/owed.csv": at_household(200),
    f"GET {_HERE}/payments": at_household(200),
    f"GET {_HERE}/payments/new": kept(200),
    f"POST {_HERE}/payments/new": kept(
        303,
        form_id="019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b77",
        paid_for="ca-edd/sui/2026-Q3",
        amount="10.50",
        paid_on="2026-11-01",
        method="check",
    ),
    f"GET {_HERE}/payments/{{tax_payment_id}}/reverse": kept(200),
    f"POST {_HERE}/payments/{{tax_payment_id}}/reverse": kept(303, reason="Recorded twice."),
    f"GET {_HERE}/filings": at_household(200),
    f"GET {_HERE}/filings/{{filing_id}}/reverse": kept(200),
    f"POST {_HERE}/filings/{{filing_id}}/reverse": kept(303, reason="The agency rejected it."),
    f"GET {_HERE}/wages": at_household(200),
    f"GET {_HERE}/wages.csv": at_household(200),
    f"GET {_HERE}/estimated": at_household(200),
    f"GET {_HERE}/cost": at_household(200),
    f"GET {_HERE}/papers": at_household(200),
    f"GET {_HERE}/papers/w2/{{employee_id}}": kept(200, fresh=True),
    f"POST {_HERE}/papers/w2/{{employee_id}}": kept(400, fresh=True, year="2026", copy="employee"),
    f"POST {_HERE}/papers/w3": kept(400, year="2026"),
    f"POST {_HERE}/papers/schedule-h": kept(200, year="2026"),
    f"GET {_HERE}/papers/wage-file": kept(200, fresh=True),
    f"POST {_HERE}/papers/wage-file": kept(
        400, fresh=True, year="2026", user_id="AB12CD34", phone="415-555-0134"
    ),
    f"GET {_HERE}/papers/year-package": kept(200, fresh=True),
    f"POST {_HERE}/papers/year-package": kept(400, fresh=True, year="2026"),
    f"GET {_HERE}/papers/packages/{{package_id}}": at_household(404),
    f"GET {_HERE}/papers/issued": kept(200, fresh=True),
    f"POST {_HERE}/papers/issued/{{document_id}}": kept(404, fresh=True),
    f"GET {_HERE}/papers/address": kept(200),
    f"POST {_HERE}/papers/address": kept(303, line1="1 Oak St", city="Oakland", state="CA", zip="94601"),
    f"GET {_HERE}/thresholds": kept(200),
    f"POST {_HERE}/thresholds": kept(303, threshold_basis="assume_crossed"),
}


async def things(world: World) -> dict[str, str]:
    """A payment and a filing. No paper was issued: what they are answered stands in test_tax_pages."""
    nowhere = "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11"
    clock = world.people_context.clock
    payment = RecordTaxPayment(
        agency="us-irs",
        account_type="estimated-tax",
        period="2026-I3",
        amount=502_62,
        paid_on=date(2026, 9, 14),
        method="bank_account",
        confirmation="DP-7K2M-4418",
        employer_id=world.household_id,
    )
    filing = RecordFiling(
        key="CA/wages-quarterly/2026-Q4", filed_on=date(2026, 11, 2), employer_id=world.household_id
    )
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        paid = await record_tax_payment(session, world.actor, clock, payment)
        filed = await record_filing(session, world.actor, clock, filing)
        ids = {"tax_payment_id": str(paid.payment.id), "filing_id": str(filed.filing.id)}
    return ids | {"document_id": nowhere, "package_id": nowhere}
