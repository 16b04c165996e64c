"""A second tax engine, slow and plain, to hold the real one against: exact fractions of dollars, straight from the law.

It reads the rule files' raw TOML with every figure as a `fractions.Fraction` of dollars and applies the published
methods as they are printed: IRS Publication 15-T Worksheet 1A, California's Method B, New York's Methods II and III
with New York City and Yonkers, the guides of Georgia, New Jersey, Illinois and Pennsylvania, and Ohio's formula. It
takes the paycheck in its JSON form and shares no line of code with `hearthpay.taxes`.
"""

import functools
import math
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import hearthpay.taxes

RULES = Path(hearthpay.taxes.__file__).parent / "rules"
STATES = ("CA", "GA", "IL", "NJ", "NY", "OH", "PA", "TX")
CENT = Fraction(1, 100)
ZERO = Fraction(0)
#: Half a cent for each of 366 payments.
MOST_ROUNDING = Fraction(366, 2) * CENT


class Line(NamedTuple):
    """One tax, in dollars."""

    code: str
    payer: str
    subject: Fraction
    taxable: Fraction
    amount: Fraction


@functools.cache
def law(*parts: str) -> dict:
    """Return a rule file as it is written, decimals as fractions; nothing where there is no such file."""
    path = RULES.joinpath(*parts)
    return tomllib.loads(path.read_text("utf-8"), parse_float=Fraction) if path.is_file() else {}


def to_the_cent(dollars: Fraction) -> Fraction:
    """Round to the nearest cent, halves up."""
    return math.floor(dollars * 100 + Fraction(1, 2)) * CENT


def floor_zero(dollars: Fraction) -> Fraction:
    return dollars if dollars > 0 else ZERO


def at_least_row(rows: list, wages: Fraction) -> list:
    """Return the row of a table that reads "at least ... but less than"."""
    return [row for row in rows if row[0] <= wages][-1]


def over_row(rows: list, wages: Fraction) -> list:
    """Return the row of a table that reads "over ... but not over"."""
    return ([row for row in rows if row[0] < wages] or rows[:1])[-1]


def by_row(row: list, wages: Fraction) -> Fraction:
    lower, rate, base = row
    return base + rate * (wages - lower)


# --- federal income tax ------------------------------------------------------------------------------------------


def worksheet_1a(year: str, wages: Fraction, frequency: str, w4: dict) -> Fraction:
    """Publication 15-T, Worksheet 1A, with the line numbers of the publication."""
    federal = law(year, "us.toml")
    figures = federal["income_tax"]
    periods = federal["pay_periods"][frequency]
    line_1c = wages * periods
    old = w4.get("pre_2020")
    credit_of_step_3 = ZERO
    if old is None:
        status = w4.get("filing_status", "single")
        step_2 = w4.get("multiple_jobs", False)
        line_1e = line_1c + Fraction(w4.get("other_income", 0))
        line_1g = ZERO if step_2 else figures["line_1g"][status]
        line_1h = Fraction(w4.get("deductions", 0)) + line_1g
        adjusted = floor_zero(line_1e - line_1h)
        table = figures["step_2_checkbox" if step_2 else "standard"][status]
        credit_of_step_3 = Fraction(w4.get("dependents_credit", 0))
    else:
        line_1k = old.get("allowances", 0) * figures["allowance"]
        adjusted = floor_zero(line_1c - line_1k)
        married = old.get("marital_status", "single") == "married"
        table = figures["standard"]["married" if married else "single"]
    line_2h = by_row(at_least_row(table, adjusted), adjusted) / periods
    line_3c = floor_zero(line_2h - credit_of_step_3 / periods)
    line_4b = line_3c + Fraction(w4.get("extra_withholding", 0))
    return to_the_cent(line_4b)


