"""Plans: what an organization may use and how much of it, as defined in `plans.toml`.

`Terms` are an organization's plan with the limits that the operator replaced for it; every `Actor` carries them.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

Feature = Literal[
    "calculator",
    "payroll",
    "employees",
    "documents",
    "state_registrations",
    "multi_employer",
    "ach",
    "autopilot",
    "test_keys",
]
FEATURES: Final[tuple[Feature, ...]] = get_args(Feature)

LimitName = Literal["requests_per_day", "employees_per_household", "households", "sandbox_households", "keys"]
LIMITS: Final[tuple[LimitName, ...]] = get_args(LimitName)

HIGHEST_LIMIT: Final = 1_000_000_000
"""The largest limit; for more, the operator sets no limit."""

_FILE: Final = Path(__file__).with_name("plans.toml")

_Amount = Annotated[int, Field(strict=True, ge=0, le=HIGHEST_LIMIT)]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of each an organization may have; None: no limit (only if the operator says so)."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    requests_per_day: _Amount | None
    employees_per_household: _Amount | None
    households: _Amount | None
    sandbox_households: _Amount | None
    keys: _Amount | None


@dataclass(frozen=True, slots=True)
class Plan:
    """One plan. `add_on` is the limit up to which the plan can usually be extended for a fee; it isn't enforced."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    features: frozenset[Feature]
    limits: Limits
    add_on: dict[LimitName, _Amount] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlanFile:
    """The plans by name, smallest first, and the one that new organizations get."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    new_organizations: str
    plans: dict[str, Plan]


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of one organization: its plan's name and features, and its limits with the operator's replacements."""

    plan: str
    features: frozenset[Feature]
    limits: Limits


def read_plans(text: str) -> PlanFile:
    """Return the plans that `text`, TOML, describes.

    Raises ValueError (TOML, keys, types of values; a plan that lacks what a smaller one has; an unknown plan for new
    organizations).
    """
    try:
        file = TypeAdapter(PlanFile).validate_python(tomllib.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"plans: {where}: {first['msg']}") from None
    if file.new_organizations not in file.plans:
        raise ValueError(f"plans: new_organizations: there is no plan {file.new_organizations!r}")
    for (smaller, less), (larger, more) in pairwise(file.plans.items()):
        if not less.features <= more.features:
            raise ValueError(f"plans: {larger} lacks features of {smaller}")
        if any(
            a > b for a, b in zip(asdict(less.limits).values(), asdict(more.limits).values(), strict=True)
        ):
            raise ValueError(f"plans: {larger} has a lower limit than {smaller}")
    return file


_PLANS: Final = read_plans(_FILE.read_text("utf-8"))
PLANS: Final[Mapping[str, Plan]] = _PLANS.plans
"""The plans by name, smallest first."""
NEW_ORGANIZATIONS: Final = _PLANS.new_organizations
"""The plan of an organization that is created without naming one."""


NOTHING: Final = Terms("none", frozenset(), Limits(0, 0, 0, 0, 0))
"""The terms of an actor who uses no plan feature."""


def terms_of(plan: str, lifted: Mapping[str, int | None]) -> Terms:
    """Return the terms of an organization on `plan` with the limits in `lifted` replaced (None: no limit).

    Raises LookupError for an unknown plan and TypeError for an unknown limit: values that this program doesn't know
    must not be guessed at.
    """
    known = PLANS.get(plan)
    if known is None:
        raise LookupError(f"an organization has the plan {plan!r}, which plans.toml does not know")
    return Terms(plan, known.features, replace(known.limits, **lifted))


def required_plan(feature: Feature) -> str:
    """Return the smallest plan that includes `feature`."""
    return next(name for name, plan in PLANS.items() if feature in plan.features)
