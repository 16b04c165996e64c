"""Who is asking: the actor of one request, passed to every service function."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from hearthpay.access.plans import NOTHING, Terms
from hearthpay.database.session import Tenant
from hearthpay.security.api_keys import Mode

ActorKind = Literal["user", "key", "mcp", "employee", "system", "operator"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Someone acting for an organization, in live mode or in the sandbox.

    `terms` are what the organization's plan gives it (`plans.terms_of`); left out, nothing, as for an employee in the
    portal, who does nothing that a plan speaks of.
    `employer_id` is the household an API key remembers, used where a request names none;
    `confined` to it, the actor reaches no other;
    `employer_sandbox` tells whether that household is a sandbox one (None: the key remembers none).
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
    confined: bool = False

    @property
    def sandbox(self) -> bool:
        """Test keys reach only sandbox households, live keys only real ones."""
        return self.mode == "test"

    @property
    def tenant(self) -> Tenant:
        """What the actor's transactions may see: one mode of the whole organization, or of its household only."""
        return Tenant(self.organization_id, self.sandbox, self.employer_id if self.confined else None)
