"""State accounts."""

from typing import Final

from tests.web.rows.row import at_household, kept

_HERE: Final = "/app/{household_id}/state-accounts"
_ACCOUNT: Final = f"{_HERE}/{{state}}/{{account_id}}"
_POLICY: Final = f"{_HERE}/{{state}}/policy/{{policy}}"
_RATE: Final = f"{_HERE}/{{state}}/rate"
_FILING: Final = f"{_HERE}/{{state}}/filing/{{account}}"

ROWS: Final = {
    f"GET {_HERE}": at_household(200),
    f"GET {_HERE}/ein": kept(200, fresh=True),
    f"POST {_HERE}/ein": kept(400, fresh=True, ein="12-3456789", ein_again="12-3456788"),
    f"POST {_HERE}/ein/status": kept(303, status="pending"),
    f"GET {_ACCOUNT}/number": kept(200, fresh=True),
    f"POST {_ACCOUNT}/number": kept(303, fresh=True, number="123-4567-8"),
    f"GET {_ACCOUNT}/applied": kept(200),
    f"POST {_ACCOUNT}/applied": kept(303, applied_on="2026-11-02"),
    f"GET {_ACCOUNT}/reveal": kept(200, fresh=True),
    f"POST {_ACCOUNT}/reveal": kept(200, fresh=True),
    f"GET {_POLICY}": kept(200),
    f"POST {_POLICY}": kept(303, carrier="State Fund", starts_on="2026-01-01"),
    f"GET {_RATE}": at_household(200),
    f"POST {_RATE}": kept(200, tax_year="2026", rate="2.1"),
    f"POST {_RATE}/save": kept(303, tax_year="2026", rate="2.1"),
    f"GET {_FILING}": kept(200),
    f"POST {_FILING}/frequency": kept(303, frequency="annual", since_year="2027"),
    f"POST {_FILING}/closing": kept(303, closed_on="2026-11-02"),
}


async def things(world: object) -> dict[str, str]:
    """California's unemployment insurance, which is both an account and one with a choice."""
    return {"state": "CA", "account_id": "sui", "account": "sui", "policy": "workers_compensation"}
