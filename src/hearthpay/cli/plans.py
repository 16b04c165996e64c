"""`hearthpay plans`: what the plans include, from the program's own data, without a database."""

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hearthpay.access.plans import LimitName, Plan


def plans() -> None:
    """List the plans: their limits, by the names that `organizations lift` takes, and what they include."""
    from rich.console import Console
    from rich.table import Table

    from hearthpay.access.plans import FEATURES, LIMITS, NEW_ORGANIZATIONS, PLANS

    console = Console()
    limits = Table("Limit", *PLANS)
    for limit in LIMITS:
        limits.add_row(limit, *(_number(plan, limit) for plan in PLANS.values()))
    console.print(limits)
    features = Table("Included", *PLANS)
    for feature in FEATURES:
        features.add_row(feature, *("yes" if feature in plan.features else "" for plan in PLANS.values()))
    console.print(features)
    console.print(f"A new organization is on the plan {NEW_ORGANIZATIONS} unless another is named.")


def _number(plan: "Plan", limit: "LimitName") -> str:
    number = f"{asdict(plan.limits)[limit]:,}"
    return f"{number} (add-on: {plan.add_on[limit]:,})" if limit in plan.add_on else number
