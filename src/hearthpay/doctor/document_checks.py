"""Laws of the document archive: one version in force, each replaced by the next, and nothing stored has changed."""

import hashlib
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.household_clocks import time_of
from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.doctor.difference import Difference
from hearthpay.documents.archive import content_in
from hearthpay.documents.packing import papers_in
from hearthpay.security.content_seal import SealedContent, document_place, open_content
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.vault_cipher import UnreadableSecretError

_BATCH: Final = 50


class _PackagesRow(NamedTuple):
    id: UUID
    employer_id: UUID
    sealed_content: bytes
    nonce: bytes
    key_id: str
    papers: int | None


_PACKAGES: Final = query(
    _PackagesRow,
    "SELECT d.id, d.employer_id, d.sealed_content, d.nonce, d.key_id, p.papers FROM documents d LEFT JOIN LATERAL "
    "(SELECT papers FROM document_packages p WHERE p.document_id = d.id ORDER BY p.id LIMIT 1) p ON true "
    "WHERE d.kind = 'year_package' ORDER BY d.id",
)
_LISTED: Final = text("SELECT id FROM documents WHERE employer_id = :employer_id AND id = ANY(:ids)")


class _SealedRow(NamedTuple):
    id: UUID
    content_hash: bytes
    sealed_content: bytes
    nonce: bytes
    key_id: str


_SEALED: Final = query(
    _SealedRow,
    "SELECT id, content_hash, sealed_content, nonce, key_id FROM documents WHERE id > :after ORDER BY id LIMIT :batch",
)


def document_versions() -> str:
    """The latest version of each document is in force, and every other names the next one."""
    return """
        SELECT 'document' AS subject, id, 'version ' || version || ' is replaced by' AS what,
               coalesce(superseded_by::text, 'none') AS recorded, coalesce(next::text, 'none') AS expected
          FROM (SELECT *, lead(id) OVER (PARTITION BY employer_id, kind, subject_id, tax_year, variant
                                             ORDER BY version) AS next FROM documents) d
         WHERE superseded_by IS DISTINCT FROM next
    """


def documents_issued() -> str:
    """Each document is filed under its household, its subject and its kind as issued, and none that was issued is
    missing.
    """
    return """
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (subject_id) id, subject_id, organization_id, employer_id, sandbox, details
              FROM audit_log
             WHERE action = 'document.issue' AND jsonb_exists(details, 'content_sha256')
                OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'paper'
             ORDER BY subject_id, id DESC),
        stands AS (
            SELECT f.id, s.subject_id AS said,
                   concat_ws(', ', f.organization_id, f.employer_id, f.sandbox, f.kind, f.tax_year, f.variant,
                             'version ' || f.version, 'about ' || f.subject_id, 'employee ' || f.employee_id,
                             'payroll ' || f.payroll_id, encode(f.content_hash, 'hex')) AS recorded,
                   concat_ws(', ', s.organization_id, s.employer_id, s.sandbox, d ->> 'kind', d ->> 'tax_year',
                             d ->> 'variant', 'version ' || (d ->> 'version'), 'about ' || (d ->> 'about'),
                             'employee ' || (d ->> 'employee_id'), 'payroll ' || (d ->> 'payroll_id'),
                             d ->> 'content_sha256') AS expected
              FROM documents f LEFT JOIN said s ON s.subject_id = f.id
             CROSS JOIN LATERAL (SELECT s.details AS d) x),
        emptied AS MATERIALIZED (
            SELECT employer_id, max(at) AS at FROM audit_log WHERE action = 'employer.reset' GROUP BY employer_id)
        SELECT 'document' AS subject, id, 'filed as' AS what, recorded,
               CASE WHEN said IS NULL THEN 'none was issued' ELSE expected END AS expected
          FROM stands WHERE recorded <> expected OR said IS NULL
        UNION ALL
        SELECT DISTINCT 'document', s.subject_id, (s.details ->> 'kind') || ' of ' || (s.details ->> 'tax_year'),
               'gone', 'kept'
          FROM audit_log s JOIN employers h ON h.id = s.employer_id LEFT JOIN emptied e ON e.employer_id = h.id
         WHERE (s.action = 'document.issue' OR s.action = 'rights.as_of_upgrade' AND s.details ->> 'right' = 'paper')
           AND (e.at IS NULL OR s.at > e.at)
           AND NOT EXISTS (SELECT FROM documents f WHERE f.id = s.subject_id)
    """


