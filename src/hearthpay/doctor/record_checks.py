"""Laws of records that payrolls and rights depend on: each is as it was last written, and each writing has its entry.

The database keeps a version of such a record whenever it is written (`record_versions`), in the transaction of the
entry that says who did it. What was there before versions were kept was recorded by the upgrade as it stood then, with
an entry for each record (`rights.as_of_upgrade`).
"""

from collections.abc import Mapping
from typing import Final

RECORDS: Final[Mapping[str, tuple[str, str]]] = {
    "organizations": ("id", "organization"),
    "api_keys": ("id", "api_key"),
    "memberships": ("id", "membership"),
    "member_invitations": ("id", "member_invitation"),
    "employers": ("id", "employer"),
    "employees": ("id", "employee"),
    "signed_certificates": ("id", "certificate"),
    "pay_changes": ("id", "pay_change"),
    "prior_wages": ("id", "prior_wages"),
    "escrow_accounts": ("employee_id", "set_aside_rule"),
    "set_aside_requests": ("id", "set_aside_request"),
    "invitations": ("id", "invitation"),
    "employee_links": ("id", "employee_link"),
    "account_changes": ("id", "account_change"),
    "agent_grants": ("id", "agent"),
    "calendar_links": ("id", "calendar_link"),
    "state_registrations": ("id", "registration"),
    "documents": ("id", "document"),
    "paper_signatures": ("id", "signature"),
    "people": ("id", "person"),
    "credentials": ("id", "credential"),
    "person_sessions": ("id", "session"),
}
"""The tables of these records, each with its key column and the subject of its differences."""

HIDDEN: Final = [
    "address",
    "answered",
    "asked",
    "city",
    "code_hash",
    "disputed_address",
    "email",
    "first_name",
    "key_hash",
    "last_four",
    "last_name",
    "lines",
    "metadata",
    "name",
    "number_id",
    "passkey_id",
    "password_hash",
    "phone",
    "public_key",
    "signed_name",
    "token_hash",
]
"""Columns of which a version has only the digest."""

_LATEST: Final = """
    latest AS MATERIALIZED (
        SELECT DISTINCT ON (record, record_id) record, record_id, fields
          FROM record_versions ORDER BY record, record_id, id DESC)
"""
_SUBJECT: Final = "CASE record {} END".format(
    " ".join(f"WHEN '{table}' THEN '{subject}'" for table, (_, subject) in RECORDS.items())
)

_WRITTEN_WITHOUT_ENTRY: Final = """
    v.record IN ('invitations', 'member_invitations') AND v.fields = b.fields || '{"status": "expired"}'
    OR v.record = 'escrow_accounts' AND v.before IS NULL AND v.fields ->> 'rule_rate' IS NULL
       AND v.fields ->> 'rule_amount' IS NULL
    OR v.record = 'credentials' AND v.fields ->> 'kind' = 'totp' AND v.fields ->> 'confirmed_at' IS NULL
"""
"""What needs no entry: a link that has expired, the savings account of a first deposit, and a second factor that is
not in force yet."""

_WRITES: Final[Mapping[str, str]] = {
    "organization.create": "organizations",
    "organization.set_plan": "organizations",
    "organization.lift": "organizations",
    "organization.freeze": "organizations",
    "organization.unfreeze": "organizations",
    "household.freeze": "employers",
    "household.unfreeze": "employers",
    "employer.create": "employers",
    "employer.update": "employers",
    "employee.create": "employees",
    "employee.update": "employees",
    "employee.terminate": "employees",
    "employee.reinstate": "employees",
    "employee.same_person": "employees",
    "employee.prior_wages": "prior_wages",
    "employee.link": "employee_links",
    "employee.unlink": "employee_links",
    "certificate.sign": "signed_certificates",
    "escrow.set_rule": "escrow_accounts",
    "set_aside_request.ask": "set_aside_requests",
    "invitation.create": "invitations",
    "account_change.ask": "account_changes",
    "account_change.agree": "account_changes",
    "account_change.withdraw": "account_changes",
    "document.issue": "documents",
    "calendar_link.create": "calendar_links",
    "calendar_link.revoke": "calendar_links",
    "key.create": "api_keys",
    "key.revoke": "api_keys",
    "agent.connect": "agent_grants",
    "agent.disconnect": "agent_grants",
    "agent.end": "agent_grants",
    "member.invite": "member_invitations",
    "member.uninvite": "member_invitations",
    "member.join": "memberships",
    "member.change_role": "memberships",
    "member.change_role_by_operator": "memberships",
    "member.remove": "memberships",
    "member.remove_by_operator": "memberships",
    "member.leave": "memberships",
    "member.return": "memberships",
}
"""Actions that always write a record: their subject, or one that names their subject as its employee or person."""


