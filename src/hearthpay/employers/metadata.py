"""Metadata in the database: filters of lists by it, and what the audit log keeps of its changes."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Final, Literal, TypeVar, cast
from uuid import UUID

from sqlalchemy import Select, and_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute, aliased

from hearthpay.access.actor import Actor
from hearthpay.database.session import in_index_order
from hearthpay.employers.models import MetadataEntry
from hearthpay.wire.metadata import Metadata, changed_keys

METADATA: Final = "metadata_"
"""The attribute of models: SQLAlchemy has another `metadata`."""

ObjectType = Literal["employer", "employee", "payroll"]
ListedRow = TypeVar("ListedRow")


def with_metadata(
    statement: Select[ListedRow],
    actor: Actor,
    object_type: ObjectType,
    id_column: InstrumentedAttribute[UUID],
    wanted: Metadata,
    *,
    employer_id: UUID | None = None,
    before: UUID | None = None,
) -> Select[ListedRow]:
    """Return the statement for those of its rows that have all of these keys with these values.

    Its rows are of the type, with their ids in `id_column`, of one household if `employer_id` says so, and in a page of
    a list older than `before`. The policies check the tenant anyway; stated here, it lets the planner use the indexes
    that begin with it.
    """
    for key, value in sorted(wanted.items()):
        entry = aliased(MetadataEntry)
        whose = (
            (entry.organization_id == actor.organization_id, entry.sandbox.is_(actor.sandbox))
            if employer_id is None
            else (entry.employer_id == employer_id,)
        )
        found = (entry.object_type == object_type, entry.key == key, entry.value == value)
        older = () if before is None else (entry.object_id < before,)
        statement = statement.join(entry, and_(entry.object_id == id_column, *whose, *found, *older))
    return statement


def page_order(session: AsyncSession, wanted: Metadata) -> AbstractAsyncContextManager[None]:
    """Return the context in which a page of an organization's list is read: by metadata, in the order of its index."""
    return in_index_order(session) if wanted else nullcontext()


def audit_details(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, Any]:
    """Return the details of changed settings for the audit log: each before and after, of metadata the keys alone."""
    names = before.keys() - {METADATA}
    details: dict[str, Any] = {
        "before": {name: before[name] for name in before if name in names},
        "after": {name: after[name] for name in before if name in names},
    }
    if METADATA in before:
        details["metadata"] = changed_keys(cast(Metadata, before[METADATA]), cast(Metadata, after[METADATA]))
    return details
