"""What a calculation says besides its figures: a code for programs, with parameters, and English words for the two.

A `Message` is compared, stored and counted by its code; nobody reads a sentence to find out what it means. Who shows it
to people renders it in their language from the same parameters; `text` is its English.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, Literal, NamedTuple, cast, get_args

MessageCode = Literal[
    # What the rules leave open.
    "figure_not_verified",
    "figures_not_verified",
    "figures_of_version_not_verified",
    "figures_not_published",
    "figure_unknown",
    "withholding_limited_to_pay",
    "other_state_not_withheld",
    "state_limitation",
    # What was taken for granted.
    "county_not_chosen",
    "county_rate_assumed",
    "municipality_not_chosen",
    "city_not_chosen",
    "home_locality_not_withheld",
    "month_taken_from_first_payday",
    "month_without_first_payday",
    "city_tax_voluntary",
    "city_tax_not_owed",
    "city_tax_unknown",
    "period_shorter_than_frequency",
    "period_longer_than_frequency",
    "period_does_not_fit",
    # What labor law may not allow.
    "below_minimum_wage",
    "salary_below_minimum_wage",
    "overtime_paid_as_regular",
    "salary_without_overtime",
    "salary_hours_beyond_overtime",
    "overtime_rate_too_low",
    # What to know about a paycheck.
    "thresholds_assumed",
    "below_thresholds",
    "fica_below_threshold",
    "fica_repaid",
    "earlier_wages_charged",
    "earlier_wages_returned",
    "earlier_wages_carried",
    "paid_by_check",
    "paid_by_cash",
    "set_aside_limited",
    "salary_prorated",
    "salary_prorated_unpaid",
    "weekly_hours_assumed",
    "hours_rounded",
    "pay_date_before_closed_day",
    "pay_date_before_closed_day_in_other_year",
    "pay_date_too_soon",
    "pay_date_too_soon_in_other_year",
    "deposit_not_in_time",
    "period_paid_already",
    "paid_beside",
    "paid_beside_as_supplemental",
    # Parts of a message.
    "part_salary",
    "part_hours",
    "part_bonus",
    "part_other_earnings",
    "part_line_amount",
    "part_threshold",
    "part_threshold_of_period",
    # What is wrong with a request.
    "required",
    "secret_number",
    "out_of_range",
    "too_many_decimals",
    "nothing_to_pay",
    "no_paid_day",
    "more_unpaid_days_than_worked",
    "more_hours_than_period",
    "period_ends_before_start",
    "ends_before_start",
    "paid_before_period",
    "past_pay_ahead",
    "pay_date_needed",
    "not_a_pay_period",
    # What was written before messages had codes.
    "recorded",
]
"""Every message by its code. A code never changes its meaning; its words may."""

CODES: Final[tuple[MessageCode, ...]] = get_args(MessageCode)


class DollarAmount(NamedTuple):
    """An amount of money in a message."""

    cents: int

    @property
    def dollars(self) -> Decimal:
        """The amount in dollars, with two decimals."""
        return Decimal(self.cents).scaleb(-2)

    def __str__(self) -> str:
        """Return dollars and cents: 1,234.50."""
        return f"{self.dollars:,}"


Parameter = "str | int | Decimal | datetime.date | DollarAmount | Message | tuple[Message, ...]"
"""What a message can name: words, numbers, a day, an amount, or messages that are parts of it."""


class Message(NamedTuple):
    """A code with its parameters, by name and in a fixed order; equal where both are."""

    code: MessageCode
    params: tuple[tuple[str, object], ...] = ()

    @property
    def text(self) -> str:
        """Return the message in English."""
        return english(self)

    def param(self, name: str) -> object:
        """Return a parameter; raises KeyError for one that the message does not have."""
        return dict(self.params)[name]


def message(code: MessageCode, **params: object) -> Message:
    """Return the message of a code with its parameters."""
    return Message(code, tuple(params.items()))


def of_text(code: str, text: str) -> Message:
    """Return a message whose words come from a rule file, by the code that the file names."""
    return Message(cast("MessageCode", code), (("text", text),))


class Joined:
    """Several texts in one place of a sentence: the format of the place is what stands between them."""

    __slots__ = ("texts",)

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(texts)

    def __format__(self, between: str) -> str:
        """Return the texts, with ``between`` between them; a comma where nothing is named."""
        return (between or ", ").join(self.texts)


_TEXT: Final = "{text}"

ENGLISH: Final[Mapping[MessageCode, str]] = {
    "figure_not_verified": "{line}: {note}",
    "figures_not_verified": "{line}: {note}",
    "figures_of_version_not_verified": "{line}: the figures of {day} could not be fully verified.",
    "figures_not_published": (
        "The {year} figures for {lines} aren't published yet. We use the current figures until they are."
    ),
    "figure_unknown": (
        "The {year} figures for {line} aren't published yet, and no other figures can be used."
    ),
    "withholding_limited_to_pay": (
        "Income tax withholding was limited to the pay that was left after other deductions."
    ),
    "other_state_not_withheld": (
        "The employee lives in {home}: only {state} income tax is withheld; what {home} may ask beyond it is not."
    ),
    "state_limitation": _TEXT,
    "county_not_chosen": _TEXT,
    "county_rate_assumed": _TEXT,
    "municipality_not_chosen": _TEXT,
    "city_not_chosen": _TEXT,
    "home_locality_not_withheld": _TEXT,
    "month_taken_from_first_payday": _TEXT,
    "month_without_first_payday": _TEXT,
    "city_tax_voluntary": _TEXT,
    "city_tax_not_owed": _TEXT,
    "city_tax_unknown": _TEXT,
    "period_shorter_than_frequency": _TEXT,
    "period_longer_than_frequency": _TEXT,
    "period_does_not_fit": "About the pay period: {text}.",
    "below_minimum_wage": _TEXT,
    "salary_below_minimum_wage": _TEXT,
    "overtime_paid_as_regular": _TEXT,
    "salary_without_overtime": _TEXT,
    "salary_hours_beyond_overtime": _TEXT,
    "overtime_rate_too_low": _TEXT,
    "thresholds_assumed": (
        "Charged from the first dollar, because we assume you'll reach {thresholds:; } in a calendar quarter. Below "
        "that, nothing is owed."
    ),
    "below_thresholds": (
        "Not charged, because the wages paid so far are below the threshold: {thresholds:; }. Once they reach it, "
        "it is charged back to the first dollar."
    ),
    "fica_below_threshold": (
        "Social Security and Medicare are withheld, although the year's wages are still below {amount}. If the year "
        "ends below it, nothing was due: repay the employee with a run with the notes fica-refund."
    ),
    "fica_repaid": (
        "Repays what was withheld for Social Security and Medicare of {year}: the year's wages of {wages} stay below "
        "{threshold}. Have the employee sign a receipt with the date and the amount, and keep it. If more wages of "
        "the year are paid and reach the threshold, all of it is due again."
    ),
    "earlier_wages_charged": "Added here, because too little was withheld from earlier wages of the year: {lines}.",
    "earlier_wages_returned": ("Refunded here, because too much was withheld earlier this year: {lines}."),
    "earlier_wages_carried": (
        "Net pay is too small to withhold everything owed for earlier wages. Carried to the next paycheck: {lines}."
    ),
    "paid_by_check": "The employee is set up for direct deposit; this paycheck is paid by check.",
    "paid_by_cash": "The employee is set up for direct deposit; this paycheck is paid by cash.",
    "set_aside_limited": "Less was set aside than asked for, because net pay can't be negative.",
    "salary_prorated": ("The salary is prorated: {paid} of {all} working days are paid, {pay} of {full}."),
    "salary_prorated_unpaid": (
        "The salary is prorated: {paid} of {all} working days are paid, {unpaid} taken as unpaid, {pay} of {full}."
    ),
    "weekly_hours_assumed": (
        "usual_weekly_hours is not set: {hours} hours a week are assumed for the minimum wage and overtime."
    ),
    "hours_rounded": "{field} {asked} was rounded to {paid}: hours have at most 3 decimals.",
    "pay_date_before_closed_day": (
        "Banks are closed on {asked}: the money arrives on {day}, which is the pay date."
    ),
    "pay_date_before_closed_day_in_other_year": (
        "Banks are closed on {asked}: the money arrives on {day}, which is the pay date, so these wages belong to "
        "{year}."
    ),
    "pay_date_too_soon": (
        "The money could not arrive by {asked}: it arrives on {day}, which is the pay date."
    ),
    "pay_date_too_soon_in_other_year": (
        "The money could not arrive by {asked}: it arrives on {day}, which is the pay date, so these wages belong to "
        "{year}."
    ),
    "deposit_not_in_time": (
        "Direct deposit cannot arrive by {day}: its next valid pay date is {earliest}. A check or cash can be paid on "
        "any day."
    ),
    "period_paid_already": (
        "The same is paid already: payroll {payroll}, with the pay date {day}, pays {parts: and } for {start} to "
        "{end}. If this repeats it by mistake, void one of the two."
    ),
    "paid_beside": (
        "This paycheck comes on top of another of the same time: payroll {payroll}, with the pay date {day}, pays "
        "{parts: and } for {start} to {end}."
    ),
    "paid_beside_as_supplemental": (
        "This paycheck comes on top of another of the same time: payroll {payroll}, with the pay date {day}, pays "
        "{parts: and } for {start} to {end}. It is taxed as supplemental wages."
    ),
    "part_salary": "the salary",
    "part_hours": "{hours} hours",
    "part_bonus": "a bonus of {amount}",
    "part_other_earnings": "other earnings of {amount}",
    "part_line_amount": "{line} {amount}",
    "part_threshold": "{name} {amount}",
    "part_threshold_of_period": "{name} (from {amount} in a {period})",
    "required": "is required",
    "secret_number": (
        "looks like a Social Security or bank account number, which the API never takes; let the employee enter it in "
        "the portal"
    ),
    "out_of_range": "must be between {minimum} and {maximum}",
    "too_many_decimals": "must have at most {places} decimals",
    "nothing_to_pay": "hours, a bonus or other earnings are needed: there is nothing to pay",
    "no_paid_day": "leaves no working day that a salary is paid for: nothing to pay",
    "more_unpaid_days_than_worked": "Enter at most {days}, the working days of the employment.",
    "more_hours_than_period": ("Enter at most {hours} hours, overtime included: the pay period has no more."),
    "period_ends_before_start": "must not be before pay_period_start",
    "ends_before_start": "Choose a date on or after the start of the period.",
    "paid_before_period": "must not be before pay_period_start",
    "past_pay_ahead": "of a catch-up payroll must not be in the future",
    "pay_date_needed": "is required: the earliest, {day}, is before the pay period",
    "not_a_pay_period": (
        "a period from {start} to {end} has {days} days, which is no {frequency} period: income tax would take its pay "
        "for that of {noun}"
    ),
    "recorded": _TEXT,
}
"""Each message in English."""


def english(said: Message) -> str:
    """Return a message in English: days as 2026-11-24, amounts as 1,234.50."""
    return ENGLISH[said.code].format(**{name: _in_english(value) for name, value in said.params})


def texts(messages: Iterable[Message]) -> tuple[str, ...]:
    """Return messages in English, in their order."""
    return tuple(english(each) for each in messages)


def _in_english(value: object) -> object:
    if isinstance(value, Message):
        return english(value)
    if isinstance(value, tuple) and not isinstance(value, DollarAmount):
        return Joined(english(each) for each in value)
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return str(value)


def parameters(said: Message) -> dict[str, object]:
    """Return the parameters as the API answers them: amounts as dollars, parts of a message as objects."""
    return {name: _plain(value) for name, value in said.params}


def _plain(value: object) -> object:
    if isinstance(value, Message):
        return {"code": value.code, "params": parameters(value)}
    if isinstance(value, DollarAmount):
        return value.dollars
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def to_json(said: Message) -> list[object]:
    """Return a message as it is stored: its code, and each parameter with its kind, so that it can be read again."""
    return [said.code, {name: _stored(value) for name, value in said.params}]


def of_json(stored: object) -> Message:
    """Return a stored message; a sentence from before there were codes stays what it was, as `recorded`."""
    if isinstance(stored, str):
        return message("recorded", text=stored)
    code, params = cast("tuple[MessageCode, dict[str, list[object]]]", stored)
    return Message(code, tuple((name, _read(value)) for name, value in params.items()))


def _stored(value: object) -> list[object]:
    match value:
        case Message():
            return ["message", to_json(value)]
        case DollarAmount():
            return ["money", value.cents]
        case tuple():
            return ["messages", [to_json(each) for each in value]]
        case datetime.date():
            return ["day", value.isoformat()]
        case Decimal():
            return ["number", f"{value:f}"]
        case int():
            return ["integer", value]
        case _:
            return ["text", str(value)]


def _read(stored: list[object]) -> object:
    kind, value = stored
    match kind:
        case "message":
            return of_json(value)
        case "money":
            return DollarAmount(cast("int", value))
        case "messages":
            return tuple(of_json(each) for each in cast("list[object]", value))
        case "day":
            return datetime.date.fromisoformat(str(value))
        case "number":
            return Decimal(str(value))
        case _:
            return value
