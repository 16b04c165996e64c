"""The obligations of an account are the duties that settle its lines: of each state, and of no other account."""

import datetime
from dataclasses import replace

from hearthpay.duties.calendar import calendar_of_duties
from hearthpay.duties.obligations import obligations_of_account
from hearthpay.duties.rules import PAID, duties_of
from hearthpay.registrations.accounts import accounts_of
from hearthpay.registrations.derivation import AccountAssessment, Registration
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.messages import message
from tests.cases import every_case
from tests.duties.household import everywhere

TODAY = datetime.date(2026, 11, 20)
LAST = datetime.date(2027, 11, 20)


def _row(state: str, account_id: str) -> Registration:
    account = accounts_of(state).account(account_id)
    assert account is not None
    return Registration(
        state=state,
        account_id=account_id,
        account_type=account.type,
        agency=account.agency.full_name,
        label=account.label,
        url=account.url,
        status="required",
        last_four=None,
        applied_on=None,
        number_id=account.number.id,
        assessment=AccountAssessment("needed", message("account_works_there")),
    )


def test_each_paid_duty_of_each_state_hangs_on_an_account_and_withholding_on_no_other() -> None:
    items = calendar_of_duties(everywhere(), TODAY, LAST)
    with every_case() as case:
        for state in STATES:
            with case(state):
                accounts = accounts_of(state).accounts
                found = {
                    each.id: obligations_of_account(_row(state, each.id), items, TODAY) for each in accounts
                }
                named = {one.key for each in found.values() for one in each}
                paid = {duty.id for duty in duties_of(state).duties if duty.kind in PAID and duty.lines}
                due = {
                    f"{state}/{item.key.split('/')[1]}"
                    for item in items
                    if item.jurisdiction == state and item.key.split("/")[1] in paid
                }
                assert due <= named
                for account in accounts:
                    for one in found[account.id]:
                        assert TODAY <= (one.next_due_on or TODAY) <= LAST
                        assert one.frequency
                        assert "hire" not in one.key
                assert [
                    each for each in found["sui"] if "withholding" in each.key and "deposit" in each.key
                ] == []


def test_the_next_date_is_the_first_that_is_not_done() -> None:
    household = everywhere()
    row = _row("TX", "sui")
    [first] = obligations_of_account(row, calendar_of_duties(household, TODAY, LAST), TODAY)
    assert first.frequency == "quarterly"
    assert first.next_due_on == datetime.date(2027, 2, 1)
    done = [
        item if item.due != first.next_due_on else replace(item, done_on=TODAY)
        for item in calendar_of_duties(household, TODAY, LAST)
    ]
    [second] = obligations_of_account(row, done, TODAY)
    assert second.next_due_on == datetime.date(2027, 4, 30)
