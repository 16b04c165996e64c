"""The actor of one request, passed to every service function.

Actors are made by the constructors here, never field by field, so that what each kind of actor may do and reach is
decided in one place.
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
"""A person's role in an organization, least powerful first: a viewer changes nothing, an owner decides who belongs to
it.
"""

_NO_SCOPES: Final[frozenset[str]] = frozenset()
_NOBODYS: Final = UUID(int=0)
"""An id that no household has; transactions of an actor without a household are bound to it."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Someone acting for an organization, in live mode or in the sandbox.

    A key or token carries `scopes`, a person's session a `role`; a token is limited by its person's role as well.
    `terms` are what the organization's plan provides (`plans.terms_of`); they default to nothing, as for an employee
    in the portal, who uses no plan feature. `households` are the households within reach, None for all of the
    organization. `employer_id` is the household that a key remembers, used when a request names none;
    `employer_sandbox` says whether it is a sandbox household (None: the key remembers none).
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
    """The id under which requests of a day are counted together; None to count this actor's alone."""
    only_stops: bool = False
    """Whether the actor is the holder of an alert's link, who can reverse and end things but start nothing."""
    fresh: bool = False
    """Whether the person confirmed their identity within the last minutes."""

    @classmethod
    def stop_link(cls, organization_id: UUID, *, sandbox: bool, request_id: str) -> Actor:
        """Return the actor for the holder of an alert's link: an unknown person who can start nothing."""
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
        """Return the operator, at the command line, or as `person` on the operator's pages; `terms` matter only for
        the plan's limits.
        """
        return cls("operator", person, organization_id, _mode(sandbox), _NO_SCOPES, request_id, terms=terms)

    @classmethod
    def system(
        cls, organization_id: UUID, *, sandbox: bool, request_id: str, terms: Terms, household: UUID
    ) -> Actor:
        """Return the worker, acting for one household on what it asked for in advance; its plan must still allow it."""
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
        """Return the employee to whom a portal link belongs."""
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
        fresh: bool = False,
    ) -> Actor:
        """Return a signed-in person in their role in the organization; `households` are the ones assigned to them.

        `fresh`: they confirmed their identity within the last minutes.
        """
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
            fresh=fresh,
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
        """Return an agent that uses a token granted by a person.

        A token for one household defaults to that household, and may do no more than a person with this `role`. All
        agents of a person share one request budget.
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
        """Return a program that uses an API key; if `confined`, it reaches only the household that the key
        remembers.
        """
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
        """Whether the actor works in the sandbox: test keys reach only sandbox households, live keys only real ones."""
        return self.mode == "test"

    @property
    def confined(self) -> bool:
        """Whether the organization may have households that this actor doesn't reach."""
        return self.households is not None

    @property
    def falls_back_on(self) -> str:
        """Return a value that identifies what a request without a household refers to, for comparing requests."""
        if self.households is None:
            return str(self.employer_id or "")
        reached = " ".join(sorted(map(str, self.households)))
        return (
            f"only {reached}"
            if self.households == _only(self.employer_id)
            else f"{self.employer_id} of {reached}"
        )

    def reaches(self, household: UUID) -> bool:
        """Return whether the actor may act on this household of its organization and mode.

        The database decides which organization a household belongs to.
        """
        return self.households is None or household in self.households

    @property
    def tenant(self) -> Tenant:
        """The tenant that the actor's transactions can see: one mode of the organization, or one household of it.

        For an actor with several households, but not all, the database checks the organization only; `reaches` is
        then asked for each household.
        """
        bound: UUID | None = None
        if self.households is not None and len(self.households) < 2:
            bound = next(iter(self.households), _NOBODYS)
        return Tenant(self.organization_id, self.sandbox, bound)


def _mode(sandbox: bool) -> Mode:
    return "test" if sandbox else "live"


def _only(household: UUID | None) -> frozenset[UUID]:
    return frozenset() if household is None else frozenset((household,))
