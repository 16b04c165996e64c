"""Notices that another bank account was connected to a household; sent at once, since its debits go there."""

import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.household_clocks import at_a_clock, by_mode
from hearthpay.database.relations import EMPLOYERS, NOTICES
from hearthpay.database.statements import Fragment, column_list
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.languages.catalogue import mark, moment_in
from hearthpay.mail.letter import letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice
from hearthpay.people.recipients import NoticeReader, addressed, readers_of_households

STILL_NEWS: Final = datetime.timedelta(days=3)
"""Accounts connected longer ago are no longer reported."""


class NewAccount(NamedTuple):
    """An account that was connected, and whose it is."""

    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    last_four: str
    created_at: datetime.datetime
    household_first: str


_NEW: Final = by_mode(
    lambda mode: query(
        NewAccount,
        "SELECT {columns} FROM (SELECT DISTINCT ON (b.employer_id) b.id, b.organization_id, b.employer_id, b.sandbox, "
        "b.last_four, b.created_at, "
        "h.first_name AS household_first FROM bank_accounts b JOIN {employers} h ON h.id = b.employer_id "
        "WHERE b.employee_id IS NULL AND {mode} AND b.created_at > :since "
        "AND b.created_at <= :now "
        "AND NOT EXISTS (SELECT FROM {notices} n WHERE n.employer_id = b.employer_id "
        "AND n.kind = 'notice.account_changed' AND n.created_at >= b.created_at) "
        "ORDER BY b.employer_id, b.created_at DESC, b.id) connected "
        "ORDER BY row_number() OVER (PARTITION BY organization_id ORDER BY employer_id), employer_id LIMIT :limit",
        columns=column_list(NewAccount._fields),
        employers=EMPLOYERS,
        mode=mode,
        notices=NOTICES,
    ),
    Fragment("b.sandbox"),
)


async def find_new_accounts(session: AsyncSession, now: datetime.datetime, limit: int) -> list[list[Notice]]:
    """Return the new accounts to report, a list for each household."""
    rows = await fetch_all(
        session, _NEW[at_a_clock(session)], {"now": now, "since": now - STILL_NEWS, "limit": limit}
    )
    readers = await readers_of_households(session, {row.employer_id for row in rows})
    return [
        addressed(
            Notice(
                f"account_changed:{row.id}",
                "account_changed",
                "household",
                None,
                row.organization_id,
                row.employer_id,
                row.sandbox,
                urgent=True,
            ),
            readers.get(row.employer_id, ()),
            partial(_write, row),
        )
        for row in rows
    ]


def account_changed_mail(to: NoticeReader, account: NewAccount) -> Mail:
    """Return the mail saying that payrolls are debited from another account from now on."""
    say = to.say
    happened = say(
        mark(
            "The bank account ending in {digits} was connected on {when}. We debit your payrolls there from now on."
        ),
        when=moment_in(to.language, account.created_at),
        digits=account.last_four,
    )
    alarm = say(
        mark("If this wasn't you, revoke its authorization in Hearthpay now and contact your administrator.")
    )
    subject = say(mark("Another bank account was connected"))
    return letter(
        to.address,
        to.language,
        subject,
        to.greeted(account.household_first),
        (happened,),
        place=to.place,
        closing=(alarm,),
    )


def _write(account: NewAccount, reader: NoticeReader) -> Mail:
    return account_changed_mail(reader, account)
