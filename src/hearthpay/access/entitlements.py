"""Refusals of what exceeds an organization's plan: a missing feature, or a limit reached."""

from collections.abc import Mapping
from typing import Final

from hearthpay.access.plans import Feature, LimitName, Terms, required_plan
from hearthpay.access.refusal import Refusal

_COUNTED: Final[Mapping[LimitName, tuple[str, str]]] = {
    "employees_per_household": ("active employee in a household", "active employees in a household"),
    "households": ("household", "households"),
    "sandbox_households": ("sandbox household", "sandbox households"),
    "keys": ("API key in force", "API keys in force"),
}
"""What each limit counts, in the singular and plural."""


def refuse_missing_feature(terms: Terms, feature: Feature) -> None:
    """Raise `subscription_required` if the organization's plan doesn't include `feature`."""
    if feature not in terms.features:
        needed = required_plan(feature)
        raise Refusal(
            "subscription_required",
            f"The plan '{terms.plan}' does not include {feature.replace('_', ' ')}; the smallest plan that does is "
            f"'{needed}'.",
            details={"plan": terms.plan, "required_plan": needed, "feature": feature},
        )


def refuse_beyond(terms: Terms, limit: LimitName, current: int) -> None:
    """Raise `plan_limit_reached` if one more than `current` would exceed the limit.

    The caller holds the lock under which it counted. What already exceeds a smaller plan stays.
    """
    allowed: int | None = getattr(terms.limits, limit)
    if allowed is not None and current >= allowed:
        raise Refusal(
            "plan_limit_reached",
            f"The plan '{terms.plan}' allows {allowed} {_COUNTED[limit][allowed != 1]}; there "
            f"{'is' if current == 1 else 'are'} {current}.",
            details={"plan": terms.plan, "limit": allowed, "current": current, "limit_name": limit},
        )


def refuse_long_payroll(terms: Terms, employees: int) -> None:
    """Raise `too_many_employees` if a payroll lists more employees than the plan allows for a household."""
    allowed = terms.limits.employees_per_household
    if allowed is not None and employees > allowed:
        raise Refusal(
            "too_many_employees",
            f"employees has {employees} entries; the plan '{terms.plan}' allows {allowed} in one payroll.",
            details={"plan": terms.plan, "limit": allowed, "current": employees},
        )
