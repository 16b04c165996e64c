"""API schemas of to-dos."""

import datetime
from dataclasses import dataclass
from uuid import UUID

from pydantic import Field

from hearthpay.payroll.issues.open_payments import OpenPayment, PaymentStage
from hearthpay.taxes.money import from_cents
from hearthpay.todos.service import HORIZON, ToDosQuery
from hearthpay.todos.to_do import WEEK, SubjectType, ToDo, ToDoKind
from hearthpay.todos.wording import title_text
from hearthpay.wire.fields import Identifier, RequestModel
from hearthpay.wire.money import Dollars


class ToDosOfHousehold(RequestModel):
    """Whose to-dos, and how far ahead."""

    employer_id: Identifier | None = Field(
        default=None, description="The household; left out, the one that the key remembers."
    )
    due_within: int = Field(
        default=WEEK.days,
        ge=0,
        le=HORIZON.days,
        strict=False,
        description="Leaves out what is due in so many days or later; what is overdue or has no date always counts.",
    )

    def to_command(self) -> ToDosQuery:
        """Return the query in plain values."""
        return ToDosQuery(self.employer_id, self.due_within)


@dataclass(frozen=True, slots=True)
class ToDoSubject:
    """What a to-do is about."""

    object_type: SubjectType
    """What kind of thing it is."""

    object_id: str
    """An id; of a `calendar_item` its key, of a `registration` the state and the account."""


@dataclass(frozen=True, slots=True)
class ToDoPayment:
    """The payment that a to-do is about: how far it is, and its days. A day that a stage doesn't have is null."""

    stage: PaymentStage
    """What is open. `leaves` means that the account is debited on `debit_on`. `fund`: a debit was returned, so the
    money must be in the account by `fund_by`. `retry`: it is tried again on `debit_on`. `answer_awaited`: it was
    tried again on `debit_on`, and the bank answers by `answer_by`. `answer_late`: that day has passed. `unpaid`:
    after a returned debit, the wages are unpaid. `owed`: it was returned after the wages were sent. `returned`,
    `reversed`, `refunded`: what became of a deposit. `failed`: the payroll wasn't sent. `choose`: the employee's
    account can't be used. `waits`: the deposit is on hold until there is another account, at most until `until`.
    `verifying`: the account is being verified. `on_our_side`: the administrator was notified. `connect`,
    `debit_verifying`, `debit_on_our_side`: the same for the household's debit. `authorize`: the debit is to be
    authorized by `until`. `authorize_held`: it is on hold until then."""

    account_last_four: str | None
    """The last digits of the account: the household's of a debit, the employee's of a deposit."""

    pay_date: datetime.date | None
    """The payroll's pay date; null for a payout of set-aside money."""

    debit_on: datetime.date | None
    """When the household's account is debited, or was."""

    fund_by: datetime.date | None
    """The last business day before `debit_on`."""

    answer_by: datetime.date | None
    """The day by which the household's bank has returned the debit, if there were insufficient funds."""

    arrives_on: datetime.date | None
    """When the pay arrives if the debit isn't returned."""

    until: datetime.date | None
    """The last day to authorize the debit, or for another account."""

    return_code: str | None
    """The bank's code of the returned debit."""

    employees: list[UUID]
    """Ids of the employees who aren't paid; empty if the debit of the whole payroll is meant."""


@dataclass(frozen=True, slots=True)
class ToDoItem:
    """One thing that a household has to do."""

    id: UUID
    """Stays the same as long as it is the same thing; of a calendar item, in the calendar feed too."""

    kind: ToDoKind
    """What kind of to-do it is, for programs."""

    title: str
    """What to do, with its amount and date, in English."""

    due_on: datetime.date | None
    """By when; null where no law or payday sets a date."""

    overdue: bool
    """Whether `due_on` has passed."""

    amount: Dollars | None
    """What is to be paid; of taxes, what is owed less what was recorded as paid."""

    link: str
    """The page of the app for it."""

    subject: ToDoSubject
    """The payroll, employee or other thing it is about."""

    payment: ToDoPayment | None
    """How far the payment is that it is about; null for any other to-do."""


def to_do_item(to_do: ToDo, today: datetime.date, address: str) -> ToDoItem:
    """Return a to-do as the API tells it; `address` is the service's."""
    return ToDoItem(
        id=to_do.id,
        kind=to_do.kind,
        title=title_text(to_do, "en", today),
        due_on=to_do.due_on,
        overdue=to_do.overdue,
        amount=None if to_do.amount is None else from_cents(to_do.amount),
        link=f"{address}{to_do.address}",
        subject=ToDoSubject(to_do.subject_type, to_do.subject_id),
        payment=None if to_do.payment is None else _payment(to_do.payment),
    )


def _payment(payment: OpenPayment) -> ToDoPayment:
    return ToDoPayment(
        stage=payment.stage,
        account_last_four=payment.last_four,
        pay_date=payment.pay_date,
        debit_on=payment.debit_on,
        fund_by=payment.fund_by,
        answer_by=payment.answer_by,
        arrives_on=payment.arrives_on,
        until=payment.until,
        return_code=payment.return_code,
        employees=list(payment.employees),
    )
