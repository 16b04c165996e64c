"""Which wages of a household bear which tax, in exact fractions, straight from the rule files: a second opinion.

A payment is its ``employee``, ``pay_date``, ``work_state``, ``wages`` and, where the state assigned one, ``sui_rate``.
It shares no line of code with `hearthpay.taxes`.
"""

from fractions import Fraction
from typing import Any

from tests.taxes.fraction_model import CENT, MOST_ROUNDING, ZERO, YearLine, floor_zero, law, to_the_cent

Payment = dict[str, Any]
QUARTERS = range(1, 5)


def quarter(payment: Payment) -> int:
    return (int(payment["pay_date"][5:7]) - 1) // 3 + 1


def taxes_of(year: int, state: str) -> list[dict]:
    """Return the flat-rate taxes of a year but those with a maximum for each payment."""
    rows = [
        *law(str(year), "us.toml")["contribution"],
        *law(str(year), "states", f"{state}.toml")["contribution"],
    ]
    return [tax for tax in rows if "weekly_maximum" not in tax]


def threshold_of(tax: dict, year: int, state: str) -> dict | None:
    """Return the row of the thresholds that a tax waits for."""
    rows = law("household_thresholds.toml")
    if tax["liability"] == "fica":
        return next(row for row in rows["fica"] if row["tax_year"] == year)
    if tax["liability"] == "futa":
        return rows["futa"]
    [own] = [row for row in rows["state"] if row["state"] == state]
    return next((row for row in own["threshold"] if row["liability"] == tax["liability"]), None)


def bears(tax: dict, payment: Payment, paid: list[Payment]) -> bool:
    """Tell whether a payment bears a tax once the household has paid ``paid``, this year's and last year's."""
    year, state = int(payment["pay_date"][:4]), payment["work_state"]
    row = threshold_of(tax, year, state)
    if row is None:
        return True
    this_year = [each for each in paid if each["pay_date"].startswith(str(year))]
    if tax["liability"] == "fica":
        own = [each["wages"] for each in this_year if each["employee"] == payment["employee"]]
        return sum(own) >= row["cash_wages"]

    def reached(which: int, quarter_of_year: int) -> bool:
        return (
            sum(
                each["wages"]
                for each in paid
                if each["pay_date"].startswith(str(which))
                and quarter(each) == quarter_of_year
                and (tax["liability"] == "futa" or each["work_state"] == state)
            )
            >= row["cash_wages"]
        )

    if any(reached(year - 1, each) for each in QUARTERS):
        return True
    crossed = [each for each in QUARTERS if reached(year, each)]
    if row.get("reaches_back_to", "year") == "year":
        return bool(crossed)
    return bool(crossed) and quarter(payment) >= crossed[0]


def part_taxed(tax: dict, wages: Fraction) -> Fraction:
    if "wage_floor" in tax:
        return floor_zero(wages - tax["wage_floor"])
    return min(wages, Fraction(tax["wage_base"])) if "wage_base" in tax else wages


def year_of_household(paid: list[Payment], year: int, *, as_paid: bool) -> dict[Any, dict[str, YearLine]]:
    """Return by employee what each tax of a year must come to by the payments, in the order they were made.

    With ``as_paid`` a payment bears only the taxes whose threshold all payments together reach.
    """
    found: dict[Any, dict[str, YearLine]] = {each["employee"]: {} for each in paid}
    wages: dict[tuple[Any, str], Fraction] = {}
    rates: dict[tuple[Any, str], set[Fraction]] = {}
    last: dict[tuple[Any, str], Fraction] = {}
    bases: dict[str, Fraction] = {}
    for payment in paid:
        if not payment["pay_date"].startswith(str(year)):
            continue
        employee = payment["employee"]
        taxed_here: dict[str, Fraction] = {}
        for tax in taxes_of(year, payment["work_state"]):
            code, ends = tax["code"], tax.get("effective_to")
            if (
                not tax["effective_from"].isoformat()
                <= payment["pay_date"]
                <= (ends.isoformat() if ends else "9999")
            ):
                continue
            rate = Fraction(tax["rate"])
            if tax.get("assigned_rate") and payment.get("sui_rate") is not None:
                rate = Fraction(payment["sui_rate"])
            key = employee, code
            before = wages.get(key, ZERO)
            gross = payment["wages"] if not as_paid or bears(tax, payment, paid) else ZERO
            if "follows" in tax:
                gross = taxed_here.get(tax["follows"], ZERO)
            wages[key] = before + gross
            fresh = part_taxed(tax, before + gross) - part_taxed(tax, before)
            taxed_here[code] = fresh
            line = found[employee].get(code, YearLine(tax["payer"], ZERO, ZERO, ZERO))
            found[employee][code] = YearLine(
                tax["payer"], line.taxable + fresh, line.tax + fresh * rate, line.slack + CENT / 2
            )
            if fresh:
                rates.setdefault(key, set()).add(rate)
                last[key] = fresh
            bases[code] = Fraction(tax.get("wage_base", -1))
    for (employee, code), used in rates.items():
        line = found[employee][code]
        if len(used) > 1:
            found[employee][code] = line._replace(slack=MOST_ROUNDING)
        elif line.taxable == bases[code] and last[employee, code] > 1:
            found[employee][code] = line._replace(tax=to_the_cent(line.tax), slack=ZERO)
    return found
