"""Taxes."""

from typing import Final

from tests.web.rows.row import at_household, kept

_HERE: Final = "/app/{household_id}/taxes"

ROWS: Final = {
    f"GET {_HERE}": at_household(200),
    f"GET {_HERE}/owed": at_household(200),
    f"GET {_HERE}/owed.csv": at_household(200),
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


async def things(world: object) -> dict[str, str]:
    """No paper was issued: what they are answered stands in test_tax_pages."""
    nowhere = "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11"
    return {"document_id": nowhere, "package_id": nowhere}
