"""Laws of rights: each right in an organization is the one that the audit log last says was given, and no more.

The upgrade that introduced these laws recorded the rights of that time (`rights.as_of_upgrade`) if the audit log
didn't have them in full. A change made directly in the database leaves no audit row, and the log is sealed.
"""

from typing import Final

_SAME_TIME: Final = "IS NOT DISTINCT FROM CAST(d ->> 'expires_at' AS timestamptz)"


def member_rights() -> str:
    """Everyone has the role that was last given to them; invitations offer what they offered."""
    return """
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (organization_id, person_id) organization_id, person_id, role
              FROM (SELECT id, organization_id,
                           CASE action WHEN 'organization.create' THEN actor_id ELSE subject_id END AS person_id,
                           CASE WHEN action IN ('member.change_role', 'member.change_role_by_operator')
                                THEN details -> 'after' ->> 'role'
                                WHEN action IN ('member.remove', 'member.remove_by_operator', 'member.leave')
                                THEN 'none'
                                ELSE details ->> 'role' END AS role
                      FROM audit_log
                     WHERE action IN ('organization.create', 'member.join', 'member.change_role', 'member.remove',
                                      'member.leave', 'member.change_role_by_operator', 'member.remove_by_operator')
                        OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'member') a
             WHERE person_id IS NOT NULL
             ORDER BY organization_id, person_id, id DESC)
        SELECT 'person' AS subject, coalesce(m.person_id, s.person_id) AS id,
               'role in the organization ' || coalesce(m.organization_id, s.organization_id) AS what,
               coalesce(m.role, 'none') AS recorded, coalesce(s.role, 'none was given') AS expected
          FROM (SELECT * FROM memberships WHERE ended_at IS NULL) m
          FULL JOIN said s ON s.organization_id = m.organization_id AND s.person_id = m.person_id
         WHERE coalesce(m.role, 'none') <> coalesce(s.role, '')
        UNION ALL
        SELECT 'invitation', i.id, 'role', i.role, coalesce(a.details ->> 'role', 'none was offered')
          FROM member_invitations i
          LEFT JOIN audit_log a ON a.subject_id = i.id AND a.action = 'member.invite'
               AND a.organization_id = i.organization_id
         WHERE i.role IS DISTINCT FROM a.details ->> 'role'
    """


def key_rights() -> str:
    """An API key is the one that was created, and may do what it was created for, there and that long; once revoked
    it stays revoked.
    """
    return f"""
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (subject_id) subject_id, organization_id, details FROM audit_log
             WHERE action = 'key.create' AND jsonb_exists(details, 'digest')
                OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'key'
             ORDER BY subject_id, id DESC),
        revoked AS MATERIALIZED (SELECT DISTINCT subject_id FROM audit_log WHERE action = 'key.revoke')
        SELECT 'api_key' AS subject, k.id,
               CASE WHEN r.subject_id IS NOT NULL AND k.revoked_at IS NULL THEN 'revoked'
                    ELSE 'what it may do' END AS what,
               CASE WHEN r.subject_id IS NOT NULL AND k.revoked_at IS NULL THEN 'no'
                    ELSE concat_ws(', ', k.organization_id, k.mode, array_to_string(k.scopes, ' '),
                                   'household ' || k.employer_id, CASE WHEN k.confined THEN 'only there' END,
                                   'until ' || k.expires_at, encode(sha256(k.key_hash), 'hex')) END AS recorded,
               CASE WHEN r.subject_id IS NOT NULL AND k.revoked_at IS NULL THEN 'yes'
                    WHEN s.subject_id IS NULL THEN 'none was made'
                    ELSE concat_ws(', ', s.organization_id, d ->> 'mode', (SELECT string_agg(scope, ' ')
                                     FROM jsonb_array_elements_text(d -> 'scopes') scope),
                                   'household ' || (d ->> 'household'),
                                   CASE WHEN d ->> 'confined' = 'true' THEN 'only there' END,
                                   'until ' || CAST(d ->> 'expires_at' AS timestamptz), d ->> 'digest') END AS expected
          FROM api_keys k LEFT JOIN said s ON s.subject_id = k.id LEFT JOIN revoked r ON r.subject_id = k.id
         CROSS JOIN LATERAL (SELECT s.details AS d) x
         WHERE r.subject_id IS NOT NULL AND k.revoked_at IS NULL
            OR (s.organization_id = k.organization_id AND d ->> 'mode' = k.mode AND to_jsonb(k.scopes) = d -> 'scopes'
                AND (d ->> 'household' IS NOT DISTINCT FROM k.employer_id::text
                     -- A sandbox household that was deleted is forgotten.
                     OR k.employer_id IS NULL AND NOT EXISTS (
                         SELECT FROM employers e WHERE e.id::text = d ->> 'household'))
                AND CAST(d ->> 'confined' AS boolean) = k.confined AND k.expires_at {_SAME_TIME}
                AND d ->> 'digest' = encode(sha256(k.key_hash), 'hex')) IS NOT TRUE
    """


