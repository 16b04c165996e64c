"""Which acts of the audit log are told to those who could object, whoever did them and by whatever door.

A row for each delicate act: when it is one, and who is told of it besides the owners and admins of the organization.
What is told in the transaction of the act itself, or is nobody's loss, has no row here; a test lists those.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Concerned = Literal["household", "employee", "member"]
"""Besides owners and admins: the household's own address, the employee concerned with it, or the member."""

Details = Mapping[str, Any]

_PAY: Final = frozenset({"pay_type", "pay_rate", "salary", "salary_per", "overtime_rate"})
OF_MONEY: Final = frozenset(
    {"payroll", "employees", "documents", "ach", "multi_employer", "state_registrations", "onboarding"}
)
"""Scopes of a key by which money or addresses change, or wages are read: any but the calculator's."""


@dataclass(frozen=True, slots=True)
class SensitiveActionRule:
    """An act that is told: to whom, and of which settings; of which kinds of invitation or role."""

    concerned: Concerned
    settings: frozenset[str] = frozenset()
    """Only where one of these was changed; none: always."""

    detail: str | None = None
    among: frozenset[str] = frozenset()
    """Only where this detail is, or holds, one of these."""

    @property
    def always(self) -> bool:
        """Whether it is told whatever its details are."""
        return not self.settings and self.detail is None

    def matches(self, details: Details) -> bool:
        """Return whether an act with these details is told."""
        if self.settings and self.settings.isdisjoint(details.get("before", {})):
            return False
        if self.detail is None:
            return True
        found = details.get(self.detail)
        held = found if isinstance(found, list | tuple) else (found,)
        return not self.among.isdisjoint(held)


DELICATE_ACTS: Final[Mapping[str, SensitiveActionRule]] = {
    "employer.update": SensitiveActionRule("household", settings=frozenset({"email"})),
    "employee.update": SensitiveActionRule("employee", settings=_PAY | {"email", "payment_method"}),
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
    "calendar_link.create": SensitiveActionRule("household"),
    "organization.freeze": SensitiveActionRule("household"),
}
"""By the action's name in the audit log."""


def is_delicate(action: str, details: Details) -> bool:
    """Return whether this act is told."""
    act = DELICATE_ACTS.get(action)
    return act is not None and act.matches(details)
