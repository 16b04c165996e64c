"""The names of kinds of accounts, and of their frequencies and statuses."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from hearthpay.duties.frequency import FrequencyReason
from hearthpay.languages.catalogue import mark

ACCOUNT_WORDS: Final[Mapping[str, str]] = {
    "sui": mark("Unemployment insurance"),
    "withholding": mark("Income tax withheld"),
    "sdi": mark("Disability insurance"),
    "pfml": mark("Paid family and medical leave"),
    "other": mark("Another account"),
    "local": mark("Local tax"),
    "estimated-tax": mark("Estimated tax of your own (Form 1040-ES)"),
}
"""By the types of registrations, and by the names of accounts that a household files under."""

POLICY_WORDS: Final[Mapping[str, str]] = {
    "workers_compensation": mark("Workers’ compensation"),
    "disability": mark("Disability and paid family leave policy"),
}
"""By the kinds of insurance policies."""

FREQUENCY_WORDS: Final[Mapping[str, str]] = {
    "quarterly": mark("every quarter"),
    "annual": mark("once a year"),
    "monthly": mark("every month"),
    "own_return": mark("with your own income tax return"),
    "semiannual": mark("twice a year"),
    "monthly_early": mark("every month, by the 20th"),
    "semimonthly": mark("twice a month"),
    "quarter_monthly": mark("four times a month"),
    "eighth_monthly": mark("eight times a month"),
    "semiweekly": mark("twice a week"),
    "weekly": mark("every week"),
    "payday": mark("after each payday"),
    "instalments": mark("in four installments"),
    "own_withholding": mark("by withholding from wages of your own"),
}
"""By the frequencies of the duties' rule files."""

_REASON_WORDS: Final[Mapping[str, str]] = {
    "only": mark("The agency has no other schedule."),
    "chosen": mark("This is what you entered."),
    "household_rule": mark("This is the rule for household employers."),
    "assigned": mark("This is the usual schedule. If the agency’s letter says otherwise, change it."),
    "new_account": mark("New accounts start this way."),
    "nothing_yet": mark("No tax has been withheld yet."),
    "reached month": mark("You withheld {measured} in one month. The limit is {limit}."),
    "reached quarter": mark(
        "You withheld {measured} this quarter. By its end it may be {expected}. The limit is {limit}."
    ),
    "reached quarter_before": mark("You withheld {measured} in the quarter before. The limit is {limit}."),
    "reached year": mark(
        "You withheld {measured} this year. By its end it may be {expected}. The limit is {limit}."
    ),
    "reached year_before": mark("You withheld {measured} last year. The limit is {limit}."),
    "reached july_june": mark(
        "You withheld {measured} in the 12 months that ended last June 30. The limit is {limit}."
    ),
    "below month": mark("You withheld {measured} in one month. This schedule ends at {next_limit}."),
    "below quarter": mark(
        "You withheld {measured} this quarter. By its end it may be {expected}. This schedule ends at {next_limit}."
    ),
    "below quarter_before": mark(
        "You withheld {measured} in the quarter before. This schedule ends at {next_limit}."
    ),
    "below year": mark(
        "You withheld {measured} this year. By its end it may be {expected}. This schedule ends at {next_limit}."
    ),
    "below year_before": mark("You withheld {measured} last year. This schedule ends at {next_limit}."),
    "below july_june": mark(
        "You withheld {measured} in the 12 months that ended last June 30. This schedule ends at {next_limit}."
    ),
}
"""By the code of a reason; for limits, by the measure they apply to."""

_NEAR: Final = mark("You are near the limit of {next_limit}. From there on, you file {how_often}.")


def reason_text(
    reason: FrequencyReason, say: Callable[..., str], money: Callable[[int], str]
) -> tuple[str, str | None]:
    """Return the reason for a filing frequency, with a warning near the next limit, in the reader's language."""
    amounts: dict[str, Any] = {
        name: money(cents)
        for name in ("measured", "expected", "limit", "next_limit")
        if (cents := getattr(reason, name)) is not None
    }
    code: str = reason.code
    if code in ("reached", "below"):
        # An account without a look-back period is judged by its first year.
        code += (
            " year" if reason.expected is not None and reason.measure != "quarter" else f" {reason.measure}"
        )
    near = None
    if reason.is_near and reason.next_frequency is not None:
        how_often = say(FREQUENCY_WORDS[reason.next_frequency])
        near = say(_NEAR, next_limit=amounts["next_limit"], how_often=how_often)
    return say(_REASON_WORDS[code], **amounts), near
