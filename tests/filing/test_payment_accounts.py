"""The accounts to which taxes are paid: each duty that is paid has one, and each of its periods can be named."""

import datetime

import pytest

from hearthpay.duties.calendar import calendar_of_duties
from hearthpay.duties.payment_accounts import (
    account_names,
    accounts_of_agency,
    agency_of,
    payment_accounts,
)
from hearthpay.duties.rules import PAID, duties_of
from hearthpay.taxes.agencies import agencies
from hearthpay.taxes.jurisdictions import STATES
from tests.cases import every_case
from tests.duties.household import everywhere


def test_every_duty_that_is_paid_has_an_account_and_a_listed_agency() -> None:
    with every_case() as case:
        for jurisdiction in ["US", *STATES]:
            with case(jurisdiction):
                names = account_names(jurisdiction)
                for duty in duties_of(jurisdiction).duties:
                    if duty.kind in PAID and duty.lines:
                        account = payment_accounts(jurisdiction)[names[duty.id]]
                        agency = agency_of(jurisdiction, duty.agency)
                        assert duty in account.duties
                        assert account in accounts_of_agency(agency)


@pytest.mark.parametrize("frequency", [None, "annual", "monthly", "semiweekly"])
def test_every_item_that_is_paid_can_be_named_by_agency_account_and_period(frequency: str | None) -> None:
    items = calendar_of_duties(everywhere(frequency), datetime.date(2026, 1, 1), datetime.date(2027, 12, 31))
    named = set()
    paid = [item for item in items if item.amount is not None]
    assert len(paid) > 300
    for item in paid:
        account = payment_accounts(item.jurisdiction)[
            account_names(item.jurisdiction)[item.key.split("/")[1]]
        ]
        period = account.period(item.period, agency_of(item.jurisdiction, item.agency))
        assert period is not None
        assert period.start <= item.period_end <= period.end
        named.add((item.jurisdiction, account.name, item.period))
    assert len(named) == len(paid)


@pytest.mark.parametrize(
    ("jurisdiction", "account", "agency", "label", "days"),
    [
        ("US", "estimated-tax", "us-irs", "2026-I3", ("2026-06-01", "2026-08-31")),
        ("US", "estimated-tax", "us-irs", "2026", ("2026-01-01", "2026-12-31")),
        ("CA", "sui", "ca-edd", "2026-Q3", ("2026-07-01", "2026-09-30")),
        ("CA", "sui", "ca-edd", "2026-08-31", ("2026-07-01", "2026-08-31")),
        ("NY", "withholding", "ny-nys-tax", "2026-11-20", ("2026-10-01", "2026-11-20")),
        ("CA", "sui", "ca-edd", "2026-Q5", None),
        ("CA", "sui", "ca-edd", "Q3", None),
        ("CA", "sui", "ca-edd", "", None),
        ("CA", "sui", "ca-edd", "0000", None),
        ("CA", "sui", "ca-edd", "2026-M07", None),
        ("CA", "sui", "ca-edd", "20260831", None),
        ("CA", "sui", "ca-edd", "2026-02-30", None),
        ("US", "estimated-tax", "us-irs", "2026-Q3", None),
        ("US", "estimated-tax", "us-irs", "2026-08-31", None),
    ],
)
def test_periods_of_payments(
    jurisdiction: str, account: str, agency: str, label: str, days: tuple[str, str] | None
) -> None:
    period = payment_accounts(jurisdiction)[account].period(label, agencies()[agency])
    found = None if period is None else (period.start.isoformat(), period.end.isoformat())
    assert found == days


def test_ids_of_agencies_are_not_names_of_others() -> None:
    """An agency is found by its id, its name or its full name; within a state each means one agency."""
    words: dict[tuple[str, str], set[str]] = {}
    for agency in agencies().values():
        for word in (agency.id, agency.name.casefold(), agency.full_name.casefold()):
            words.setdefault((agency.state, word), set()).add(agency.id)
    assert {word: ids for word, ids in words.items() if len(ids) > 1} == {}
