"""Requests and answers of direct deposit."""

import datetime
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from hearthpay.banking.authorizations import AuthorizationStatus
from hearthpay.banking.readiness import Blocker
from hearthpay.wire.answer_fields import EmployeeIdentifier, HouseholdIdentifier
from hearthpay.wire.fields import RequestModel

AccountStatus = Literal["verifying", "active", "failed"]


class DebitAuthorization(RequestModel):
    """A household's word that its connected bank account may be debited for the payrolls it approves."""

    confirm_ach_debit: Literal[True] = Field(description="Must be true. You can't revoke it here.")


@dataclass(frozen=True, slots=True)
class AccountView:
    """A household's bank account, as far as it is shown."""

    status: AccountStatus
    """`verifying`: the bank hasn't confirmed it yet. `active`: it can be debited. `failed`: the bank refuses it; the
    household must connect another."""

    last_four: str
    """The last four digits of the account number."""

    bank_name: str | None
    """The bank's name; null if it isn't known."""


@dataclass(frozen=True, slots=True)
class AuthorizationView:
    """Whether debits are authorized; without it, running a payroll asks for `confirm_ach_debit`."""

    status: AuthorizationStatus
    """`active`: payrolls may debit the account until `expires_at`. `expired` or `revoked`: the next payroll needs
    `confirm_ach_debit`. `none`: debits of the account in use were never authorized."""

    expires_at: datetime.datetime | None
    """Until when debits are authorized, in UTC; null if they never were."""


@dataclass(frozen=True, slots=True)
class EmployeeReadiness:
    """Whether one employee can be paid by direct deposit, once the household can pay so."""

    employee_id: EmployeeIdentifier
    ready: bool
    """Whether the employee can be paid by direct deposit once the household is ready."""

    blockers: tuple[Blocker, ...]
    """What is missing for this employee; empty if `ready`."""


@dataclass(frozen=True, slots=True)
class DirectDepositStatus:
    """Whether a household can pay by direct deposit, and what is missing."""

    employer_id: HouseholdIdentifier
    ready: bool
    """Whether the household can pay by direct deposit. Each employee's `ready` must be true as well."""

    bank_account: AccountView | None
    """The household's connected account; null if none is connected."""

    authorization: AuthorizationView
    """Whether the account may be debited."""

    blockers: tuple[Blocker, ...]
    """What the household lacks; empty if `ready`."""

    employees: tuple[EmployeeReadiness, ...]
    """The household's active employees, each with what is missing."""
