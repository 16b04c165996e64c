"""The law of what households enter: what stands is what the audit log says was entered last."""

from typing import Final

_SAID: Final = """
    SELECT id, 'duty_mark' AS subject, employer_id, details ->> 'key' AS entry, details ->> 'after' AS value
      FROM audit_log WHERE action = 'duty.mark'
        OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'mark'
    UNION ALL
    SELECT id, 'filing_choice', employer_id,
           concat_ws(' ', details ->> 'jurisdiction', details ->> 'account', details ->> 'since_year'),
           details ->> 'after'
      FROM audit_log WHERE action = 'duty.filing'
        OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'filing'
    UNION ALL
    SELECT id, 'closed_account', employer_id, concat_ws(' ', details ->> 'jurisdiction', details ->> 'account'),
           details ->> 'after'
      FROM audit_log WHERE action = 'duty.account'
        OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'closing'
    UNION ALL
    SELECT id, 'insurance_policy', employer_id, concat_ws(' ', details ->> 'state', details ->> 'kind'),
           nullif(concat_ws(', ', details ->> 'carrier', details ->> 'starts_on', details ->> 'ends_on'), '')
      FROM audit_log WHERE action = 'insurance.policy' AND jsonb_exists(details, 'ends_on')
        OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'policy'
    UNION ALL
    SELECT id, 'assigned_rate', employer_id, concat_ws(' ', details ->> 'state', details ->> 'tax_year'),
           concat_ws(', ', trim_scale(CAST(details ->> 'sui_rate' AS numeric)),
                     coalesce(details ->> 'notice_on', details #>> '{after,notice_on}'))
      FROM audit_log WHERE action = 'employer.assign_sui_rate'
        OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'rate'
    UNION ALL
    SELECT id, 'set_aside_rule', employer_id, subject_id::text,
           CASE WHEN action = 'rights.as_of_upgrade'
                THEN nullif(concat_ws(', ', trim_scale(CAST(details ->> 'rate' AS numeric)),
                                      (details ->> 'cents') || ' cents'), '')
                ELSE nullif(concat_ws(', ', trim_scale(CAST(details #>> '{after,rate}' AS numeric)),
                                      round(CAST(details #>> '{after,amount}' AS numeric) * 100) || ' cents'), '') END
      FROM audit_log WHERE action = 'escrow.set_rule'
        OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'set_aside'
"""

_STANDS: Final = """
    SELECT 'duty_mark' AS subject, employer_id, item_key AS entry, done_on::text AS value FROM duty_marks
    UNION ALL SELECT 'filing_choice', employer_id, concat_ws(' ', jurisdiction, account, since_year), frequency
                FROM filing_choices
    UNION ALL SELECT 'closed_account', employer_id, concat_ws(' ', jurisdiction, account), closed_on::text
                FROM closed_accounts
    UNION ALL SELECT 'insurance_policy', employer_id, concat_ws(' ', state, kind),
                     nullif(concat_ws(', ', carrier, starts_on, ends_on), '')
                FROM insurance_policies
    UNION ALL SELECT 'assigned_rate', employer_id, concat_ws(' ', state, tax_year),
                     concat_ws(', ', trim_scale(sui_rate), notice_on)
                FROM assigned_rates
    UNION ALL SELECT 'set_aside_rule', employer_id, employee_id::text,
                     nullif(concat_ws(', ', trim_scale(rule_rate), rule_amount || ' cents'), '')
                FROM escrow_accounts
"""


def entries_by_households() -> str:
    """What a household entered is what stands, and nothing else: marks, filing frequencies, closed accounts, insurance,
    state rates, set-asides.
    """
    return f"""
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (subject, employer_id, entry) subject, employer_id, entry, value FROM ({_SAID}) a
             ORDER BY subject, employer_id, entry, id DESC),
        stands AS MATERIALIZED ({_STANDS})
        SELECT 'employer' AS subject, employer_id AS id, subject || ' ' || entry AS what,
               coalesce(r.value, 'nothing') AS recorded, coalesce(s.value, 'nothing') AS expected
          FROM stands r FULL JOIN said s USING (subject, employer_id, entry)
         WHERE r.value IS DISTINCT FROM s.value
           AND EXISTS (SELECT FROM employers h WHERE h.id = employer_id)
           AND (subject <> 'set_aside_rule' OR EXISTS (SELECT FROM employees m WHERE m.id::text = entry))
    """
