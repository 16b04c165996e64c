"""Employees."""

from typing import Final

from tests.web.rows.row import Row, at_household, by_owners, kept

_PATH: Final = "/app/{household_id}/employees"
_ONE: Final = f"{_PATH}/{{employee_id}}"
_PERSON: Final = {
    "first_name": "Ana",
    "last_name": "Ruiz",
    "start_date": "2026-11-02",
    "pay_frequency": "weekly",
}

ROWS: Final[dict[str, Row]] = {
    f"GET {_PATH}": at_household(200),
    f"GET {_PATH}/new": kept(200),
    f"POST {_PATH}/new": kept(303, **_PERSON),
    f"GET {_ONE}": at_household(200),
    f"GET {_ONE}/change": kept(200),
    # Without what it was shown with, a form may have been opened before somebody else's change.
    f"POST {_ONE}/change": kept(409, fresh=True, **_PERSON | {"last_name": "Diaz", "work_state": "CA"}),
    f"GET {_ONE}/rate": kept(200),
    f"POST {_ONE}/rate": kept(409, pay_rate="31.00"),
    f"GET {_ONE}/method": kept(200),
    f"POST {_ONE}/method": kept(303, payment_method="cash"),
    f"GET {_ONE}/withholding": kept(200),
    f"POST {_ONE}/withholding": kept(409, federal_elected="yes", federal_filing_status="married"),
    f"GET {_ONE}/leave": kept(200),
    f"POST {_ONE}/leave": kept(303, end_date="2026-11-20"),
    f"GET {_ONE}/return": kept(200),
    f"POST {_ONE}/return": kept(303, how="go_on"),
    f"GET {_ONE}/papers": kept(200),
    f"POST {_ONE}/papers/{{paper}}": kept(200, language="es"),
    f"POST {_ONE}/papers/{{paper}}/sign": kept(404, document="x", signed_name="Maria Lopez"),
    f"POST {_ONE}/new-hire-report": kept(200, fresh=True, form="file"),
    f"GET {_ONE}/invitations": at_household(200),
    f"POST {_ONE}/invitations": kept(200, fresh=True, type="tax_info"),
    f"POST {_ONE}/invitations/{{kind}}/withdraw": kept(303),
    # The account there is one that needs no answer.
    f"POST {_ONE}/invitations/account/{{link_id}}/{{answer}}": kept(404, fresh=True),
    f"GET {_ONE}/account": by_owners(200, fresh=True),
    f"POST {_ONE}/account/agree": by_owners(303, fresh=True),
    f"POST {_ONE}/account/refuse": kept(303, fresh=True),
    f"GET {_ONE}/set-aside": kept(200),
    f"POST {_ONE}/set-aside": kept(409, rule="rate", percent="5"),
    f"GET {_ONE}/prior-wages": at_household(200),
    f"POST {_ONE}/prior-wages": kept(
        200,
        source="Before",
        as_of="2026-06-30",
        gross_pay="1,000.00",
        **{
            "line_US-SS-EE_subject_wages": "1000",
            "line_US-SS-EE_taxable_wages": "1000",
            "line_US-SS-EE_amount": "62",
        },
    ),
}


async def things(world: object) -> dict[str, str]:
    """The work agreement, and an answer about an account."""
    return {"paper": "agreement", "answer": "confirm"}
