"""Permissions, and `allow`, the one check that every interface and service makes.

A permission names the scope that a key or token needs, the feature that the organization's plan needs, and the role
that a person needs. A route checks before it reads the request. The service checks again before its first statement,
so that pages, MCP tools and the worker can't skip the check.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Literal, get_args
from uuid import UUID

from hearthpay.access.actor import Actor, Role
from hearthpay.access.entitlements import refuse_missing_feature
from hearthpay.access.plans import Feature
from hearthpay.access.refusal import Refusal
from hearthpay.database.audit import ActorKind

Scope = Literal[
    "calculator",
    "payroll",
    "employees",
    "documents",
    "state_registrations",
    "multi_employer",
    "ach",
    "onboarding",
]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
"""The scopes that a key can carry."""

FEATURE_OF_SCOPE: Final[Mapping[Scope, Feature]] = {
    scope: "employees" if scope == "onboarding" else scope for scope in SCOPES
}
"""The plan feature that each scope needs to have any effect."""

_RANK: Final[Mapping[Role, int]] = {role: rank for rank, role in enumerate(get_args(Role))}
_KEPT_WORKING: Final[frozenset[ActorKind]] = frozenset({"system"})
_OWN_NUMBERS: Final[frozenset[ActorKind]] = frozenset({"employee"})


@dataclass(frozen=True, slots=True)
class Permission:
    """The right to do one kind of thing.

    A key or token needs `scope` (None: any will do), a person at least `role` (None: no role is enough), and the plan
    the `feature` (None: any plan will do); a person's plan needs `persons_feature` instead, if there is one. `also`
    lists the kinds of actors that have the permission by their kind. With `people_only`, no key or token has it,
    whatever its scopes. The operator, who could write to the database directly, has every permission.
    """

    name: str
    scope: Scope | None
    feature: Feature | None
    role: Role | None
    also: frozenset[ActorKind] = frozenset()
    people_only: bool = False
    persons_feature: Feature | None = None
    stops: bool = False
    """Whether it also covers what an alert's link ends or reverses."""


ANY_KEY: Final = Permission("any_key", None, None, "viewer")
"""Held by every key, token and session in force."""

CALCULATE: Final = Permission("calculate", "calculator", "calculator", "viewer")
READ_RULES: Final = Permission("read_rules", None, "calculator", "viewer")
"""Read what is known of a year's tax rules."""

READ_LAW: Final = Permission("read_law", None, "employees", "viewer")
"""Read what the states' law requires."""
LEARN_OF_RETIREMENT: Final = Permission("learn_of_retirement", None, "calculator", "viewer")
"""Learn that an endpoint has been retired."""

LEARN_OF_THE_APP: Final = Permission("learn_of_the_app", None, "calculator", "viewer")
"""Learn that something is only available to people, on a page of the app."""

LIST_HOUSEHOLDS: Final = Permission("list_households", "multi_employer", "multi_employer", "viewer")
CREATE_HOUSEHOLD: Final = Permission(
    "create_household", "multi_employer", "multi_employer", "admin", persons_feature="employees"
)
"""Create households: by a key or token on multi-household plans, by a person up to their plan's limit."""
DELETE_HOUSEHOLD: Final = Permission("delete_household", "multi_employer", "multi_employer", "owner")
READ_HOUSEHOLD: Final = Permission("read_household", "employees", "employees", "viewer")
CHANGE_HOUSEHOLD: Final = Permission("change_household", "employees", "employees", "admin")

READ_SANDBOX: Final = Permission("read_sandbox", "employees", "employees", "viewer")
USE_SANDBOX: Final = Permission("use_sandbox", "employees", "employees", "admin")
"""Set test values in place of numbers, and move the clock; the service allows it in the sandbox only."""

READ_EMPLOYEES: Final = Permission("read_employees", "employees", "employees", "viewer")
CHANGE_EMPLOYEES: Final = Permission("change_employees", "employees", "employees", "admin")
CHANGE_ADDRESSES: Final = Permission("change_addresses", "onboarding", "employees", "admin")
"""Change the address to which a household's or employee's warnings go, and open a link for a bank account."""
STOP_INVITATION: Final = Permission("stop_invitation", "employees", "employees", "admin", stops=True)
"""Close an open invitation link."""
GIVE_WORD: Final = Permission("give_word", None, "employees", "owner", people_only=True)
"""Approve an employee's new bank account after a recent change of address."""
ENTER_NUMBERS: Final = Permission(
    "enter_numbers", None, "employees", "admin", also=_OWN_NUMBERS, people_only=True
)
"""Enter an employee's bank account and taxpayer number; the API never accepts them."""
STOP_ACCOUNT_CHANGE: Final = Permission(
    "stop_account_change", None, "employees", "admin", also=_OWN_NUMBERS, people_only=True, stops=True
)
"""Cancel an employee's pending change of bank account."""
OWN_RECORD: Final = Permission("own_record", None, "employees", None, also=_OWN_NUMBERS, people_only=True)
"""What employees may do with their own record: read pay and documents, sign certificates, change their details, and
make requests.
"""
MANAGE_ACCOUNTS: Final = Permission("manage_accounts", None, "employees", "admin", people_only=True)
"""Enter the household's bank account."""
DISCONNECT_ACCOUNTS: Final = Permission(
    "disconnect_accounts", None, "employees", "admin", people_only=True, stops=True
)
"""Disconnect a bank account."""

