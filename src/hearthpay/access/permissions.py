"""Who may do what: the permissions, and `allow`, the one question that every face and every service asks.

A permission says at once what a key or token must carry (a scope), what the organization's plan must have (a feature),
and what a person must be (a role). A route asks before it reads the request; the service asks again before its first
statement, so that a page, a tool or the worker, which come by other doors, cannot pass it by.
"""

from collections.abc import Mapping
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
"""What a key may be given the right to do."""

FEATURE_OF_SCOPE: Final[Mapping[Scope, Feature]] = {
    scope: "employees" if scope == "onboarding" else scope for scope in SCOPES
}
"""What the plan must have, so that a scope opens anything."""

_RANK: Final[Mapping[Role, int]] = {role: rank for rank, role in enumerate(get_args(Role))}
_KEPT_WORKING: Final[frozenset[ActorKind]] = frozenset({"system"})
_OWN_NUMBERS: Final[frozenset[ActorKind]] = frozenset({"employee"})


@dataclass(frozen=True, slots=True)
class Permission:
    """The right to do one kind of thing.

    A key or token needs `scope` (None: any will do), a person at least `role` (None: no role is enough), everyone's
    plan the `feature` (None: any plan will do); a person's plan needs `persons_feature` instead, where there is one.
    `also` are the kinds of actors who may by what they are. What is for `people_only` no key or token opens, whatever
    it carries. The operator, who could write to the database by hand, may do everything.
    """

    name: str
    scope: Scope | None
    feature: Feature | None
    role: Role | None
    also: frozenset[ActorKind] = frozenset()
    people_only: bool = False
    persons_feature: Feature | None = None
    stops: bool = False
    """Whether it is also asked for what the link of a warning ends or takes back."""


ANY_KEY: Final = Permission("any_key", None, None, "viewer")
"""To be who one is: all that a key, token or session in force opens by itself."""

CALCULATE: Final = Permission("calculate", "calculator", "calculator", "viewer")
READ_RULES: Final = Permission("read_rules", None, "calculator", "viewer")
"""What is known of a year's law."""

READ_LAW: Final = Permission("read_law", None, "employees", "viewer")
"""What the states' law asks for."""
LEARN_OF_RETIREMENT: Final = Permission("learn_of_retirement", None, "calculator", "viewer")
"""To be told that something is no more."""

LEARN_OF_THE_APP: Final = Permission("learn_of_the_app", None, "calculator", "viewer")
"""To be told that something is only for people, on a page of the app."""

LIST_HOUSEHOLDS: Final = Permission("list_households", "multi_employer", "multi_employer", "viewer")
CREATE_HOUSEHOLD: Final = Permission(
    "create_household", "multi_employer", "multi_employer", "admin", persons_feature="employees"
)
"""To make households: by a key or token on the plans for several, by a person as many as her plan allows."""
DELETE_HOUSEHOLD: Final = Permission("delete_household", "multi_employer", "multi_employer", "owner")
READ_HOUSEHOLD: Final = Permission("read_household", "employees", "employees", "viewer")
CHANGE_HOUSEHOLD: Final = Permission("change_household", "employees", "employees", "admin")

READ_SANDBOX: Final = Permission("read_sandbox", "employees", "employees", "viewer")
USE_SANDBOX: Final = Permission("use_sandbox", "employees", "employees", "admin")
"""To put test values in the place of numbers, and to move a clock: in the sandbox alone, which the service sees to."""

READ_EMPLOYEES: Final = Permission("read_employees", "employees", "employees", "viewer")
CHANGE_EMPLOYEES: Final = Permission("change_employees", "employees", "employees", "admin")
CHANGE_ADDRESSES: Final = Permission("change_addresses", "onboarding", "employees", "admin")
"""To change where warnings go, of a household or an employee, and to open a link for a bank account."""
STOP_INVITATION: Final = Permission("stop_invitation", "employees", "employees", "admin", stops=True)
"""To close a link that is open."""
GIVE_WORD: Final = Permission("give_word", None, "employees", "owner", people_only=True)
"""To agree to an employee's new bank account where an address was changed shortly before."""
ENTER_NUMBERS: Final = Permission(
    "enter_numbers", None, "employees", "admin", also=_OWN_NUMBERS, people_only=True
)
"""To enter an employee's bank account and taxpayer number; the API never takes any."""
STOP_ACCOUNT_CHANGE: Final = Permission(
    "stop_account_change", None, "employees", "admin", also=_OWN_NUMBERS, people_only=True, stops=True
)
"""To take back an employee's new bank account while it waits."""
OWN_RECORD: Final = Permission("own_record", None, "employees", None, also=_OWN_NUMBERS, people_only=True)
"""What an employee may with her own record: see her pay and papers, sign certificates, change herself, and ask."""
MANAGE_ACCOUNTS: Final = Permission("manage_accounts", None, "employees", "admin", people_only=True)
"""To enter the household's bank account."""
DISCONNECT_ACCOUNTS: Final = Permission(
    "disconnect_accounts", None, "employees", "admin", people_only=True, stops=True
)
"""To use a bank account no more."""

READ_REGISTRATIONS: Final = Permission("read_registrations", "state_registrations", "employees", "viewer")
"""To read with which agencies a household must register, and its numbers there."""
KEEP_REGISTRATIONS: Final = Permission("keep_registrations", None, "employees", "admin", people_only=True)
"""To enter a household's numbers with the states' agencies, and what it applied for."""

