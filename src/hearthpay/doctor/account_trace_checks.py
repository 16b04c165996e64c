"""Laws of bank accounts and entries against the audit log: who connected what, and what became of it.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

from hearthpay.banking.return_codes import return_codes
from hearthpay.doctor.traces import NOT_CLEARED


def account_standing() -> str:
    """A bank account was connected by somebody, is of the type entered or corrected, and active, failed or replaced as
    recorded last.
    """
    return f"""
        WITH said AS MATERIALIZED (
            SELECT a.id, a.subject_id, a.employer_id, a.sandbox, a.organization_id,
                   CASE a.action WHEN 'bank_account.connect' THEN
                                 CASE a.details ->> 'verification' WHEN 'instant' THEN 'active' ELSE 'verifying' END
                        WHEN 'bank_account.activate' THEN 'active' WHEN 'bank_account.fail' THEN 'failed'
                        WHEN 'bank_account.disconnect' THEN 'replaced'
                        WHEN 'rights.as_of_upgrade' THEN a.details ->> 'status' END AS status,
                   a.details ->> 'account_type' AS account_type, a.action = 'bank_account.connect' AS connected,
                   CASE a.action WHEN 'bank_account.fail' THEN a.details ->> 'reason' END AS reason
              FROM audit_log a
             WHERE a.action IN ('bank_account.connect', 'bank_account.activate', 'bank_account.fail',
                                'bank_account.disconnect', 'bank_account.correct')
                OR a.action = 'rights.as_of_upgrade' AND a.details ->> 'right' = 'account'),
        replaced AS MATERIALIZED (
            SELECT DISTINCT CAST(a.details ->> 'replaces' AS uuid) AS id FROM audit_log a
             WHERE a.action = 'bank_account.connect' AND a.details ->> 'replaces' IS NOT NULL),
        latest AS MATERIALIZED (
            SELECT subject_id, (array_agg(status ORDER BY id DESC) FILTER (WHERE status IS NOT NULL))[1] AS status,
                   (array_agg(account_type ORDER BY id DESC) FILTER (WHERE account_type IS NOT NULL))[1]
                   AS account_type,
                   (array_agg(reason ORDER BY id DESC) FILTER (WHERE reason IS NOT NULL))[1] AS reason
              FROM said GROUP BY subject_id)
        SELECT 'bank_account' AS subject, b.id, 'standing' AS what,
               concat_ws(', ', b.status, b.account_type, b.reason) AS recorded,
               CASE WHEN l.subject_id IS NULL THEN 'connected by nobody'
                    ELSE concat_ws(', ', CASE WHEN r.id IS NULL THEN l.status ELSE 'replaced' END,
                                   l.account_type, CASE l.status WHEN 'failed' THEN l.reason END) END AS expected
          FROM bank_accounts b LEFT JOIN latest l ON l.subject_id = b.id LEFT JOIN replaced r ON r.id = b.id
         WHERE (b.status, b.account_type) IS DISTINCT FROM
               (CASE WHEN r.id IS NULL THEN l.status ELSE 'replaced' END, l.account_type)
            OR b.status = 'failed' AND l.reason <> coalesce(b.reason, '')
               AND coalesce(b.reason, '') NOT LIKE 'Corrected by the bank%'
        UNION ALL
        SELECT 'bank_account', a.subject_id, 'connected', 'gone', 'an account of ' || a.employer_id
          FROM said a LEFT JOIN bank_accounts b ON b.id = a.subject_id AND b.employer_id = a.employer_id
         WHERE a.connected AND b.id IS NULL AND {NOT_CLEARED}
    """


def returns_recorded() -> str:
    """A bank entry is returned, and with which code, exactly if that was recorded when the bank returned it."""
    return f"""
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (a.subject_id) a.subject_id AS id, a.details ->> 'code' AS code
              FROM audit_log a
             WHERE (a.action = 'bank_entry.return' OR a.action = 'rights.as_of_upgrade'
                                                       AND a.details ->> 'right' = 'return') AND {NOT_CLEARED}
             ORDER BY a.subject_id, a.id DESC)
        SELECT 'bank_entry' AS subject, coalesce(b.id, s.id) AS id, 'returned' AS what,
               coalesce(b.return_code, 'no') AS recorded, coalesce(s.code, 'no') AS expected
          FROM (SELECT id, coalesce(return_code, 'without a code') AS return_code FROM bank_entries
                 WHERE status = 'returned' OR return_code IS NOT NULL) b
          FULL JOIN said s USING (id) WHERE b.return_code IS DISTINCT FROM s.code
    """


def authorizations_revoked() -> str:
    """An authorization of debits is revoked if the bank has stopped them since, or the account was disconnected, and
    not otherwise.
    """
    stops = ", ".join(
        f"'{code}'" for code, reason in return_codes().reasons.items() if reason.handling == "stop"
    )
    return f"""
        WITH stopped AS MATERIALIZED (
            SELECT b.bank_account_id, a.id FROM audit_log a JOIN bank_entries b ON b.id = a.subject_id
             WHERE a.action = 'bank_entry.return' AND b.kind = 'debit' AND a.details ->> 'code' IN ({stops}))
        SELECT 'authorization' AS subject, z.id, 'revoked' AS what, coalesce(z.revoked_at::text, 'no') AS recorded,
               CASE WHEN z.revoked_at IS NULL THEN 'since the bank stopped them' ELSE 'no' END AS expected
          FROM ach_authorizations z JOIN bank_accounts b ON b.id = z.bank_account_id
         WHERE b.status <> 'replaced'
           AND CASE WHEN z.revoked_at IS NULL
                    THEN EXISTS (SELECT FROM stopped s WHERE s.bank_account_id = z.bank_account_id AND s.id > z.id)
                    ELSE NOT EXISTS (SELECT FROM stopped s WHERE s.bank_account_id = z.bank_account_id) END
    """


def account_requests() -> str:
    """An employee's request for another account is there as asked; it waits only while it is the newest and nobody
    withdrew it, and has the household's word exactly if somebody gave it.
    """
    return f"""
        WITH said AS MATERIALIZED (
            SELECT a.subject_id AS id, bool_or(a.action = 'account_change.ask') AS asked,
                   bool_or(a.action = 'account_change.withdraw') AS withdrawn,
                   bool_or(a.action = 'account_change.agree') AS agreed
              FROM audit_log a
             WHERE a.action IN ('account_change.ask', 'account_change.withdraw', 'account_change.agree')
               AND {NOT_CLEARED} GROUP BY 1)
        SELECT 'account change' AS subject, coalesce(c.id, s.id) AS id, 'standing' AS what,
               coalesce(c.status || CASE WHEN c.word_given_at IS NULL THEN '' ELSE ', agreed' END, 'gone') AS recorded,
               CASE WHEN s.id IS NULL THEN 'nobody asked' WHEN s.withdrawn THEN 'withdrawn'
                    WHEN s.agreed THEN 'agreed' WHEN c.word_given_at IS NOT NULL THEN 'not agreed'
                    ELSE 'the newest' END AS expected
          FROM account_changes c FULL JOIN said s ON s.id = c.id
         WHERE c.id IS NULL OR s.asked IS NOT TRUE OR s.withdrawn AND c.status <> 'withdrawn'
            OR s.agreed <> (c.word_given_at IS NOT NULL)
            OR c.status = 'waiting' AND EXISTS (SELECT FROM account_changes l
                                                 WHERE l.employee_id = c.employee_id AND l.id > c.id)
    """


def reversals_recorded() -> str:
    """Every reversal of a direct deposit was asked for by somebody, of that deposit; and the other way."""
    return f"""
        SELECT 'bank_entry' AS subject, coalesce(b.id, s.id) AS id, 'reversal of' AS what,
               coalesce(b.reverses::text, 'none') AS recorded, coalesce(s.credit::text, 'nobody asked') AS expected
          FROM (SELECT id, reverses FROM bank_entries WHERE kind = 'reversal') b
          FULL JOIN (SELECT CAST(a.details ->> 'reversal' AS uuid) AS id, a.subject_id AS credit
                       FROM audit_log a WHERE a.action = 'bank_entry.reverse' AND {NOT_CLEARED}) s USING (id)
         WHERE b.reverses IS DISTINCT FROM s.credit
    """


def bank_entry_steps() -> str:
    """A bank entry's state and effective date are those of its last step; it is sent, settled or returned in that
    order, and settled after its effective date has come. One that is pending is in no file.
    """
    return """
        WITH steps AS MATERIALIZED (
            SELECT b.id, s.number, s.step ->> 0 AS status, CAST(s.step ->> 1 AS date) AS effective,
                   CAST(s.step ->> 2 AS bigint) AS at,
                   lag(s.step ->> 0) OVER own AS before, CAST(lag(s.step ->> 2) OVER own AS bigint) AS before_at
              FROM bank_entries b CROSS JOIN LATERAL jsonb_array_elements(b.steps) WITH ORDINALITY AS s (step, number)
            WINDOW own AS (PARTITION BY b.id ORDER BY s.number))
        SELECT 'bank_entry' AS subject, id, 'step ' || number || ' to ' || status AS what,
               concat_ws(' ', 'from', before, 'at', to_timestamp(at / 1000000.0)) AS recorded,
               'an allowed step, at its time' AS expected
          FROM steps
         WHERE before IS NOT NULL
           AND ((before, status) NOT IN (VALUES ('pending', 'sent'), ('pending', 'cancelled'), ('sent', 'settled'),
                                                ('sent', 'returned'), ('settled', 'returned'))
                OR status = 'settled' AND (at <= before_at
                   OR (to_timestamp(at / 1000000.0) AT TIME ZONE 'America/New_York')::date < effective))
        UNION ALL
        SELECT 'bank_entry', b.id, 'state', concat_ws(', ', b.status, b.effective_date),
               coalesce(concat_ws(', ', b.steps -> -1 ->> 0, b.steps -> -1 ->> 1), 'a step')
          FROM bank_entries b
         WHERE (b.status, b.effective_date::text) IS DISTINCT FROM (b.steps -> -1 ->> 0, b.steps -> -1 ->> 1)
        UNION ALL
        SELECT 'bank_entry', b.id, 'file', 'in a file', 'not in one, as it is pending'
          FROM bank_entries b
         WHERE b.status = 'pending' AND (b.file_id IS NOT NULL OR b.trace_number IS NOT NULL)
    """
