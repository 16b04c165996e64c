"""Sensitive actions: those of the audit log that are reported to people who could object, no matter who did
them and how.

Each rule says when an action is sensitive, and who is notified besides the owners and admins of the organization.
Actions that notify people in their own transaction, or that harm nobody, have no rule; a test lists those.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Concerned = Literal["household", "employee", "member"]
"""Besides owners and admins: the household's own address, the employee concerned, or the member."""

Details = Mapping[str, Any]

PAY: Final = frozenset({"pay_type", "pay_rate", "salary", "salary_per", "overtime_rate"})
"""The settings that make an employee's pay."""
OF_MONEY: Final = frozenset(
    {"payroll", "employees", "documents", "ach", "multi_employer", "state_registrations", "onboarding"}
)
"""Scopes by which money or addresses change, or wages are read: all but the calculator's."""


@dataclass(frozen=True, slots=True)
class SensitiveActionRule:
    """A reported action: to whom, for which settings, and for which kinds of invitation or role."""

    concerned: Concerned
    settings: frozenset[str] = frozenset()
    """Only if one of these changed; empty: always."""

    informs_of: frozenset[str] = frozenset()
    """If only these changed, it is reported to the person concerned alone."""

    informs: bool = False
    """Whether it is always reported to the person concerned alone."""

    detail: str | None = None
    among: frozenset[str] = frozenset()
    """Only if this detail is, or contains, one of these."""

    unless: str | None = None
    """Not if there is this detail: then it is reported otherwise."""

    proved: bool = True
    """Whether the doctor proves that each was reported; not for what earlier versions did without a report."""

    everyone: bool = False
    """Whether we email all members, viewers too, and every household at its own address."""

    @property
    def always(self) -> bool:
        """Whether it is reported whatever its details are, and has been in every version."""
        return self.proved and not self.settings and self.detail is None and self.unless is None

    def concerns_only_one(self, details: Details) -> bool:
        """Return whether an action with these details is reported to the person concerned alone."""
        return self.informs or bool(self.settings and self.settings.isdisjoint(details.get("before", {})))

    def matches(self, details: Details) -> bool:
        """Return whether an action with these details is reported."""
        if self.unless is not None and details.get(self.unless) is not None:
            return False
        if "before" in details and details["before"] == details.get("after"):
            return False  # nothing changed
        named = self.settings | self.informs_of
        if named and named.isdisjoint(details.get("before", {})):
            return False
        if self.detail is None:
            return True
        found = details.get(self.detail)
        held = found if isinstance(found, list | tuple) else (found,)
        return not self.among.isdisjoint(held)


DELICATE_ACTS: Final[Mapping[str, SensitiveActionRule]] = {
    "employer.update": SensitiveActionRule("household", settings=frozenset({"email"})),
    "employer.restore_address": SensitiveActionRule("household", proved=False),
    "employee.update": SensitiveActionRule(
        "employee",
        settings=PAY | {"email", "payment_method"},
        informs_of=frozenset({"federal_withholding", "state_withholding"}),
    ),
    "employee.restore_address": SensitiveActionRule("employee", proved=False),
    "employee.terminate": SensitiveActionRule("employee", informs=True, proved=False),
    "employee.reinstate": SensitiveActionRule("employee", informs=True, proved=False),
    "escrow.set_rule": SensitiveActionRule("employee", informs=True, unless="request_id", proved=False),
    "employee.unlink": SensitiveActionRule("employee"),
    "invitation.create": SensitiveActionRule("employee", detail="type", among=frozenset({"bank_account"})),
    "account_change.ask": SensitiveActionRule("household"),
    "bank_account.connect": SensitiveActionRule("employee"),
    "bank_account.disconnect": SensitiveActionRule("employee"),
    "key.create": SensitiveActionRule("household", detail="scopes", among=OF_MONEY),
    "agent.connect": SensitiveActionRule("household"),
    "member.invite": SensitiveActionRule("household"),
    "member.join": SensitiveActionRule("member"),
    "member.change_role": SensitiveActionRule("member"),
    "member.ask_to_leave": SensitiveActionRule("member"),
    "member.remove": SensitiveActionRule("member"),
    "member.leave": SensitiveActionRule("member"),
    "member.change_role_by_operator": SensitiveActionRule("member", everyone=True),
    "member.remove_by_operator": SensitiveActionRule("member", everyone=True),
    "calendar_link.create": SensitiveActionRule("household"),
    "organization.freeze": SensitiveActionRule("household"),
    "organization.unfreeze": SensitiveActionRule("household"),
    "household.freeze": SensitiveActionRule("household"),
    "household.unfreeze": SensitiveActionRule("household"),
}
"""The rules by the action's name in the audit log."""


def is_delicate(action: str, details: Details) -> bool:
    """Return whether this action is reported."""
    act = DELICATE_ACTS.get(action)
    return act is not None and act.matches(details)
