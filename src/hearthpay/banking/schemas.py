"""Requests and answers of direct deposit."""

import datetime
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from pydantic import Field

from hearthpay.banking.authorizations import AuthorizationStatus
from hearthpay.banking.readiness import Blocker
from hearthpay.wire.fields import RequestModel

AccountStatus = Literal["verifying", "active", "failed"]


class DebitAuthorization(RequestModel):
    """A household's word that its connected bank account may be debited for the payrolls it approves."""

    confirm_ach_debit: Literal[True] = Field(description="Must be true. You can't revoke it here.")


@dataclass(frozen=True, slots=True)
class AccountView:
    """A household's bank account, as far as it is shown."""

    status: AccountStatus
    last_four: str
    bank_name: str | None


@dataclass(frozen=True, slots=True)
class AuthorizationView:
    """Whether debits are authorized; without it, running a payroll asks for `confirm_ach_debit`."""

    status: AuthorizationStatus
    expires_at: datetime.datetime | None


@dataclass(frozen=True, slots=True)
class EmployeeReadiness:
    """Whether one employee can be paid by direct deposit, once the household can pay so."""

    employee_id: UUID
    ready: bool
    blockers: tuple[Blocker, ...]


@dataclass(frozen=True, slots=True)
class DirectDepositStatus:
    """Whether a household can pay by direct deposit, and what is missing."""

    employer_id: UUID
    ready: bool
    bank_account: AccountView | None
    authorization: AuthorizationView
    blockers: tuple[Blocker, ...]
    employees: tuple[EmployeeReadiness, ...]