def federal_lines(year: str, given: dict) -> list[Line]:
    """Income tax withheld by the certificate, and the flat rates on supplemental wages."""
    figures = law(year, "us.toml")["income_tax"]
    w4 = given.get("federal", {})
    regular, extra_pay = Fraction(given["regular_wages"]), Fraction(given.get("supplemental_wages", 0))
    gross = regular + extra_pay
    if w4.get("exempt") or not w4.get("elected", True):
        return [Line(figures["code"], "employee", gross, ZERO, ZERO)]
    before = Fraction(given.get("ytd", {}).get(figures["supplemental_code"], 0))
    below_limit = min(extra_pay, floor_zero(figures["supplemental_limit"] - before))
    over_limit = extra_pay - below_limit
    flat = extra_pay if given.get("supplemental_method") == "flat" else over_limit
    by_w4 = gross - flat
    tax = worksheet_1a(year, by_w4, given["pay_frequency"], w4) if by_w4 or not flat else ZERO
    lines = [Line(figures["code"], "employee", by_w4, by_w4, tax)]
    if flat:
        at_22 = to_the_cent((flat - over_limit) * figures["supplemental_rate"])
        at_37 = to_the_cent(over_limit * figures["supplemental_rate_over_limit"])
        lines.append(Line(figures["supplemental_code"], "employee", flat, flat, at_22 + at_37))
    return lines


# --- state and local income tax ----------------------------------------------------------------------------------


def version_in_force(income_tax: dict, given: dict) -> dict:
    """Return the tables chosen by the pay date, or where the state says so by the end of the pay period."""
    day = given["pay_date"]
    if income_tax.get("selected_by") == "period_end":
        day = given.get("period_end", day)
    begun = [version for version in income_tax["version"] if version["effective_from"].isoformat() <= day]
    return begun[-1] if begun else income_tax["version"][0]


#: Short spellings of the DE 4's boxes.
DE_4_SHORT = {"single": "single_or_married_with_two_or_more_incomes", "married": "married_one_income"}


def california(figures: dict, wages: Fraction, frequency: str, de4: dict, _periods: dict) -> Fraction:
    """EDD Method B, steps 1 to 5, by the schedules printed for the pay period."""

    def printed(table: list, count: int) -> Fraction:
        return Fraction(table[count] if count <= 10 else count * table[1])

    schedule = figures["schedule"][frequency]
    status = de4.get("filing_status", "single")
    status = DE_4_SHORT.get(status, status)
    regular, estimated = de4.get("regular_allowances", 0), de4.get("estimated_deduction_allowances", 0)
    column, table = {
        "single_or_married_with_two_or_more_incomes": ("single", "single"),
        "married_one_income": ("married_more" if regular + estimated >= 2 else "married_few", "married"),
        "head_of_household": ("head_of_household", "head_of_household"),
    }[status]
    if wages <= schedule["low_income_exemption"][column]:
        return ZERO
    taxable = wages - printed(schedule["estimated_deduction"], estimated)
    taxable = floor_zero(taxable - schedule["standard_deduction"][column])
    tax = to_the_cent(by_row(over_row(schedule["tables"][table], taxable), taxable))
    return floor_zero(tax - printed(schedule["allowance_credit"], regular))


def printed_tables(
    figures: dict, column: str, wages: Fraction, frequency: str, allowances: int, periods: dict
) -> Fraction:
    """Deduction and allowances off, then New York's printed table; other pay periods by the annual table."""
    times = 1
    if frequency not in figures["tables"][column]:
        frequency, times = "annual", periods[frequency]
    net = wages * times - figures["deduction"][column][frequency]
    net = floor_zero(net - allowances * figures["allowance"][frequency])
    return to_the_cent(by_row(at_least_row(figures["tables"][column][frequency], net), net) / times)


def new_york_status(it2104: dict) -> str:
    return "married" if it2104.get("filing_status") == "married" else "single"