READ_CALENDAR: Final = Permission("read_calendar", "state_registrations", "employees", "viewer")
"""To read what a household must do by when, and what it comes to."""
KEEP_CALENDAR: Final = Permission("keep_calendar", None, "employees", "admin", people_only=True)
"""To mark duties as done, to say how often a household files, and to hand out the link of its feed."""
REVOKE_CALENDAR_LINK: Final = Permission(
    "revoke_calendar_link", None, "employees", "admin", people_only=True, stops=True
)
"""To let the link of a calendar's feed open nothing any more."""

READ_TAX_LEDGER: Final = Permission(
    "read_tax_ledger", "documents", "documents", "viewer", persons_feature="employees"
)
"""To read what a household recorded as paid to tax agencies and as filed with them."""
KEEP_TAX_LEDGER: Final = Permission(
    "keep_tax_ledger", "documents", "documents", "admin", persons_feature="employees"
)
"""To record what was paid and filed, and to take it back."""

KEEP_EIN: Final = Permission("keep_ein", None, "employees", "admin", people_only=True)
"""To enter a household's employer identification number; the API never takes any."""

LIST_DOCUMENTS: Final = Permission("list_documents", "documents", "documents", "viewer")
SIGN_PAPERS: Final = Permission(
    "sign_papers", None, "documents", "admin", also=_OWN_NUMBERS, people_only=True
)
OBTAIN_DOCUMENTS: Final = Permission("obtain_documents", "documents", "documents", "admin")
"""To have a paper issued and to get its bytes: some show a Social Security number in full."""
READ_REPORTS: Final = Permission("read_reports", "documents", "documents", "viewer")
"""To read what is worked out of a household's year for its own taxes."""

READ_PAYROLLS: Final = Permission("read_payrolls", "payroll", "payroll", "viewer", also=_KEPT_WORKING)
RUN_PAYROLL: Final = Permission("run_payroll", "payroll", "payroll", "admin", also=_KEPT_WORKING)
"""To run, void and settle payrolls, to authorize their debits, and to pay out what was set aside."""

READ_AUTOPILOT: Final = Permission("read_autopilot", "ach", "autopilot", "viewer")
MANAGE_AUTOPILOT: Final = Permission("manage_autopilot", "ach", "autopilot", "admin")
"""To pause, resume, skip and end recurring payroll."""
ENROLL_AUTOPILOT: Final = Permission("enroll_autopilot", None, "autopilot", "admin", people_only=True)
"""To enroll an employee, change what is enrolled, agree to its debits and confirm a payroll that it holds."""
READ_MEMBERS: Final = Permission("read_members", None, None, "viewer", people_only=True)
"""To see who is in the organization, and who is invited."""
KEEP_MEMBERS: Final = Permission("keep_members", None, None, "owner", people_only=True)
"""To invite, to give roles and to remove."""
WITHDRAW_INVITATIONS: Final = Permission(
    "withdraw_invitations", None, None, "owner", people_only=True, stops=True
)
"""To take back an invitation to the organization, or the wish that an owner leaves."""
LEAVE: Final = Permission("leave", None, None, "viewer", people_only=True)
"""To end one's own membership."""
READ_KEYS: Final = Permission("read_keys", None, None, "viewer", people_only=True)
"""To see which API keys there are; none can be read."""
KEEP_KEYS: Final = Permission("keep_keys", None, None, "owner", people_only=True)
"""To make API keys."""
REVOKE_KEYS: Final = Permission("revoke_keys", None, None, "owner", people_only=True, stops=True)
"""To revoke API keys."""
READ_AGENTS: Final = Permission("read_agents", None, None, "viewer", people_only=True)
"""To see which agents are connected, and what they did."""
KEEP_AGENTS: Final = Permission("keep_agents", None, "payroll", "admin", people_only=True)
"""To let an agent act for a household."""
END_AGENTS: Final = Permission("end_agents", None, None, "admin", people_only=True, stops=True)
"""To send an agent away, which no plan may stand in the way of."""
READ_AUDIT: Final = Permission("read_audit", None, None, "viewer", people_only=True)
"""To see who did what in the organization."""
READ_PLAN: Final = Permission("read_plan", None, None, "viewer", people_only=True)
"""To see what the organization's plan allows, and how much of it is used."""

TAKE_BACK: Final = Permission("take_back", None, "ach", None, people_only=True)
SETTLE_WAGES: Final = Permission("settle_wages", None, "ach", None, people_only=True)
"""Noting what a household paid the operator by other means: the operator's alone, who received it."""
"""To take a direct deposit back from an employee's account: the operator's alone, who answers to the bank for it."""


def allow(actor: Actor, permission: Permission, household: UUID | None = None) -> None:
    """Let the actor pass who may do this, and to this household if one is given; asks nothing of the database.

    Refuses in a fixed order: `subscription_required` for test keys, then for what the plan does not have;
    `scope_required` for what the key, token, role or kind of actor may not do; `household_forbidden`.
    """
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
    """Return whether `allow` would let the actor pass, for what is done otherwise where it would not."""
    try:
        allow(actor, permission)
    except Refusal:
        return False
    return True


def out_of_reach(household: UUID) -> Refusal:
    """Return the refusal of a household that is not the actor's, told from one that is not there by nobody."""
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
