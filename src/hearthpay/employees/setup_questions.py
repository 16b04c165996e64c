"""Setting up an employee in questions: each answer is stored at once, and what is still open can be asked later.

Question 1 is about the household, 2 about the person. With the second the employee exists; `setup_question` is the
next one to ask, so that people can leave anywhere.
"""

from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.clock import Clock
from hearthpay.employees.commands import AddEmployee, ChangeEmployee
from hearthpay.employees.models import Employee
from hearthpay.employees.service import Noted, create_employee, update_employee

PAY: Final = 3
FREQUENCY: Final = 4
METHOD: Final = 5
LAST_QUESTION: Final = METHOD


async def begin_setup(session: AsyncSession, actor: Actor, clock: Clock, new: AddEmployee) -> Noted:
    """Add an employee who is being set up: the next question is the pay. Raises what `create_employee` raises."""
    noted = await create_employee(session, actor, clock, new)
    noted.employee.setup_question = PAY
    await session.flush()
    return noted


async def answer_question(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employee_id: UUID,
    question: int,
    changes: ChangeEmployee,
) -> Noted:
    """Store the answer to a question; the following one is next, unless a later one is already.

    An answer may also be corrected once all are given. Raises what `update_employee` raises.
    """
    noted = await update_employee(session, actor, clock, employee_id, changes)
    before = noted.employee.setup_question
    if before is not None and before <= question:
        after = question + 1 if question < LAST_QUESTION else None
        noted.employee.setup_question = after
        noted.employee.updated_at = clock.now()
        await session.flush()
        await record_audit(
            session,
            actor,
            "employee.update",
            employer_id=noted.employee.employer_id,
            subject_id=noted.employee.id,
            details={"before": {"setup_question": before}, "after": {"setup_question": after}},
        )
    return noted


async def employee_in_setup(session: AsyncSession, household_id: UUID) -> Employee | None:
    """Return the employee whom setup is about: one with open questions, else the first current one, else a former one.

    None if the household never had any.
    """
    found = select(Employee).where(Employee.employer_id == household_id)
    order = ((Employee.status == "active").desc(), Employee.setup_question.is_(None), Employee.id)
    return await session.scalar(found.order_by(*order).limit(1))
