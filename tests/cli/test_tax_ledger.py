"""`hearthpay households` records tax payments and filings, on an embedded database of its own."""

import json
from uuid import UUID, uuid4

from hearthpay.database.embedded import EmbeddedServer
from tests.cli.test_calendar import THIS_YEAR, ask, household, rows, running

__all__ = ["household", "running"]

DAY = f"{THIS_YEAR}-01-01"
PAID = ("--agency", "EDD", "--account", "sui", "--period", f"{THIS_YEAR}-Q1", "--on", DAY)


def _without_the_irs(printed: str) -> list[str]:
    """The lines, but for the Social Security tax of the household's paychecks."""
    return [line for line in printed.splitlines() if not line.startswith("IRS: ")]


def test_payments_are_recorded_listed_and_reversed(running: EmbeddedServer, household: UUID):
    whose = str(household)
    told = ask(running, "households", "record-tax-payment", whose, *PAID, "--amount", "1,281.20")
    payment_id, balance = told.splitlines()
    assert balance == f"{THIS_YEAR}-Q1: owed 0.00 - paid 1,281.20 = open -1,281.20"
    listed = _without_the_irs(ask(running, "households", "tax-payments", whose))
    assert listed == [
        f"{DAY}      1,281.20  ca-edd  sui  {THIS_YEAR}-Q1  {payment_id}",
        "EDD: owed 0.00 - paid 1,281.20 = open -1,281.20",
    ]
    (item,) = json.loads(ask(running, "households", "tax-payments", whose, "--json"))
    assert (item["id"], item["amount"], item["status"]) == (payment_id, 1281.2, "recorded")
    reversing = ("households", "reverse-tax-payment", whose)
    ask(running, *reversing, payment_id, "--reason", "Twice.")
    listed_again = _without_the_irs(ask(running, "households", "tax-payments", whose))
    assert listed_again == [f"{listed[0]}  reversed"]
    assert "already reversed" in ask(running, *reversing, payment_id, refused=True)
    assert "No tax payment" in ask(running, *reversing, str(uuid4()), refused=True)
    assert "is no id" in ask(running, *reversing, "it", refused=True)
    refused = ask(running, "households", "record-tax-payment", whose, *PAID, "--amount", "0", refused=True)
    assert "amount:" in refused
    refused = ask(running, "households", "record-tax-payment", whose, *PAID, "--amount", "much", refused=True)
    assert "not a number" in refused
    assert rows(running, "SELECT count(*), sum(amount) FROM tax_payments") == [(2, 0)]


def test_filings_are_recorded_listed_and_reversed(running: EmbeddedServer, household: UUID):
    whose, key = str(household), f"CA/wages-quarterly/{THIS_YEAR}-Q1"
    filed = ("--key", key, "--on", DAY, "--confirmation", "0-418-229-304")
    filing_id = ask(running, "households", "record-filing", whose, *filed).strip()
    assert "already recorded" in ask(running, "households", "record-filing", whose, *filed, refused=True)
    line = f"{DAY}          0.00  {key}  {filing_id}"
    assert ask(running, "households", "filings", whose) == f"{line}\n"
    (item,) = json.loads(ask(running, "households", "filings", whose, "--json"))
    assert (item["id"], item["confirmation"], item["status"]) == (filing_id, "0-418-229-304", "filed")
    assert ask(running, "households", "reverse-filing", whose, filing_id) == f"{filing_id}: reversed.\n"
    assert ask(running, "households", "filings", whose) == f"{line}  reversed\n"
    assert "already reversed" in ask(running, "households", "reverse-filing", whose, filing_id, refused=True)
