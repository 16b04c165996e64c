"""The tables of people, their credentials, their sessions, and their memberships in organizations."""

import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base

CredentialKind = Literal["password", "passkey", "totp", "recovery_code"]


class PersonRecord(Base):
    """A person who can sign in; their address was verified by opening a link."""

    __tablename__ = "people"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    email: Mapped[str]
    name: Mapped[str]
    language: Mapped[str]
    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]
    muted_notices: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default="{}")
    weekly_summary: Mapped[bool] = mapped_column(server_default="false", default=False)
    operator_since: Mapped[datetime.datetime | None] = mapped_column(default=None)
    frozen_until: Mapped[datetime.datetime | None] = mapped_column(default=None)
    devices_since: Mapped[datetime.datetime | None] = mapped_column(default=None)
    strangers_from: Mapped[datetime.datetime | None] = mapped_column(default=None)
    strangers_until: Mapped[datetime.datetime | None] = mapped_column(default=None)
    disputed_address: Mapped[str | None] = mapped_column(default=None)
    disputed_at: Mapped[datetime.datetime | None] = mapped_column(default=None)


class PersonCredential(Base):
    """A person's credential: a password, a passkey, one-time passwords, or a code for when those are lost.

    It is in force until `ended_at`. `secret` is encrypted; of passwords and codes only hashes are kept.
    """

    __tablename__ = "credentials"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    person_id: Mapped[UUID]
    kind: Mapped[str]
    name: Mapped[str | None] = mapped_column(default=None)
    password_hash: Mapped[str | None] = mapped_column(default=None)
    passkey_id: Mapped[bytes | None] = mapped_column(default=None)
    public_key: Mapped[bytes | None] = mapped_column(default=None)
    sign_count: Mapped[int | None] = mapped_column(default=None)
    secret: Mapped[bytes | None] = mapped_column(default=None)
    nonce: Mapped[bytes | None] = mapped_column(default=None)
    key_id: Mapped[str | None] = mapped_column(default=None)
    last_step: Mapped[int | None] = mapped_column(default=None)
    code_hash: Mapped[bytes | None] = mapped_column(default=None)
    created_at: Mapped[datetime.datetime]
    confirmed_at: Mapped[datetime.datetime | None] = mapped_column(default=None)
    last_used_at: Mapped[datetime.datetime | None] = mapped_column(default=None)
    ended_at: Mapped[datetime.datetime | None] = mapped_column(default=None)
    doubted_at: Mapped[datetime.datetime | None] = mapped_column(default=None)


class Membership(Base):
    """A person's role in an organization, until `ended_at`."""

    __tablename__ = "memberships"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    person_id: Mapped[UUID]
    role: Mapped[str]
    joined_at: Mapped[datetime.datetime]
    leaving_asked_at: Mapped[datetime.datetime | None] = mapped_column(default=None)
    leaving_asked_by: Mapped[UUID | None] = mapped_column(default=None)
    ended_at: Mapped[datetime.datetime | None] = mapped_column(default=None)
    role_since: Mapped[datetime.datetime | None] = mapped_column(default=None)
    kept_at: Mapped[datetime.datetime | None] = mapped_column(default=None)


class MemberInvitation(Base):
    """A link sent to an address, by which its reader becomes a member. Nobody can read the hash of its token."""

    __tablename__ = "member_invitations"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    email: Mapped[str]
    role: Mapped[str]
    status: Mapped[str]
    token_hash: Mapped[bytes] = mapped_column(deferred=True)
    invited_by: Mapped[UUID | None]
    created_at: Mapped[datetime.datetime]
    expires_at: Mapped[datetime.datetime]
    ended_at: Mapped[datetime.datetime | None] = mapped_column(default=None)


class PersonSession(Base):
    """A browser in which someone has signed in; with `stage` second_factor it gives access only to the second-factor
    prompt.
    """

    __tablename__ = "person_sessions"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    person_id: Mapped[UUID]
    token_hash: Mapped[bytes]
    stage: Mapped[str]
    method: Mapped[str]
    chosen_organization_id: Mapped[UUID | None]
    in_sandbox: Mapped[bool]
    address: Mapped[str | None]
    device: Mapped[str | None]
    created_at: Mapped[datetime.datetime]
    authenticated_at: Mapped[datetime.datetime]
    last_seen_at: Mapped[datetime.datetime]
    expires_at: Mapped[datetime.datetime]
    ended_at: Mapped[datetime.datetime | None] = mapped_column(default=None)


class OneTimeToken(Base):
    """A link or a challenge that works once; `kind` is its purpose. The service may not read it back."""

    __tablename__ = "one_time_tokens"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    kind: Mapped[str]
    token_hash: Mapped[bytes]
    email: Mapped[str | None] = mapped_column(default=None)
    person_id: Mapped[UUID | None] = mapped_column(default=None)
    organization_id: Mapped[UUID | None] = mapped_column(default=None)
    bound_to: Mapped[bytes | None] = mapped_column(default=None)
    created_at: Mapped[datetime.datetime]
    expires_at: Mapped[datetime.datetime]
    used_at: Mapped[datetime.datetime | None] = mapped_column(default=None)


class PersonEvent(Base):
    """One row of an account's own audit trail; `at` is the server's time."""

    __tablename__ = "person_events"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    person_id: Mapped[UUID]
    action: Mapped[str]
    address: Mapped[str | None]
    request_id: Mapped[str | None]
    details: Mapped[dict[str, Any]] = mapped_column(JSONB)
    at: Mapped[datetime.datetime] = mapped_column(server_default="now()")
