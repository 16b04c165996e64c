"""API schemas of to-dos."""

import datetime
from dataclasses import dataclass
from uuid import UUID

from pydantic import Field

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
    )