READ_REGISTRATIONS: Final = Permission("read_registrations", "state_registrations", "employees", "viewer")
"""Read with which agencies a household must register, and its account numbers."""
KEEP_REGISTRATIONS: Final = Permission("keep_registrations", None, "employees", "admin", people_only=True)
"""Enter a household's account numbers with state agencies, and its pending applications."""

READ_CALENDAR: Final = Permission("read_calendar", "state_registrations", "employees", "viewer")
"""Read a household's deadlines and their amounts."""
KEEP_CALENDAR: Final = Permission("keep_calendar", None, "employees", "admin", people_only=True)
"""Mark duties as done, choose filing frequencies, and share the link of the calendar feed."""
REVOKE_CALENDAR_LINK: Final = Permission(
    "revoke_calendar_link", None, "employees", "admin", people_only=True, stops=True
)
"""Revoke the link of a calendar feed."""

READ_TAX_LEDGER: Final = Permission(
    "read_tax_ledger", "documents", "documents", "viewer", persons_feature="employees"
)
"""To read what a household recorded as paid to tax agencies and as filed with them."""
KEEP_TAX_LEDGER: Final = Permission(
    "keep_tax_ledger", "documents", "documents", "admin", persons_feature="employees"
)
"""To record what was paid and filed, and to take it back."""

KEEP_EIN: Final = Permission("keep_ein", None, "employees", "admin", people_only=True)
"""Enter a household's employer identification number; the API never accepts it."""

KEEP_SUI_RATES: Final = Permission("keep_sui_rates", None, "employees", "admin", people_only=True)
"""Enter the unemployment rate that a state assigned to a household."""

LIST_DOCUMENTS: Final = Permission("list_documents", "documents", "documents", "viewer")
SIGN_PAPERS: Final = Permission(
    "sign_papers", None, "documents", "admin", also=_OWN_NUMBERS, people_only=True
)
OBTAIN_DOCUMENTS: Final = Permission("obtain_documents", "documents", "documents", "admin")
"""Issue a document and download it: some show a full Social Security number."""
READ_REPORTS: Final = Permission("read_reports", "documents", "documents", "viewer")
"""Read what is calculated from a household's year for its own taxes."""

READ_PAYROLLS: Final = Permission("read_payrolls", "payroll", "payroll", "viewer", also=_KEPT_WORKING)
READ_TO_DOS: Final = Permission("read_to_dos", "payroll", "payroll", "viewer", persons_feature="employees")
"""Read what a household has to do: payrolls, taxes, accounts and missing details, with their amounts."""
RUN_PAYROLL: Final = Permission("run_payroll", "payroll", "payroll", "admin", also=_KEPT_WORKING)
"""Run, void and settle payrolls, authorize their debits, and pay out money set aside."""

READ_AUTOPILOT: Final = Permission("read_autopilot", "ach", "autopilot", "viewer")
MANAGE_AUTOPILOT: Final = Permission("manage_autopilot", "ach", "autopilot", "admin")
"""Pause, resume, skip and end recurring payroll."""
ENROLL_AUTOPILOT: Final = Permission("enroll_autopilot", None, "autopilot", "admin", people_only=True)
"""Enroll an employee, change the enrollment, authorize its debits and approve payrolls on hold."""
READ_MEMBERS: Final = Permission("read_members", None, None, "viewer", people_only=True)
"""Read who belongs to the organization, and who is invited."""
KEEP_MEMBERS: Final = Permission("keep_members", None, None, "owner", people_only=True)
"""Invite members, change their roles and remove them."""
WITHDRAW_INVITATIONS: Final = Permission(
    "withdraw_invitations", None, None, "owner", people_only=True, stops=True
)
"""Withdraw an invitation to the organization, or the pending removal of an owner."""
END_FREEZE: Final = Permission("end_freeze", None, None, "owner", people_only=True)
"""End the freeze of the organization or a household early."""
LEAVE: Final = Permission("leave", None, None, "viewer", people_only=True)
"""End one's own membership."""
READ_KEYS: Final = Permission("read_keys", None, None, "viewer", people_only=True)
"""List API keys; none can be read."""
KEEP_KEYS: Final = Permission("keep_keys", None, None, "owner", people_only=True)
"""Create API keys."""
REVOKE_KEYS: Final = Permission("revoke_keys", None, None, "owner", people_only=True, stops=True)
"""To revoke API keys."""
READ_AGENTS: Final = Permission("read_agents", None, None, "viewer", people_only=True)
"""List connected agents and what they did."""
KEEP_AGENTS: Final = Permission("keep_agents", None, "payroll", "admin", people_only=True)
"""Let an agent act for a household."""
END_AGENTS: Final = Permission("end_agents", None, None, "admin", people_only=True, stops=True)
"""Disconnect an agent; no plan limits this."""
READ_AUDIT: Final = Permission("read_audit", None, None, "viewer", people_only=True)
"""Read who did what in the organization."""
READ_PLAN: Final = Permission("read_plan", None, None, "viewer", people_only=True)
"""Read what the organization's plan allows, and how much of it is used."""

