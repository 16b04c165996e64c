"""Files of the bank that aren't read: for operators, why, what they hold, and setting them aside."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.banking.unread_files import (
    LONGEST_REASON,
    Unread,
    UnreadCode,
    UnreadFile,
    set_aside_for_operator,
    unread_files_for_operator,
)
from hearthpay.database.session import become_person
from hearthpay.http.envelope import request_id_of
from hearthpay.languages.catalogue import Say, mark
from hearthpay.people.operators import require_operator
from hearthpay.web.framework import go, id_in_path, page_of, show
from hearthpay.web.presentation import money_text
from hearthpay.web.settings.operator_matters import FILES_PATH
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_MOST_RECORDS: Final = 20
"""The most records of one file that the page names."""

_WORDS: Final[Mapping[UnreadCode, str]] = {
    "not_opened": mark("The file can't be opened."),
    "not_processed": mark("Processing the file failed. It is tried again every minute."),
    "damaged": mark("The file is damaged or is no return file."),
    "record_unknown": mark("{record} is of a kind we don't know."),
    "return_disputed": mark("{record}: two banks dispute this return."),
    "trace_unknown": mark("{record} fits no payment of ours, only its amount does."),
    "amount_differs": mark("{record} says {stated}; we sent {sent}."),
    "account_differs": mark("{record} names another account."),
    "company_differs": mark("{record} names another company."),
    "direction_differs": mark("{record} takes a debit for a deposit, or a deposit for a debit."),
}
_RETURN: Final = mark("Return {code} of payment {trace}")
_OF_TRACE: Final = mark("The record of payment {trace}")
_ON_LINE: Final = mark("The record on line {line}")
_A_RECORD: Final = mark("A record")
_NO_REASON: Final = mark("Enter what the bank says of the file, in at most 200 characters.")
_NOT_OPEN: Final = mark("This file is not open any more.")


@page_of(router, "GET", FILES_PATH, "signed_in")
async def list_unread_files(visitor: Visitor) -> Response:
    """Show the files that aren't read; 404 for everyone else."""
    return _shown(visitor, await _files(visitor))


@page_of(router, "POST", FILES_PATH + "/{file_id}", "signed_in", fresh=True)
async def set_file_aside(visitor: Visitor) -> Response:
    """Set a file aside: what it holds counts as collected then."""
    file_id = id_in_path(visitor, "file_id")
    files = await _files(visitor)
    file = next((each for each in files if each.id == file_id), None)
    if file is None:
        return _shown(visitor, files, file_id, _NOT_OPEN)
    reason = visitor.form.get("reason", "").strip()
    if not 0 < len(reason) <= LONGEST_REASON:
        return _shown(visitor, files, file_id, _NO_REASON)
    context, who = visitor.people_context, visitor.signed_in
    async with context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        await set_aside_for_operator(
            session, file, reason, context.clock.now(), who.person_id, request_id_of(visitor.request)
        )
    return go(FILES_PATH)


async def _files(visitor: Visitor) -> Sequence[UnreadFile]:
    """Return the open files. Raises `not_found` for a person who isn't an operator."""
    require_operator(visitor.signed_in)
    async with visitor.people_context.database.transaction(None) as session:
        await become_person(session, visitor.signed_in.person_id)
        return await unread_files_for_operator(session)


def reasons_of(say: Say, file: UnreadFile) -> list[str]:
    """Return why the file is open, one sentence for each of its records."""
    return [_sentence(say, each) for each in file.unread[:_MOST_RECORDS]]


def _sentence(say: Say, each: Unread) -> str:
    if each.trace and each.code:
        record = say(_RETURN, code=each.code, trace=each.trace)
    elif each.trace:
        record = say(_OF_TRACE, trace=each.trace)
    else:
        record = say(_A_RECORD) if each.line is None else say(_ON_LINE, line=str(each.line))
    words = _WORDS[each.kind]
    given = {
        "record": record,
        "stated": money_text(each.stated or 0),
        "sent": money_text(each.sent or 0),
    }
    return say(words, **{name: value for name, value in given.items() if f"{{{name}}}" in words})


def _shown(
    visitor: Visitor, files: Sequence[UnreadFile], at: UUID | None = None, problem: str = ""
) -> Response:
    facts = {
        "files": files,
        "reasons": {each.id: reasons_of(visitor.say, each) for each in files},
        "total": sum(each.amount for each in files),
        "at": at,
        "problem": problem,
        "form_values": dict(visitor.form) if problem else {},
    }
    return show(visitor, "unread_files.html", facts, status=400 if problem else 200)
