"""Who is asking: the actor of one request, passed to every service function.

An actor is made by one of the constructors here, never field by field, so that what a kind of actor may do and reach
is decided in one place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from hearthpay.access.plans import NOTHING, Terms
from hearthpay.database.audit import ActorKind
from hearthpay.database.session import Tenant
from hearthpay.security.api_keys import Mode

Role = Literal["viewer", "admin", "owner"]
"""What a person is in an organization, the least first: a viewer changes nothing, an owner decides what there is."""

_NO_SCOPES: Final[frozenset[str]] = frozenset()
_NOBODYS: Final = UUID(int=0)
"""The id of no household: what a transaction is bound to whose actor reaches none."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Someone acting for an organization, in live mode or in the sandbox.

    A key or token carries `scopes`, a person's session a `role`, a token what is left of its person's. `terms` are
    what the organization's plan gives it (`plans.terms_of`); left out, nothing, as for an employee in the portal,
    who does nothing that a plan speaks of. `households` are those it may reach, None all of the organization.
    `employer_id` is only the household that a key remembers, used where a request names none; `employer_sandbox`
    tells whether that is a sandbox one (None: the key remembers none).
    """

    kind: ActorKind
    id: UUID | None
    organization_id: UUID
    mode: Mode
    scopes: frozenset[str]
    request_id: str
    employer_id: UUID | None = None
    employer_sandbox: bool | None = None
    terms: Terms = NOTHING
    households: frozenset[UUID] | None = None
    role: Role | None = None
    budget: UUID | None = None
    """Whose requests of a day are counted together; None: its own."""
    only_stops: bool = False
    """Whoever holds the link of a warning: it takes back and ends, and can begin nothing."""

    @classmethod
    def stop_link(cls, organization_id: UUID, *, sandbox: bool, request_id: str) -> Actor:
        """Return who holds the link of a warning: nobody knows who it is, and it lets nothing begin."""
        return cls(
            "system",
            None,
            organization_id,
            _mode(sandbox),
            _NO_SCOPES,
            request_id,
            only_stops=True,
        )

    @classmethod
    def operator(
        cls,
        organization_id: UUID,
        *,
        sandbox: bool,
        request_id: str,
        terms: Terms = NOTHING,
        person: UUID | None = None,
    ) -> Actor:
        """Whoever runs the installation, at its command line, or `person` on the operator's pages; `terms` matter only
        where the plan's limits do.
        """
        return cls("operator", person, organization_id, _mode(sandbox), _NO_SCOPES, request_id, terms=terms)

    @classmethod
    def system(
        cls, organization_id: UUID, *, sandbox: bool, request_id: str, terms: Terms, household: UUID
    ) -> Actor:
        """Return the worker, doing for one household what that has asked for in advance; its plan must still allow
        it.
        """
        return cls(
            "system",
            None,
            organization_id,
            _mode(sandbox),
            _NO_SCOPES,
            request_id,
            employer_id=household,
            employer_sandbox=sandbox,
            terms=terms,
            households=frozenset((household,)),
        )

    @classmethod
    def employee(
        cls, employee_id: UUID, organization_id: UUID, household: UUID, *, sandbox: bool, request_id: str
    ) -> Actor:
        """Return the employee whom a link of the portal belongs to."""
        return cls(
            "employee",
            employee_id,
            organization_id,
            _mode(sandbox),
            _NO_SCOPES,
            request_id,
            employer_id=household,
            employer_sandbox=sandbox,
            households=frozenset((household,)),
        )

    @classmethod
    def session(
        cls,
        user_id: UUID,
        organization_id: UUID,
        role: Role,
        *,
        sandbox: bool,
        request_id: str,
        terms: Terms,
        households: Iterable[UUID] | None = None,
    ) -> Actor:
        """Return a person who has signed in, as what he is in the organization; `households` are those he was given."""
        return cls(
            "user",
            user_id,
            organization_id,
            _mode(sandbox),
            _NO_SCOPES,
            request_id,
            terms=terms,
            households=None if households is None else frozenset(households),
            role=role,
        )

    @classmethod
    def token(
        cls,
        token_id: UUID,
        organization_id: UUID,
        scopes: frozenset[str],
        *,
        sandbox: bool,
        request_id: str,
        terms: Terms,
        households: Iterable[UUID] | None = None,
        role: Role | None = None,
        person_id: UUID | None = None,
    ) -> Actor:
        """Return an agent, with the token that a person has given it: a token for one household falls back on that
        one, and may do no more than somebody with this `role`. All agents of a person have one budget of requests.
        """
        reached = None if households is None else frozenset(households)
        only = next(iter(reached)) if reached is not None and len(reached) == 1 else None
        return cls(
            "mcp",
            token_id,
            organization_id,
            _mode(sandbox),
            scopes,
            request_id,
            employer_id=only,
            employer_sandbox=None if only is None else sandbox,
            terms=terms,
            households=reached,
            role=role,
            budget=person_id,
        )

    @classmethod
    def key(
        cls,
        key_id: UUID,
        organization_id: UUID,
        mode: Mode,
        scopes: frozenset[str],
        *,
        request_id: str,
        terms: Terms,
        employer_id: UUID | None = None,
        employer_sandbox: bool | None = None,
        confined: bool = False,
    ) -> Actor:
        """Return a program, with an API key; `confined`, it reaches no household but the one that the key remembers."""
        return cls(
            "key",
            key_id,
            organization_id,
            mode,
            scopes,
            request_id,
            employer_id,
            employer_sandbox,
            terms,
            _only(employer_id) if confined else None,
        )

    @property
    def sandbox(self) -> bool:
        """Test keys reach only sandbox households, live keys only real ones."""
        return self.mode == "test"

    @property
    def confined(self) -> bool:
        """Whether there may be households of the organization that it does not reach."""
        return self.households is not None

    @property
    def falls_back_on(self) -> str:
        """What a request without a household is about, in a word that differs where the answer may."""
        if self.households is None:
            return str(self.employer_id or "")
        reached = " ".join(sorted(map(str, self.households)))
        return (
            f"only {reached}"
            if self.households == _only(self.employer_id)
            else f"{self.employer_id} of {reached}"
        )

    def reaches(self, household: UUID) -> bool:
        """Return whether the actor may be concerned with this household of its organization and mode.

        Whose a household is, is the database's to tell.
        """
        return self.households is None or household in self.households

    @property
    def tenant(self) -> Tenant:
        """What the actor's transactions may see: one mode of the organization, or one household of it.

        Of an actor with several households, but not all, the database sees to the organization only; `reaches` is then
        asked of each.
        """
        bound: UUID | None = None
        if self.households is not None and len(self.households) < 2:
            bound = next(iter(self.households), _NOBODYS)
        return Tenant(self.organization_id, self.sandbox, bound)


def _mode(sandbox: bool) -> Mode:
    return "test" if sandbox else "live"


def _only(household: UUID | None) -> frozenset[UUID]:
    return frozenset() if household is None else frozenset((household,))
