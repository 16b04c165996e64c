"""Laws of mail: every sensitive action is reported, and whatever was queued is still there, with its outcome.

The same holds for what the audit log reports.
"""

from hearthpay.database.sensitive_actions import DELICATE_ACTS


def mails_kept() -> str:
    """Every queued mail is in the outbox, even after it was sent, and none is there unregistered."""
    return """
        SELECT 'mail' AS subject, r.mail_id AS id, r.kind || ' queued at ' || r.queued_at AS what,
               coalesce(m.kind, 'gone') AS recorded, r.kind AS expected
          FROM mail_register r LEFT JOIN mail_outbox m ON m.id = r.mail_id
         WHERE m.kind IS DISTINCT FROM r.kind
        UNION ALL
        SELECT 'mail', m.id, m.kind || ' queued at ' || m.created_at, 'in the outbox', 'registered'
          FROM mail_outbox m
         WHERE NOT EXISTS (SELECT FROM mail_register r WHERE r.mail_id = m.id)
        UNION ALL
        SELECT 'mail', a.subject_id, a.action || ' at ' || a.at, 'gone', 'in the outbox'
          FROM audit_log a
         WHERE a.action IN ('mail.sent', 'mail.failed', 'mail.kept') AND a.sandbox IS NOT TRUE
           AND NOT EXISTS (SELECT FROM mail_outbox m WHERE m.id = a.subject_id)
        UNION ALL
        SELECT 'mail', m.id, m.kind || ' queued at ' || m.created_at, 'sent', 'a trace of sending it'
          FROM mail_outbox m
         WHERE m.status = 'sent' AND m.organization_id IS NOT NULL AND NOT EXISTS (
               SELECT FROM audit_log a WHERE a.subject_id = m.id AND a.action IN ('mail.sent', 'mail.kept'))
    """


def alerts_left() -> str:
    """Every sensitive action since the first one reported has caused a warning, which is sent within two days; each
    warning that there was is still there.
    """
    actions = ", ".join(f"'{action}'" for action, act in DELICATE_ACTS.items() if act.always)
    return f"""
        SELECT 'organization' AS subject, a.organization_id AS id, a.action || ' at ' || a.at AS what,
               'no warning' AS recorded, 'a warning' AS expected
          FROM audit_log a
         WHERE a.action IN ({actions}) AND a.sandbox IS NOT TRUE
           AND (a.id > (SELECT min(r.row_key)::uuid FROM row_register r WHERE r.source = 'security_alerts')
                OR a.at > (SELECT min(v.at) FROM record_versions v))
           AND NOT EXISTS (SELECT FROM security_alerts s WHERE s.id = a.id)
        UNION ALL
        SELECT 'organization', s.organization_id, 'warning of ' || s.created_at, 'told to nobody', 'told'
          FROM security_alerts s WHERE s.told_at IS NULL AND s.created_at < now() - interval '2 days'
        UNION ALL
        SELECT 'organization', coalesce(r.organization_id, s.organization_id),
               'warning ' || coalesce(r.row_key, s.id::text),
               CASE WHEN s.id IS NULL THEN 'gone' ELSE 'not registered' END,
               CASE WHEN s.id IS NULL THEN 'there' ELSE 'registered' END
          FROM (SELECT * FROM row_register WHERE source = 'security_alerts') r
          FULL JOIN security_alerts s ON s.id::text = r.row_key
         WHERE s.id IS NULL OR r.row_key IS NULL
    """