def new_york(figures: dict, wages: Fraction, frequency: str, it2104: dict, periods: dict) -> Fraction:
    """NYS-50-T-NYS: Method III on the whole annual net from its threshold on, else Method II."""
    column = new_york_status(it2104)
    allowances = it2104.get("allowances", 0)
    printed = frequency if frequency in figures["deduction"][column] else "annual"
    times = periods[frequency] if printed == "annual" else 1
    net = wages * times - figures["deduction"][column][printed]
    net = floor_zero(net - allowances * figures["allowance"][printed])
    annual = net * periods[frequency] / times
    whole = [rate for lower, rate, _ in figures["top_rates"][column] if annual >= lower][-1]
    if whole:
        return to_the_cent(to_the_cent(whole * annual) / periods[frequency])
    return printed_tables(figures, column, wages, frequency, allowances, periods)


def georgia(figures: dict, wages: Fraction, frequency: str, g4: dict, _periods: dict) -> Fraction:
    """The employer's guide: deduction, allowances of lines 4 and 5, the flat rate."""
    letter = g4.get("marital_status", "A")[0]
    column = {"A": "single", "B": "married_separate", "C": "married_joint", "D": "single"}[letter]
    allowances = g4.get("dependent_allowances", 0) + g4.get("adjustment_allowances", 0)
    taxable = wages - figures["deduction"][column][frequency] - allowances * figures["allowance"][frequency]
    return to_the_cent(floor_zero(taxable) * figures["rate"])


def new_jersey(figures: dict, wages: Fraction, frequency: str, w4: dict, _periods: dict) -> Fraction:
    """NJ-WT: the rate letter, allowances, then the table "over ... but not over"."""
    letter = w4.get("rate_letter")
    if letter is None:
        letter = "A" if w4.get("filing_status", "single") in ("single", "married_separate") else "B"
    taxable = floor_zero(wages - w4.get("allowances", 0) * figures["allowance"][frequency])
    return to_the_cent(by_row(over_row(figures["tables"][letter][frequency], taxable), taxable))


def illinois(figures: dict, wages: Fraction, frequency: str, w4: dict, periods: dict) -> Fraction:
    """IL-700-T automated method: the period's exemption to the cent, then the rate; daily pay by 365."""
    annual = w4.get("line1_allowances", 0) * figures["allowances"]["line1_allowances"]
    annual += w4.get("line2_allowances", 0) * figures["allowances"]["line2_allowances"]
    days = 365 if frequency == "daily" else periods[frequency]
    return to_the_cent(floor_zero(wages - to_the_cent(Fraction(annual) / days)) * figures["rate"])


def ohio(figures: dict, wages: Fraction, frequency: str, it4: dict, periods: dict) -> Fraction:
    """The optional computer formula."""
    annual = wages * periods[frequency] - it4.get("exemptions", 0) * figures["allowances"]["exemptions"]
    annual = floor_zero(annual)
    return to_the_cent(by_row(over_row(figures["brackets"]["any"], annual), annual) / periods[frequency])


def pennsylvania(figures: dict, wages: Fraction, _frequency: str, _form: dict, _periods: dict) -> Fraction:
    return to_the_cent(wages * figures["rate"])


METHODS = {
    "CA": california, "GA": georgia, "IL": illinois, "NJ": new_jersey, "NY": new_york, "OH": ohio,
    "PA": pennsylvania,
}  # fmt: skip

#: Where a household must withhold whatever was agreed, and where it must once federal tax is withheld.
REQUIRED, WITH_FEDERAL = {"PA"}, {"IL", "NJ"}


def is_withheld(state: str, given: dict, form: dict) -> bool:
    federal = given.get("federal", {}).get("elected", True)
    if form.get("exempt"):
        return False
    if state in REQUIRED or (state in WITH_FEDERAL and federal):
        return True
    return form.get("elected", federal)