def records_kept() -> str:
    """Each record that a payroll or a right depends on is as it was last written; none is missing or unrecorded."""
    hidden = ", ".join(f"'{name}'" for name in HIDDEN)
    there = " UNION ALL ".join(
        f"""
        SELECT '{table}' AS record, t.{key} AS record_id, v.record_id IS NOT NULL AS known, v.fields AS expected,
               CASE WHEN v.fields IS NOT NULL
                    THEN recorded_fields(t, ARRAY(SELECT jsonb_object_keys(v.fields)), ARRAY[{hidden}]) END AS recorded
          FROM {table} t LEFT JOIN latest v ON v.record = '{table}' AND v.record_id = t.{key}
        """
        for table, (key, _) in RECORDS.items()
    )
    missing = " OR ".join(
        f"v.record = '{table}' AND NOT EXISTS (SELECT FROM {table} t WHERE t.{key} = v.record_id)"
        for table, (key, _) in RECORDS.items()
    )
    return f"""
        WITH {_LATEST},
        there AS MATERIALIZED (
            SELECT * FROM ({there}) t WHERE recorded IS DISTINCT FROM expected OR expected IS NULL)
        SELECT {_SUBJECT} AS subject, record_id AS id, name AS what, recorded ->> name AS recorded,
               expected ->> name AS expected
          FROM there CROSS JOIN LATERAL jsonb_object_keys(expected) AS name
         WHERE recorded -> name IS DISTINCT FROM expected -> name
        UNION ALL
        SELECT {_SUBJECT}, record_id, 'record', 'there',
               CASE WHEN known THEN 'deleted' ELSE 'recorded when it was written' END
          FROM there WHERE expected IS NULL
        UNION ALL
        SELECT {_SUBJECT}, record_id, 'record', 'missing', 'as it was written last'
          FROM latest v WHERE v.fields IS NOT NULL AND ({missing})
    """


def record_history() -> str:
    """The versions of a record are unchanged since they were written, with none missing in between."""
    return f"""
        SELECT {_SUBJECT} AS subject, record_id AS id, 'version ' || id AS what, encode(digest, 'hex') AS recorded,
               encode(record_version_digest(v), 'hex') AS expected
          FROM record_versions v WHERE digest <> record_version_digest(v)
        UNION ALL
        SELECT {_SUBJECT}, record_id, 'version ' || id, 'after ' || coalesce(before::text, 'none'),
               'after ' || coalesce(previous::text, 'none')
          FROM (SELECT *, lag(id) OVER (PARTITION BY record, record_id ORDER BY id) AS previous
                  FROM record_versions) v
         WHERE before IS DISTINCT FROM previous
    """


def records_changed() -> str:
    """Each version of a record was written with an entry of the audit log, or of the account's history."""
    return f"""
        SELECT {_SUBJECT.replace("CASE record", "CASE v.record")} AS subject, v.record_id AS id,
               CASE WHEN v.fields IS NULL THEN 'deletion at ' WHEN v.before IS NULL THEN 'record written at '
                    ELSE 'change at ' END || v.at AS what,
               coalesce((SELECT jsonb_object_agg(f.key, f.value)::text || ' ' FROM jsonb_each(v.fields) f
                          WHERE v.before IS NOT NULL AND f.value IS DISTINCT FROM b.fields -> f.key), '')
               || 'with no entry' AS recorded, 'with an entry of the audit log' AS expected
          FROM record_versions v LEFT JOIN record_versions b ON b.id = v.before
         WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.at = v.at AND (
                               a.organization_id = v.organization_id
                               AND (a.employer_id = v.employer_id OR a.employer_id IS NULL OR v.employer_id IS NULL)
                               OR v.organization_id IS NULL))
           AND NOT EXISTS (SELECT FROM person_events e WHERE e.at = v.at AND e.person_id = v.person_id)
           AND ({_WRITTEN_WITHOUT_ENTRY}) IS NOT TRUE
    """


def records_entered() -> str:
    """Each entry of the audit log that wrote a record has the version that it wrote, unless the record was deleted."""
    writes = ", ".join(f"('{action}', '{record}')" for action, record in _WRITES.items())
    return f"""
        WITH began AS MATERIALIZED (
            SELECT organization_id, min(at) AS at FROM audit_log
             WHERE action = 'rights.as_of_upgrade' AND details ->> 'right' = 'record' GROUP BY organization_id),
        written AS MATERIALIZED (
            SELECT v.record, v.at, i.id FROM record_versions v
             CROSS JOIN LATERAL (VALUES (v.record_id::text), (v.fields ->> 'employee_id'), (v.fields ->> 'person_id'))
                   AS i (id)),
        entered AS MATERIALIZED (
            SELECT a.*, w.record FROM audit_log a JOIN (VALUES {writes}) AS w (action, record) ON w.action = a.action
            UNION ALL
            SELECT a.*, a.details ->> 'record' FROM audit_log a
             WHERE a.action = 'rights.as_of_upgrade' AND a.details ->> 'right' = 'record')
        SELECT {_SUBJECT} AS subject, e.subject_id AS id, 'version of ' || e.action || ' at ' || e.at AS what,
               'none' AS recorded, 'what it wrote' AS expected
          FROM entered e LEFT JOIN began b ON b.organization_id = e.organization_id
         WHERE e.subject_id IS NOT NULL AND (b.at IS NULL OR e.at >= b.at)
           AND NOT EXISTS (SELECT FROM written v WHERE v.record = e.record AND v.at = e.at
                              AND v.id = e.subject_id::text)
           AND NOT EXISTS (SELECT FROM audit_log d WHERE d.action IN ('employer.delete', 'employer.reset')
                              AND d.employer_id = e.employer_id AND d.id >= e.id)
    """
