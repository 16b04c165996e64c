"""The tables of agents, as far as the service reads them."""

import datetime
from uuid import UUID

from sqlalchemy import ARRAY, Text
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base


class AgentClient(Base):
    """A program that has registered itself: what it says about itself is public, and proves nothing."""

    __tablename__ = "agent_clients"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    kind: Mapped[str]
    name: Mapped[str]
    redirect_uris: Mapped[list[str]] = mapped_column(ARRAY(Text))
    address_hash: Mapped[bytes]
    created_at: Mapped[datetime.datetime]
    expires_at: Mapped[datetime.datetime]


class AgentGrant(Base):
    """What a person granted an agent: one household, some tools, for a while. Once ended it stays ended."""

    __tablename__ = "agent_grants"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    person_id: Mapped[UUID]
    client_id: Mapped[str]
    client_name: Mapped[str]
    returns_to: Mapped[str]
    tools: Mapped[list[str]] = mapped_column(ARRAY(Text))
    demands_preview: Mapped[bool]
    resource: Mapped[str]
    created_at: Mapped[datetime.datetime]
    expires_at: Mapped[datetime.datetime]
    ended_at: Mapped[datetime.datetime | None] = mapped_column(default=None)
    ended_because: Mapped[str | None] = mapped_column(default=None)


class AgentRequest(Base):
    """A request for authorization; written here, opened and answered by functions of the database."""

    __tablename__ = "agent_requests"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    token_hash: Mapped[bytes]
    client_id: Mapped[str]
    address_hash: Mapped[bytes | None]
    redirect_uri: Mapped[str]
    redirect_given: Mapped[bool]
    state: Mapped[str | None]
    code_challenge: Mapped[str]
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text))
    resource: Mapped[str]
    created_at: Mapped[datetime.datetime]
    expires_at: Mapped[datetime.datetime]