def state_lines(year: str, given: dict) -> list[Line]:
    """Income tax of the work state, or of the home state under a reciprocity agreement, and of New York's cities."""
    state, form = given["work_state"], given.get("state", {})
    home = given.get("residence_state", state)
    agreed = home != state and form.get("reciprocity_certificate_on_file")
    if agreed:
        state, form = home, given.get("residence", {})
    income_tax = law(year, "states", f"{state}.toml").get("income_tax")
    if income_tax is None:
        return []
    gross = Fraction(given["regular_wages"]) + Fraction(given.get("supplemental_wages", 0))
    if not is_withheld(state, given, form):
        none = [Line(income_tax["code"], "employee", gross, ZERO, ZERO)]
        if state == "NY":
            none += [
                Line(tax["code"], "employee", gross, ZERO, ZERO) for tax in new_york_places(year, given, form)
            ]
        return none
    version = version_in_force(income_tax, given)
    periods = law(year, "us.toml")["pay_periods"]
    rate = version.get("supplemental_rate")
    flat = ZERO
    if given.get("supplemental_method") == "flat" and rate is not None:
        flat = Fraction(given.get("supplemental_wages", 0))
    frequency = given["pay_frequency"]
    by_table = METHODS[state](version["figures"], gross - flat, frequency, form, periods)
    flat_tax = to_the_cent(flat * rate) if flat else ZERO
    extra = Fraction(0 if paid_apart(given) else form.get("additional_withholding", 0))
    lines = [Line(income_tax["code"], "employee", gross, gross, by_table + flat_tax + extra)]
    if state == "NY" and not agreed:
        for tax in new_york_places(year, given, form):
            asked = {} if paid_apart(given) else form
            amount = new_york_place(tax, gross, flat, frequency, form, asked, by_table, periods)
            lines.append(Line(tax["code"], "employee", gross, gross, amount))
    return lines


def paid_apart(given: dict) -> bool:
    """Whether all is supplemental pay at flat rates: what is asked for each pay period is not taken from it."""
    return given.get("supplemental_method") == "flat" and not Fraction(given["regular_wages"])


def new_york_places(year: str, given: dict, form: dict) -> list[dict]:
    """Return the local taxes that locality codes or the certificate choose, in the order of the rule file."""
    chosen = set(given.get("localities", ()))
    if form.get("nyc_resident"):
        chosen.add("NYC")
    yonkers = form.get("yonkers", "none")
    if yonkers != "none":
        chosen.add("YONKERS" if yonkers == "resident" else "YONKERS-NONRESIDENT")
    return [tax for tax in law(year, "local", "NY.toml")["local"] if tax["locality"] in chosen]


def new_york_place(
    tax: dict,
    gross: Fraction,
    flat: Fraction,
    frequency: str,
    form: dict,
    asked: dict,
    state_tax: Fraction,
    periods: dict,
) -> Fraction:
    """NYS-50-T-NYC and NYS-50-T-Y: regular pay by method, flat supplemental pay at the city's own rate."""
    figures = tax["figures"]
    regular = gross - flat
    if tax["locality"] == "NYC":
        amount = printed_tables(
            figures, new_york_status(form), regular, frequency, form.get("nyc_allowances", 0), periods
        )
        extra = asked.get("nyc_additional_withholding", 0)
    elif tax["locality"] == "YONKERS":
        amount = to_the_cent(state_tax * figures["rate"])
        extra = asked.get("yonkers_additional_withholding", 0)
    else:
        printed = frequency in figures["bands"]
        times = 1 if printed else periods[frequency]
        bands = figures["bands"][frequency if printed else "annual"]
        band = [band for band in bands if band["from"] <= regular * times][-1]
        amount = ZERO
        if "exclusion" in band:
            amount = to_the_cent((regular * times - band["exclusion"]) * figures["rate"] / times)
        extra = asked.get("yonkers_additional_withholding", 0)
    return amount + to_the_cent(flat * tax["supplemental_rate"]) + Fraction(extra)


# --- flat-rate taxes ---------------------------------------------------------------------------------------------


