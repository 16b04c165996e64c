"""Record RS: an employee's wages for one state, or one of its localities.

The SSA ignores it; states that accept the same file read it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from hearthpay.documents.efw2.layout import Efw2Layout
from hearthpay.documents.efw2.lettering import line_letters
from hearthpay.documents.efw2.record import Efw2Value
from hearthpay.documents.efw2.records.employee import person_fields
from hearthpay.documents.figures.state_boxes import state_boxes
from hearthpay.documents.figures.w2 import W2
from hearthpay.documents.identity import EmployeeIdentity

_BETWEEN: Final = re.compile(r"[^A-Z0-9]")
_ROOM_FOR_A_PLACE: Final = 75


def state_records(
    form: W2, employee: EmployeeIdentity, accounts: Mapping[str, str], layout: Efw2Layout
) -> Iterator[dict[str, Efw2Value]]:
    """Go through the fields of each record RS: a state with its first locality, then each further locality."""
    rows = {row.state: row for row in form.states}
    states = [*rows, *(local.state for local in form.localities if local.state not in rows)]
    for state in dict.fromkeys(states):
        if state in layout.states_without_records:
            continue
        number = state_boxes()[state].fips
        fields: dict[str, Efw2Value] = {
            "state_code": number,
            **person_fields(employee),
            "state_employer_account_number": _BETWEEN.sub("", accounts.get(state, "").upper()),
            "tax_state_code": number,
            "tax_type_code": " ",
        }
        row = rows.get(state)
        if row is not None:
            tax = 0 if row.tax is None else row.tax.cents
            fields |= {"state_wages": row.wages.cents, "state_income_tax": tax}
        localities = [local for local in form.localities if local.state == state]
        if not localities:
            yield fields
        for place, local in enumerate(localities):
            of_locality: dict[str, Efw2Value] = {
                "tax_type_code": layout.tax_types.get(state, layout.tax_type),
                "local_wages": local.wages.cents,
                "local_income_tax": 0 if local.tax is None else local.tax.cents,
                "supplemental_data_1": line_letters(local.name)[:_ROOM_FOR_A_PLACE],
            }
            if place:
                # The state's own wages are reported once.
                of_locality |= {"state_wages": 0, "state_income_tax": 0}
            yield fields | of_locality