def agent_rights() -> str:
    """An agent may do what a person granted, in the granted household, for the granted time; once ended it stays
    ended.
    """
    return f"""
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (subject_id) * FROM audit_log
             WHERE action = 'agent.connect' AND jsonb_exists(details, 'tools')
                OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'agent'
             ORDER BY subject_id, id DESC),
        over AS MATERIALIZED (
            SELECT DISTINCT subject_id FROM audit_log WHERE action IN ('agent.disconnect', 'agent.end'))
        SELECT 'agent' AS subject, g.id,
               CASE WHEN o.subject_id IS NOT NULL AND g.ended_at IS NULL THEN 'ended' ELSE 'what it may do' END AS what,
               CASE WHEN o.subject_id IS NOT NULL AND g.ended_at IS NULL THEN 'no'
                    ELSE concat_ws(', ', 'of ' || g.person_id, 'in ' || g.employer_id, g.client_id, g.returns_to,
                                   array_to_string(g.tools, ' '), CASE WHEN g.demands_preview THEN 'as previewed' END,
                                   'until ' || g.expires_at) END AS recorded,
               CASE WHEN o.subject_id IS NOT NULL AND g.ended_at IS NULL THEN 'yes'
                    WHEN s.id IS NULL THEN 'nothing was given'
                    ELSE concat_ws(', ', 'of ' || (d ->> 'person_id'), 'in ' || s.employer_id, d ->> 'client_id',
                                   d ->> 'returns_to', (SELECT string_agg(tool, ' ')
                                     FROM jsonb_array_elements_text(d -> 'tools') tool),
                                   CASE WHEN d ->> 'demands_preview' = 'true' THEN 'as previewed' END,
                                   'until ' || CAST(d ->> 'expires_at' AS timestamptz)) END AS expected
          FROM agent_grants g LEFT JOIN said s ON s.subject_id = g.id LEFT JOIN over o ON o.subject_id = g.id
         CROSS JOIN LATERAL (SELECT s.details AS d) x
         WHERE o.subject_id IS NOT NULL AND g.ended_at IS NULL
            OR (s.organization_id = g.organization_id AND s.employer_id = g.employer_id AND s.sandbox = g.sandbox
                AND d ->> 'person_id' = g.person_id::text AND d ->> 'client_id' = g.client_id
                AND d ->> 'returns_to' = g.returns_to AND to_jsonb(g.tools) = d -> 'tools'
                AND CAST(d ->> 'demands_preview' AS boolean) = g.demands_preview AND g.expires_at {_SAME_TIME})
               IS NOT TRUE
    """


def linked_rights() -> str:
    """An employee's record is open to the account of the person last linked to it, and to no other."""
    return """
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (subject_id) subject_id, employer_id,
                   CASE WHEN action <> 'employee.unlink' THEN details ->> 'person_id' END AS person_id
              FROM audit_log
             WHERE action IN ('employee.link', 'employee.unlink')
                OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'employee'
             ORDER BY subject_id, id DESC)
        SELECT 'employee' AS subject, l.employee_id AS id, 'account that opens the record' AS what,
               l.person_id::text AS recorded, coalesce(s.person_id, 'none') AS expected
          FROM employee_links l LEFT JOIN said s ON s.subject_id = l.employee_id AND s.employer_id = l.employer_id
         WHERE l.ended_at IS NULL AND s.person_id IS DISTINCT FROM l.person_id::text
    """


def audit_begins() -> str:
    """Every organization has an audit log, from the row of its making or of the upgrade on."""
    return """
        SELECT 'organization' AS subject, o.id, 'rows of its audit log' AS what, '0' AS recorded,
               'one at least' AS expected
          FROM organizations o WHERE NOT EXISTS (SELECT FROM audit_seals s WHERE s.organization_id = o.id)
           AND NOT EXISTS (SELECT FROM audit_unsealed u WHERE u.organization_id = o.id)
    """