def liabilities_off(given: dict) -> set[str]:
    """Return what the household switched off, and what its expected wages stay below."""
    employer = given.get("employer", {})
    off = {name for name in ("fica", "futa", "sui") if not employer.get(f"{name}_liable", True)}
    if "annual_wages_expected" in given:
        expected = Fraction(given["annual_wages_expected"])
        thresholds = law("household_thresholds.toml")
        year = int(given["pay_date"][:4])
        if expected < next(row["cash_wages"] for row in thresholds["fica"] if row["tax_year"] == year):
            off.add("fica")
        if expected / 4 < thresholds["futa"]["cash_wages"]:
            off.add("futa")
        rows = next(row for row in thresholds["state"] if row["state"] == given["work_state"])
        off |= {row["liability"] for row in rows["threshold"] if expected / 4 < row["cash_wages"]}
    return off


def contribution_lines(year: str, given: dict) -> list[Line]:
    """Every flat-rate tax in force on the pay date: federal first, then the state's."""
    federal = law(year, "us.toml")
    taxes = [*federal["contribution"], *law(year, "states", f"{given['work_state']}.toml")["contribution"]]
    gross = Fraction(given["regular_wages"]) + Fraction(given.get("supplemental_wages", 0))
    employer, ytd, ytd_tax = (given.get(key, {}) for key in ("employer", "ytd", "ytd_tax"))
    off = liabilities_off(given)
    lines = []
    for tax in taxes:
        code, payer, rate = tax["code"], tax["payer"], tax["rate"]
        begins, ends = tax["effective_from"].isoformat(), tax.get("effective_to")
        if not begins <= given["pay_date"] <= (ends.isoformat() if ends else "9999"):
            continue
        if code in employer.get("waived_lines", ()):
            continue
        if tax["liability"] in off or given.get("relationship", "none") in tax.get(
            "exempt_relationships", ()
        ):
            if tax.get("always_shown", True):
                lines.append(Line(code, payer, ZERO, ZERO, ZERO))
            continue
        if tax.get("assigned_rate") and "sui_rate" in employer:
            rate = Fraction(employer["sui_rate"])
        before = Fraction(ytd.get(tax.get("ytd_code", code), 0))
        counted = gross
        if "follows" in tax:
            counted = sum((line.taxable for line in lines if line.code == tax["follows"]), ZERO)
        after = before + counted
        base, floor = tax.get("wage_base"), tax.get("wage_floor")
        taxable = counted
        if floor is not None:
            taxable = floor_zero(after - floor) - floor_zero(before - floor)
        elif base is not None:
            taxable = floor_zero(min(after, Fraction(base)) - before)
        amount = to_the_cent(taxable * rate)
        if "weekly_maximum" in tax:
            weeks = Fraction(52, federal["pay_periods"][given["pay_frequency"]])
            maximum = to_the_cent(tax["weekly_maximum"] * weeks)
            if amount > maximum:
                amount, taxable = maximum, min(taxable, to_the_cent(maximum / rate))
        if base is not None and taxable and code in ytd_tax:
            paid = Fraction(ytd_tax[code])
            # More than a year's rounding apart: another rate applied earlier, or nothing was withheld.
            if abs(paid - to_the_cent(before * rate)) <= MOST_ROUNDING:
                left = floor_zero(to_the_cent(base * rate) - paid)
                amount = left if after >= base else min(amount, left)
        if taxable or tax.get("always_shown", True):
            lines.append(Line(code, payer, gross, taxable, amount))
    return lines


# --- the paycheck ------------------------------------------------------------------------------------------------


def expected_lines(given: dict) -> list[Line]:
    """Return every line of the paycheck in its order: income taxes, then contributions; net pay never below 0."""
    year = given["pay_date"][:4]
    federal, state = federal_lines(year, given), state_lines(year, given)
    contributions = contribution_lines(year, given)
    income_taxes = federal + state
    gross = Fraction(given["regular_wages"]) + Fraction(given.get("supplemental_wages", 0))
    left = gross - sum(line.amount for line in contributions if line.payer == "employee")
    excess = sum(line.amount for line in income_taxes) - left
    # Cities give way first, then the state, then the federal tax by certificate, then that on supplemental wages.
    for position in (*reversed(range(len(federal), len(income_taxes))), *range(len(federal))):
        line = income_taxes[position]
        cut = min(line.amount, floor_zero(excess))
        income_taxes[position] = line._replace(amount=line.amount - cut)
        excess -= cut
    return income_taxes + contributions


