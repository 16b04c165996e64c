"""Laws that no single query can state: every reference leads somewhere, and the vault's numbers can be decrypted."""

from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.doctor.answer_checks import sealed_answers
from hearthpay.doctor.autopilot_checks import autopilot_pay_days
from hearthpay.doctor.difference import Difference
from hearthpay.doctor.document_checks import document_contents, package_papers
from hearthpay.doctor.dues_checks import household_dues
from hearthpay.doctor.enrollment_checks import autopilot_ahead
from hearthpay.doctor.schema_checks import schema
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.vault_cipher import (
    OwnerKind,
    SealedNumber,
    SecretOwner,
    UnreadableSecretError,
    unseal,
)
from hearthpay.security.vault_numbers import NumberKind

Proof = Callable[[AsyncSession, KeyRing | None], Awaitable[list[Difference]]]

_BATCH: Final = 1_000
_REFERENCES_AT_ONCE: Final = 10
"""A statement for each of the hundreds would cost a round trip each; each keeps its hash table until all have ended."""


class _ReferencesRow(NamedTuple):
    conname: str
    source: str
    target: str
    columns: list[str]
    keys: list[str]
    id: str


_REFERENCES: Final = query(
    _ReferencesRow,
    """
    SELECT c.conname, c.conrelid::regclass::text AS source, c.confrelid::regclass::text AS target,
           ARRAY(SELECT quote_ident(a.attname) FROM unnest(c.conkey) WITH ORDINALITY AS k (number, place)
                   JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number ORDER BY k.place) AS columns,
           ARRAY(SELECT quote_ident(a.attname) FROM unnest(c.confkey) WITH ORDINALITY AS k (number, place)
                   JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.number ORDER BY k.place) AS keys,
           (SELECT quote_ident(i.attname) FROM pg_attribute i
             WHERE i.attrelid = c.conrelid AND i.attname IN ('id', 'payroll_id', 'paycheck_id', 'employee_id',
                   'employer_id', 'organization_id') AND NOT i.attisdropped
             ORDER BY array_position(ARRAY['id', 'payroll_id', 'paycheck_id', 'employee_id', 'employer_id',
                                           'organization_id']::name[], i.attname) LIMIT 1) AS id
      FROM pg_constraint c WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace ORDER BY c.conname
    """,
)


class _NumbersRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    owner_kind: OwnerKind
    owner_id: UUID
    kind: NumberKind
    ciphertext: bytes
    nonce: bytes
    key_id: str
    last_four: str


_NUMBERS: Final = query(
    _NumbersRow,
    "SELECT id, organization_id, employer_id, sandbox, owner_kind, owner_id, kind, ciphertext, nonce, key_id, "
    "last_four FROM vault WHERE id > :after ORDER BY id LIMIT :batch",
)


class _AccountsRow(NamedTuple):
    id: UUID
    recorded: str
    expected: str | None


_ACCOUNTS: Final = query(
    _AccountsRow,
    "SELECT b.id, b.last_four AS recorded, v.last_four AS expected FROM bank_accounts b "
    "LEFT JOIN vault v ON v.kind = 'bank_account' AND v.employer_id = b.employer_id "
    "AND v.owner_id = coalesce(b.employee_id, b.employer_id) "
    "WHERE b.status <> 'replaced' AND b.last_four IS DISTINCT FROM v.last_four ORDER BY b.id",
)


class _GoneRow(NamedTuple):
    id: UUID
    kind: str


_GONE: Final = query(
    _GoneRow,
    "SELECT DISTINCT a.subject_id AS id, a.details ->> 'kind' AS kind FROM audit_log a "
    "JOIN employers h ON h.id = a.employer_id LEFT JOIN employees m ON m.id = a.subject_id "
    "WHERE a.action = 'vault.store' AND (a.subject_id = h.id OR m.id IS NOT NULL) AND NOT EXISTS (SELECT FROM vault v "
    "WHERE v.owner_id = a.subject_id AND v.kind = a.details ->> 'kind') ORDER BY 1, 2",
)


async def references(session: AsyncSession, _ring: KeyRing | None) -> list[Difference]:
    """Every reference of one row to another leads to a row of the same tenant."""
    constraints = await fetch_all(session, _REFERENCES)
    found = []
    for first in range(0, len(constraints), _REFERENCES_AT_ONCE):
        some = constraints[first : first + _REFERENCES_AT_ONCE]
        dangling = _statement(" UNION ALL ".join(map(_dangling, range(len(some)), some)))
        found += [
            Difference(each.source, row.id, each.conname, row.recorded, f"a row of {each.target}")
            for row in await session.execute(dangling)
            for each in (some[row.position],)
        ]
    return found


def _dangling(position: int, each: _ReferencesRow) -> str:
    """Return a query of the rows whose reference leads nowhere; the names are the catalog's, quoted by it."""
    whole = " AND ".join(f"s.{column} IS NOT NULL" for column in each.columns)
    same = " AND ".join(f"t.{key} = s.{column}" for key, column in zip(each.keys, each.columns, strict=True))
    return (
        f"SELECT {position} AS position, s.{each.id} AS id, "
        f"concat_ws(' ', {', '.join(f's.{name}' for name in each.columns)}) AS recorded "
        f"FROM {each.source} s WHERE {whole} AND NOT EXISTS (SELECT FROM {each.target} t WHERE {same})"
    )


@lru_cache(maxsize=512)
def _statement(query: str) -> TextClause:
    """Return a query as a statement, which is parsed once."""
    return text(query)


async def vault_numbers(session: AsyncSession, ring: KeyRing | None) -> list[Difference]:
    """Every number that was stored is in the vault, can be decrypted as its owner's, and ends in its displayed
    digits.
    """
    found = [
        Difference("bank_account", row.id, "last four digits", row.recorded, row.expected or "a number")
        for row in await fetch_all(session, _ACCOUNTS)
    ]
    found += [
        Difference("vault", row.id, row.kind, "gone", "kept") for row in await fetch_all(session, _GONE)
    ]
    after = UUID(int=0)
    while ring is not None:
        rows = await fetch_all(session, _NUMBERS, {"after": after, "batch": _BATCH})
        for row in rows:
            owner = SecretOwner(
                row.organization_id, row.employer_id, row.sandbox, row.owner_kind, row.owner_id
            )
            sealed = SealedNumber(row.ciphertext, row.nonce, row.key_id)
            try:
                number = unseal(ring, owner, row.kind, sealed)
            except (KeyRingError, UnreadableSecretError) as error:
                found.append(Difference("vault", row.id, row.kind, str(error), "a number of its owner"))
                continue
            # The worker renews what was stored of a number while fewer of its digits were shown.
            if row.last_four not in (number.last_four, number.earlier_last_four):
                found.append(
                    Difference("vault", row.id, f"{row.kind} ends in", row.last_four, number.last_four)
                )
        if not rows:
            break
        after = rows[-1].id
    return found


PROOFS_BY_ID: Final[Mapping[str, Proof]] = {
    "references": references,
    "vault_numbers": vault_numbers,
    "document_contents": document_contents,
    "package_papers": package_papers,
    "autopilot_pay_days": autopilot_pay_days,
    "autopilot_ahead": autopilot_ahead,
    "household_dues": household_dues,
    "sealed_answers": sealed_answers,
    "schema": schema,
}
"""Every such law by its id, in the order in which they are proved."""

PROOFS: Final[tuple[Proof, ...]] = tuple(PROOFS_BY_ID.values())
"""Every such law, in that order."""
