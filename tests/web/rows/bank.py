"""The bank account."""

from typing import Final

from tests.web.rows.row import at_household, kept

_HERE: Final = "/app/{household_id}/bank"

ROWS: Final = {
    f"GET {_HERE}": at_household(200),
    f"GET {_HERE}/connect": kept(200, fresh=True),
    f"POST {_HERE}/connect": kept(
        303,
        fresh=True,
        routing_number="322271627",
        account_number="90817263544",
        account_number_again="90817263544",
        account_type="checking",
    ),
    f"GET {_HERE}/disconnect": kept(200, fresh=True),
    f"POST {_HERE}/disconnect": kept(303, fresh=True),
    f"GET {_HERE}/authorization": at_household(200),
    f"POST {_HERE}/authorization": kept(400, fresh=True),
    f"GET {_HERE}/set-asides": at_household(200),
    f"GET {_HERE}/set-asides/{{employee_id}}": at_household(200),
    f"POST {_HERE}/set-asides/{{employee_id}}": kept(400, fresh=True, amount="10", method="check"),
}