# --- the year ----------------------------------------------------------------------------------------------------


class YearLine(NamedTuple):
    """What a capped tax of a year must come to, in dollars, and how far the rounding of payments may move it."""

    payer: str
    taxable: Fraction
    tax: Fraction
    slack: Fraction


def capped_taxes(year: str, state: str) -> list[dict]:
    taxes = [*law(year, "us.toml")["contribution"], *law(year, "states", f"{state}.toml")["contribution"]]
    return [tax for tax in taxes if "wage_base" in tax or "wage_floor" in tax]


def part_taxed(tax: dict, wages: Fraction) -> Fraction:
    """Return the part of a year's wages that lies below the base, or above the floor."""
    if "wage_floor" in tax:
        return floor_zero(wages - tax["wage_floor"])
    return min(wages, Fraction(tax["wage_base"]))


def year_by_its_wages(paychecks: list[dict], prior: dict[str, Fraction] | None = None) -> dict[str, YearLine]:
    """Return every capped tax of a year from the wages of its paychecks alone, in the order they were paid out.

    ``prior`` are wages by line that another payroll had taxed before at the law's own rate; they fill the base first.

    A paycheck is its ``pay_date``, ``work_state``, ``wages`` and, where the state assigned one, ``sui_rate``. Each
    bears its own rate on what the earlier ones left of the base. A tax of one rate ends on exactly base times rate
    to the cent, unless the payment that reaches the base is smaller than the cents it would have to settle.
    """
    found: dict[str, YearLine] = {}
    wages: dict[str, Fraction] = dict(prior or {})
    rates: dict[str, set[Fraction]] = {}
    last: dict[str, Fraction] = {}
    bases: dict[str, Fraction] = {}
    for paid in paychecks:
        gross = Fraction(paid["wages"])
        taxed_here: dict[str, Fraction] = {}
        for tax in capped_taxes(paid["pay_date"][:4], paid["work_state"]):
            code, ends = tax["code"], tax.get("effective_to")
            if (
                not tax["effective_from"].isoformat()
                <= paid["pay_date"]
                <= (ends.isoformat() if ends else "9999")
            ):
                continue
            rate = Fraction(tax["rate"])
            if tax.get("assigned_rate") and paid.get("sui_rate") is not None:
                rate = Fraction(paid["sui_rate"])
            before = wages.get(code, ZERO)
            subject = taxed_here.get(tax["follows"], ZERO) if "follows" in tax else gross
            wages[code] = before + subject
            fresh = part_taxed(tax, before + subject) - part_taxed(tax, before)
            taxed_here[code] = fresh
            line = found.get(code, YearLine(tax["payer"], ZERO, ZERO, ZERO))
            found[code] = YearLine(
                tax["payer"], line.taxable + fresh, line.tax + fresh * rate, line.slack + CENT / 2
            )
            if prior and code in prior:
                rates.setdefault(code, set()).add(Fraction(tax["rate"]))
            if fresh:
                rates.setdefault(code, set()).add(rate)
                last[code] = fresh
            bases[code] = Fraction(tax.get("wage_base", 0))
    for code, line in found.items():
        one_rate = len(rates.get(code, ())) <= 1
        if not one_rate:
            found[code] = line._replace(slack=MOST_ROUNDING)
        elif prior and code in prior:
            found[code] = line._replace(slack=line.slack + CENT)  # what the other payroll rounded
        elif line.taxable and line.taxable == bases[code] and last[code] > 1:
            found[code] = line._replace(tax=to_the_cent(line.tax), slack=ZERO)
    return found
