"""`hearthpay audit`: who did what, newest first, for the operator."""

import datetime
import json
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from hearthpay.cli.operator import DataDir, as_operator, refuse
from hearthpay.clock import BUSINESS_TIME

if TYPE_CHECKING:
    from hearthpay.database.audit import AuditEntry

_PIPED_WIDTH = 200
"""Columns of a table written to a file or another program, which has no width to ask for."""


def audit(
    organization: Annotated[str | None, typer.Option(help="One account only, by its name or id.")] = None,
    household: Annotated[str | None, typer.Option(help="One household only, by its id.")] = None,
    action: Annotated[str | None, typer.Option(help="One action only, such as payroll.run.")] = None,
    since: Annotated[
        str | None, typer.Option(help="From the beginning of this day in New York on, such as 2026-11-01.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many rows at most.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Show the audit log, newest first. Times are UTC."""
    employer_id = _household_id(household)
    start = _start_of(since)

    async def run(session: Any) -> "list[AuditEntry]":
        from hearthpay.accounts import service as accounts
        from hearthpay.database.audit import entries

        account = None
        if organization is not None:
            account = await accounts.find_organization(session, organization)
            if account is None:
                refuse(f"there is no organization {organization!r}")
        return await entries(
            session,
            organization_id=None if account is None else account.id,
            employer_id=employer_id,
            action=action,
            since=start,
            limit=limit,
        )

    found: list[AuditEntry] = as_operator(data_dir, run)
    if as_json:
        for entry in found:
            sys.stdout.write(json.dumps(_as_json(entry), ensure_ascii=False) + "\n")
    else:
        _show(found)


def _household_id(text: str | None) -> UUID | None:
    try:
        return None if text is None else UUID(text)
    except ValueError:
        refuse("--household must be the id of a household")


def _start_of(day: str | None) -> datetime.datetime | None:
    try:
        return (
            None
            if day is None
            else datetime.datetime.combine(datetime.date.fromisoformat(day), datetime.time(), BUSINESS_TIME)
        )
    except ValueError:
        refuse("--since must be a date, such as 2026-11-01")


def _instant(at: datetime.datetime) -> str:
    return at.astimezone(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def _as_json(entry: "AuditEntry") -> dict[str, object]:
    return {
        "id": str(entry.id),
        "at": _instant(entry.at),
        "organization_id": str(entry.organization_id),
        "organization": entry.organization,
        "employer_id": _text(entry.employer_id),
        "sandbox": entry.sandbox,
        "actor": entry.actor_kind,
        "actor_id": _text(entry.actor_id),
        "action": entry.action,
        "subject_id": _text(entry.subject_id),
        "request_id": entry.request_id,
        "details": entry.details,
    }


def _show(found: "list[AuditEntry]") -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console() if known else Console(width=_PIPED_WIDTH)
    if not found:
        console.print("No row of the audit log matches.")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("At (UTC)", no_wrap=True)
    for column in ("Account", "Actor", "Action", "Subject", "Details"):
        table.add_column(column, overflow="fold")
    for entry in found:
        mode = "" if entry.sandbox is None else " (sandbox)" if entry.sandbox else " (live)"
        table.add_row(
            entry.at.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S"),
            escape(entry.organization + mode),
            entry.actor_kind + ("" if entry.actor_id is None else f" {entry.actor_id}"),
            escape(entry.action),
            str(entry.subject_id or ""),
            escape(", ".join(f"{name}={_detail(value)}" for name, value in entry.details.items())),
        )
    console.print(table)


def _detail(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
