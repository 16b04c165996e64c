"""Laws of mail: what was queued is still there, with what became of it, and so is what the audit log tells of."""


def mails_kept() -> str:
    """Every mail that was queued stands in the outbox, also once it has left, and none stands there unregistered."""
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
    """
