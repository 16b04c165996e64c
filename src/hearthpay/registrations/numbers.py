"""What may be said of an agency's number without giving it away: whether it looks right."""

from hearthpay.registrations.accounts import NumberFormat


def format_warning(number: str, expected: NumberFormat) -> str | None:
    """Return what to tell whoever typed a number that does not look as the agency prints it; None where it does.

    It is no reason to refuse the number: agencies change their formats, and ours are gathered from guides. The
    number itself is never repeated.
    """
    if expected.pattern is None or expected.pattern.fullmatch(number.strip().upper()):
        return None
    warning = f"does not look as it is usually printed, {expected.shape}"
    return f"{warning} ({expected.note})" if expected.note else warning