TAKE_BACK: Final = Permission("take_back", None, "ach", None, people_only=True)
"""Reverse a direct deposit to an employee's account; for the operator only, who is liable to the bank for it."""
SETTLE_WAGES: Final = Permission("settle_wages", None, "ach", None, people_only=True)
"""To note what a household paid the operator by other means: the operator's alone, who received it."""


PERMISSIONS: Final[Mapping[str, Permission]] = {
    each.name: each for each in tuple(globals().values()) if isinstance(each, Permission)
}
"""All permissions by name."""

_USED: Final[ContextVar[tuple[Actor, set[str]] | None]] = ContextVar("permissions used", default=None)


@contextmanager
def permissions_used(actor: Actor) -> Iterator[set[str]]:
    """Collect the names of all permissions that this actor is found to have within the block.

    What depends on a request's content is among them. An actor who sees the block's result later needs all of them
    (`allow_all`).
    """
    used: set[str] = set()
    before = _USED.set((actor, used))
    try:
        yield used
    finally:
        _USED.reset(before)


def allow_all(actor: Actor, names: Iterable[str]) -> None:
    """Check that the actor has all of these permissions, as `allow` does; nobody has one that no longer exists."""
    for name in sorted(names):
        permission = PERMISSIONS.get(name)
        if permission is None:
            raise Refusal(
                "scope_required",
                "This is not for this kind of access.",
                details={"permission": name, "actor": actor.kind},
            )
        allow(actor, permission)


def allow(actor: Actor, permission: Permission, household: UUID | None = None) -> None:
    """Check that the actor may do this, and to this household if one is given; doesn't query the database.

    Refuses in a fixed order: `subscription_required` for test keys, then for what the plan lacks; `scope_required`
    for what the key, token, role or kind of actor may not do; `household_forbidden`.
    """
    _check(actor, permission, household)
    used = _USED.get()
    if used is not None and (used[0].kind, used[0].id) == (actor.kind, actor.id):
        used[1].add(permission.name)


def _check(actor: Actor, permission: Permission, household: UUID | None) -> None:
    if actor.kind == "operator":
        return
    if actor.only_stops:
        if not permission.stops:
            _refuse_unentitled(actor, permission)
        return
    by_kind = actor.kind in permission.also
    if not (by_kind and actor.kind == "employee"):  # an employee does nothing that a plan speaks of
        if actor.mode == "test":
            refuse_missing_feature(actor.terms, "test_keys")
        feature = permission.feature
        if actor.kind == "user" and permission.persons_feature is not None:
            feature = permission.persons_feature
        if feature is not None:
            refuse_missing_feature(actor.terms, feature)
    if not by_kind:
        _refuse_unentitled(actor, permission)
    if household is not None and not actor.reaches(household):
        raise out_of_reach(household)


def may(actor: Actor, permission: Permission) -> bool:
    """Return whether `allow` would pass, for callers that do something else if not."""
    try:
        allow(actor, permission)
    except Refusal:
        return False
    return True


def out_of_reach(household: UUID) -> Refusal:
    """Return the refusal for a household out of the actor's reach; it is the same for one that doesn't exist."""
    return Refusal(
        "household_forbidden",
        "This household does not belong to the key's account.",
        details={"employer_id": household},
    )


def _refuse_unentitled(actor: Actor, permission: Permission) -> None:
    if actor.role is not None and permission.role is not None:
        if _RANK[actor.role] < _RANK[permission.role]:
            raise Refusal(
                "scope_required",
                f"This needs the role '{permission.role}'; you are here as '{actor.role}'.",
                details={"required_role": permission.role, "role": actor.role},
            )
        if actor.kind == "user":
            return
    if actor.kind not in ("key", "mcp") or permission.people_only:
        raise Refusal(
            "scope_required",
            "This is not for this kind of access.",
            details={"permission": permission.name, "actor": actor.kind},
        )
    if permission.scope is not None and permission.scope not in actor.scopes:
        raise Refusal(
            "scope_required",
            f"This API key does not carry the scope '{permission.scope}' that the endpoint needs.",
            details={"required_scope": permission.scope, "scopes": sorted(actor.scopes)},
        )
