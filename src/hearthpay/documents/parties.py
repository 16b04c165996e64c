"""The parties on a household's documents: names, addresses, and numbers from the vault."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.database.vault_store import SecretMissingError, last_four, read_secret
from hearthpay.documents.identity import EmployeeIdentity, HouseholdIdentity
from hearthpay.documents.year_books import YearOnRecord
from hearthpay.employees.models import Employee
from hearthpay.employers.commands import PostalAddress
from hearthpay.employers.ein import ein_owner
from hearthpay.employers.models import Employer
from hearthpay.registrations.service import withholding_accounts
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import SecretOwner
from hearthpay.security.vault_numbers import NumberKind

_TAX_NUMBERS: Final[tuple[NumberKind, ...]] = ("ssn", "itin")
_HIDDEN_DIGITS: Final = "00000"


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of one request: who reads them from the vault, and why; each one read leaves an audit row."""

    session: AsyncSession
    ring: KeyRing
    actor: Actor
    purpose: str

    @staticmethod
    def household_on_stubs(employer: Employer) -> HouseholdIdentity:
        """Return the household as a pay stub shows it; none of its numbers is read."""
        return HouseholdIdentity(
            name=name_of(employer),
            address=address_of(employer.address),
            phone=phone_of(employer.phone),
            email=employer.email,
        )

    async def household_on_forms(self, employer: Employer) -> HouseholdIdentity:
        """Return the household as a tax form shows it, with its EIN and its state accounts."""
        accounts = await withholding_accounts(
            self.session, self.ring, self.actor, employer, purpose=self.purpose
        )
        return HouseholdIdentity(
            name=name_of(employer),
            address=address_of(employer.address),
            ein=await self._read(ein_owner(employer), "ein"),
            phone=phone_of(employer.phone),
            email=employer.email,
            state_accounts=accounts,
        )

    async def employee_on_stubs(self, employee: Employee) -> EmployeeIdentity:
        """Return the employee as a pay stub shows them; it shows four digits of the number, so only those are read."""
        ending = None
        for kind in _TAX_NUMBERS:
            ending = ending or await last_four(self.session, _owner(employee), kind)
        return _identity(employee, None if ending is None else _HIDDEN_DIGITS + ending)

    async def employee_on_report(self, employee: Employee) -> EmployeeIdentity:
        """Return the employee of one record with the full number, if there is one."""
        number = None
        for kind in _TAX_NUMBERS:
            number = number or await self._read(_owner(employee), kind)
        return _identity(employee, number)

    async def employee_on_forms(self, year: YearOnRecord, person: UUID) -> EmployeeIdentity:
        """Return the employee as a tax form shows them, with the Social Security number from whichever record has it.

        An ITIN is none: without a Social Security number the forms say that it is applied for, and the wage file has
        zeros (IRS Publication 15, section 4; SSA Publication 42-007).
        """
        number = None
        for record in reversed(year.records[person]):
            number = number or await self._read(_owner(record), "ssn")
        return _identity(year.latest(person), number)

    async def _read(self, owner: SecretOwner, kind: NumberKind) -> str | None:
        try:
            number = await read_secret(self.session, self.ring, self.actor, owner, kind, purpose=self.purpose)
        except SecretMissingError:
            return None
        return number.reveal()


def name_of(employer: Employer) -> str:
    """Return the household's name as documents show it."""
    return f"{employer.first_name} {employer.last_name}"


def phone_of(digits: str | None) -> str | None:
    """Return a phone number as documents show it: 415-555-0134."""
    return None if digits is None else f"{digits[:3]}-{digits[3:6]}-{digits[6:]}"


def address_of(stored: dict[str, str | None] | None) -> PostalAddress | None:
    """Return an address from its row."""
    return None if stored is None else PostalAddress(**stored)  # type: ignore[arg-type]


def _identity(employee: Employee, number: str | None) -> EmployeeIdentity:
    return EmployeeIdentity(
        first_name=employee.first_name,
        last_name=employee.last_name,
        address=address_of(employee.address),
        ssn=number,
    )


def identity_of(employee: Employee) -> EmployeeIdentity:
    """Return the employee as documents without a tax number show them."""
    return _identity(employee, None)


def _owner(employee: Employee) -> SecretOwner:
    return SecretOwner(
        employee.organization_id, employee.employer_id, employee.sandbox, "employee", employee.id
    )