def papers_signed() -> str:
    """Each signature under a document is the one that was given, by whom and under which version, and none is
    missing.
    """
    return """
        WITH said AS MATERIALIZED (
            SELECT subject_id, organization_id, employer_id, sandbox, at, details FROM audit_log
             WHERE action = 'document.sign')
        SELECT 'signature' AS subject, s.id, s.party || ' under ' || s.document_id AS what,
               concat_ws(', ', s.employee_id, s.party, s.document_id, d.kind, 'version ' || d.version,
                         encode(d.content_hash, 'hex')) AS recorded,
               coalesce(concat_ws(', ', a.details ->> 'employee_id', a.details ->> 'party', a.details ->> 'document_id',
                        a.details ->> 'kind', 'version ' || (a.details ->> 'version'), a.details ->> 'content_sha256'),
                        'nobody signed') AS expected
          FROM paper_signatures s
          JOIN documents d ON d.id = s.document_id
          LEFT JOIN said a ON a.subject_id = s.id AND (a.organization_id, a.employer_id, a.sandbox)
                                                   = (s.organization_id, s.employer_id, s.sandbox)
         WHERE a.subject_id IS NULL OR d.employee_id IS DISTINCT FROM s.employee_id
            OR concat_ws(', ', s.employee_id, s.party, s.document_id, d.kind, 'version ' || d.version,
                         encode(d.content_hash, 'hex'))
               <> concat_ws(', ', a.details ->> 'employee_id', a.details ->> 'party', a.details ->> 'document_id',
                        a.details ->> 'kind', 'version ' || (a.details ->> 'version'), a.details ->> 'content_sha256')
        UNION ALL
        SELECT 'signature', a.subject_id, (a.details ->> 'party') || ' under ' || (a.details ->> 'document_id'),
               'gone', 'kept'
          FROM said a JOIN documents d ON d.id = CAST(a.details ->> 'document_id' AS uuid)
         WHERE NOT EXISTS (SELECT FROM paper_signatures s WHERE s.id = a.subject_id)
    """


def packages_made() -> str:
    """A finished package is the file of its household and year, and none is unfinished for more than a day."""
    now = time_of(Fragment("p.employer_id"), Fragment("CAST(:now AS timestamptz)"))
    return f"""
        SELECT 'package' AS subject, p.id, p.status || ' of ' || p.tax_year AS what,
               coalesce(d.kind || ' of ' || d.tax_year, 'asked for at ' || p.requested_at) AS recorded,
               CASE p.status WHEN 'ready' THEN 'the year_package of ' || p.tax_year
                             ELSE 'finished within a day' END AS expected
          FROM document_packages p LEFT JOIN documents d ON d.id = p.document_id
         WHERE p.finished_at IS NULL AND p.requested_at < least({now}, CAST(:now AS timestamptz)) - interval '1 day'
            OR p.status = 'ready' AND ((d.kind, d.employer_id, d.tax_year)
                                       IS DISTINCT FROM ('year_package', p.employer_id, p.tax_year)
                                       OR p.drawn <> p.papers)
    """


async def package_papers(session: AsyncSession, ring: KeyRing | None) -> list[Difference]:
    """Every package that was issued contains archived documents of its household, as many as it says."""
    if ring is None:
        return []
    found = []
    for row in await fetch_all(session, _PACKAGES):
        try:
            listed = papers_in(_content_of(ring, row))
        except (KeyRingError, UnreadableSecretError):  # `document_contents` tells of it
            continue
        if listed is None:
            continue
        ids = [each.document_id for each in listed]
        kept = set(await session.scalars(_LISTED, {"employer_id": row.employer_id, "ids": ids}))
        found += [
            Difference("document", row.id, f"paper {each.name}", "not in the archive", str(each.document_id))
            for each in listed
            if each.document_id not in kept
        ]
        if row.papers is not None and row.papers != len(listed):
            found.append(Difference("document", row.id, "papers", str(len(listed)), str(row.papers)))
    return found


def _content_of(ring: KeyRing, row: _PackagesRow) -> bytes:
    sealed = SealedContent(row.sealed_content, row.nonce, row.key_id)
    return content_in(open_content(ring, document_place(row.id), sealed))


async def document_contents(session: AsyncSession, ring: KeyRing | None) -> list[Difference]:
    """Every document that was issued can be decrypted, and its hash is the recorded one."""
    found = []
    after = UUID(int=0)
    while ring is not None:
        rows = await fetch_all(session, _SEALED, {"after": after, "batch": _BATCH})
        for row in rows:
            sealed = SealedContent(row.sealed_content, row.nonce, row.key_id)
            try:
                opened = open_content(ring, document_place(row.id), sealed)
            except (KeyRingError, UnreadableSecretError) as error:
                found.append(Difference("document", row.id, "content", str(error), "a paper"))
                continue
            digest = hashlib.sha256(opened).hexdigest()
            if digest != row.content_hash.hex():
                found.append(Difference("document", row.id, "hash", row.content_hash.hex(), digest))
        if not rows:
            break
        after = rows[-1].id
    return found
