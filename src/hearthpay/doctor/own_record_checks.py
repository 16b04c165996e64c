"""Laws of an employee's record: certificates that hold, pay as it was changed, accounts that waited, one person."""


def certificates() -> str:
    """An employee's record has the entries of the signed certificate in force, which answers only its own questions."""
    return """
        SELECT 'employee' AS subject, c.employee_id AS id, 'certificate ' || c.jurisdiction AS what,
               coalesce(said.entries::text, 'works elsewhere') AS recorded, c.entries::text AS expected
          FROM signed_certificates c JOIN employees e ON e.id = c.employee_id
         CROSS JOIN LATERAL (SELECT CASE c.jurisdiction WHEN 'US' THEN e.federal_withholding
                                         WHEN e.work_state THEN e.state_withholding END AS entries) said
         WHERE c.ended_at IS NULL AND said.entries IS DISTINCT FROM c.entries
        UNION ALL
        SELECT 'certificate', c.id, 'answers to what was not asked', answer, 'a question of the form'
          FROM signed_certificates c, jsonb_object_keys(c.answered) answer
         WHERE NOT c.asked @> jsonb_build_array(jsonb_build_object('name', answer))
    """


def pay_changed() -> str:
    """What a change of pay led to is what the next one began with, and after the latest what the employee has."""
    after, before, now = (
        f"concat_ws(', ', {of}pay_type, {of}pay_rate_cents, {of}salary_cents, {of}salary_per)"
        for of in ("c.", "c.former_", "e.")
    )
    return f"""
        SELECT 'employee' AS subject, employee_id AS id, 'pay changed at ' || changed_at AS what, recorded, expected
          FROM (SELECT c.employee_id, c.changed_at, {after} AS recorded,
                       coalesce(lead({before}) OVER (PARTITION BY c.employee_id ORDER BY c.id), {now}) AS expected
                  FROM pay_changes c JOIN employees e ON e.id = c.employee_id) changed
         WHERE recorded <> expected
    """


def waiting_accounts() -> str:
    """An account that an employee asked for is connected after its waiting day, and no money goes to it before."""
    return """
        SELECT 'account change' AS subject, c.id, 'connected' AS what, b.created_at::text AS recorded,
               'after ' || c.effective_at AS expected
          FROM account_changes c JOIN bank_accounts b ON b.id = c.bank_account_id
         WHERE b.created_at < c.effective_at OR b.employee_id IS DISTINCT FROM c.employee_id
        UNION ALL
        SELECT 'bank entry', e.id, 'sent to an account that waited', left_at.left_at::text, 'after ' || c.effective_at
          FROM account_changes c
          JOIN bank_entries e ON e.bank_account_id = c.bank_account_id
          LEFT JOIN bank_files f ON f.id = e.file_id
         CROSS JOIN LATERAL (SELECT coalesce(f.created_at, e.effective_date::timestamptz) AS left_at) left_at
         WHERE e.kind <> 'prenote' AND left_at.left_at < c.effective_at
    """


def linked_people() -> str:
    """An employee's record is linked to at most one person, by an invitation of that very employee."""
    return """
        SELECT 'employee' AS subject, employee_id AS id, 'people it is linked to' AS what, count(*)::text AS recorded,
               'one at most' AS expected
          FROM employee_links WHERE ended_at IS NULL GROUP BY employee_id HAVING count(*) > 1
        UNION ALL
        SELECT 'employee', l.employee_id, 'linked by an invitation of', i.employee_id::text, l.employee_id::text
          FROM employee_links l JOIN invitations i ON i.id = l.invitation_id
         WHERE i.employee_id <> l.employee_id
    """
