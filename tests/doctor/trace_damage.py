"""What the owner of the database may do to facts behind everybody's back: by law, what is done and its statements."""

# ruff: noqa: E501, ISC004 - statements read best whole

BY_CHECK = "(SELECT id FROM payrolls WHERE status = 'completed' AND NOT direct_deposit ORDER BY id LIMIT 1)"
WAITING = "(SELECT id FROM payrolls WHERE status = 'scheduled' ORDER BY id LIMIT 1)"
FLOWN = "(SELECT id FROM payrolls WHERE id IN (SELECT payroll_id FROM autopilot_periods) ORDER BY id LIMIT 1)"
ESTIMATED = "account = 'estimated-tax'"
STANDING_FILING = "reverses IS NULL AND id NOT IN (SELECT reverses FROM filings WHERE reverses IS NOT NULL)"
ENTERED = "(SELECT employer_id FROM duty_marks LIMIT 1)"
ELSEWHERE = (
    "(SELECT e.id FROM employers e WHERE e.organization_id = t.organization_id AND e.sandbox = t.sandbox "
    "AND e.id <> t.employer_id ORDER BY e.id LIMIT 1)"
)
UNCHECKED = "SET LOCAL session_replication_role = replica"
CUT = "DELETE FROM audit_seals s WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.id = ANY(s.audit_ids))"
ENDED_EARLIER = (
    "UPDATE audit_ends e SET number = s.number, seal = s.seal FROM (SELECT DISTINCT ON (organization_id) * "
    "FROM audit_seals ORDER BY organization_id, number DESC) s WHERE s.organization_id = e.organization_id"
)


def changed(table: str, change: str, where: str = "true") -> tuple[str, ...]:
    """The statement that changes rows of a table, as one damage."""
    return (f"UPDATE {table} SET {change} WHERE {where}",)


def moved(table: str, where: str = "true") -> tuple[str, ...]:
    """What moves rows to another household, past what the schema refuses."""
    return (UNCHECKED, f"UPDATE {table} t SET employer_id = {ELSEWHERE} WHERE {where}")


def made_up(table: str, columns: str, values: str, source: str) -> tuple[str, ...]:
    """What inserts a row of one household that nobody entered."""
    return (
        f"INSERT INTO {table} (id, organization_id, employer_id, sandbox, {columns}) "
        f"SELECT new_id(), r.organization_id, {'r.id' if source == 'employers' else 'r.employer_id'}, r.sandbox, {values} "
        f"FROM (SELECT * FROM {source} ORDER BY id LIMIT 1) r",
    )


TRACES: dict[str, dict[str, tuple[str, ...]]] = {
    "row_digests": {
        "a payment's method": changed("tax_payments", "method = 'check'", ESTIMATED),
        "a payment's confirmation": changed("tax_payments", "confirmation = 'X1'", ESTIMATED),
        "who recorded a payment": changed("tax_payments", "actor_id = NULL"),
        "when a payment was recorded": changed("tax_payments", "created_at = created_at + interval '1 hour'"),
        "a filing's confirmation": changed("filings", "confirmation = 'X1'"),
        "a send time of 2099": changed("payrolls", "scheduled_send_at = '2099-01-01'", f"id = {WAITING}"),
        "a payroll's creation": changed(
            "payrolls", "created_at = created_at - interval '1 day'", f"id = {BY_CHECK}"
        ),
        "an approval": changed("payrolls", "approved_at = created_at", f"id = {WAITING}"),
        "a payroll's notes": changed("payrolls", "notes = 'x'", f"id = {WAITING}"),
        "a payroll's frequency": changed("payrolls", "pay_frequency = 'biweekly'", f"id = {WAITING}"),
        "a payroll's preview": changed("payrolls", "preview_token_hash = sha256('x')", f"id = {BY_CHECK}"),
        "a payroll's edition": changed("payrolls", "rulebook_version = '2026.0'", f"id = {BY_CHECK}"),
        "a pay date asked for": changed("payrolls", "pay_date_asked = pay_date - 7", f"id = {WAITING}"),
        "hours of a scheduled payroll": changed(
            "payroll_entries", "regular_hours = regular_hours * 2", f"payroll_id = {WAITING}"
        ),
        "a bonus in a scheduled payroll": changed(
            "payroll_entries", "bonus = 100000", f"payroll_id = {WAITING}"
        ),
        "a set-aside in a scheduled payroll": changed(
            "payroll_entries", "set_aside_amount = 100", f"payroll_id = {WAITING}"
        ),
        "an estimate": changed("payroll_estimates", "estimate = '{}'", f"payroll_id = {WAITING}"),
        "when a step was taken": changed(
            "payroll_transitions", "at = at - interval '2 days'", "to_status = 'completed'"
        ),
        "why a step was taken": changed("payroll_transitions", "reason = 'because'", "to_status = 'voided'"),
        "who took a step": changed("payroll_transitions", "actor_id = NULL", "to_status = 'voided'"),
        "a paycheck's warnings": changed("paychecks", "warnings = '[\"x\"]'", f"payroll_id = {BY_CHECK}"),
        "a paycheck's messages": changed("paychecks", "messages = '[]'", f"payroll_id = {BY_CHECK}"),
        "what a paycheck carried": changed(
            "paychecks", 'carried = \'[["US-FIT", "x", 5]]\'', f"payroll_id = {BY_CHECK}"
        ),
        "an account's bank": changed("bank_accounts", "bank_name = 'Other'"),
        "how an account was verified": changed("bank_accounts", "verification = 'prenote'"),
        "the simulated answer": changed(
            "bank_accounts", "simulated_answer = NULL", "simulated_answer IS NOT NULL"
        ),
        "an entry's send day": changed(
            "bank_entries", "send_on = send_on - 1", "kind = 'debit' AND status = 'settled'"
        ),
        "an entry's settlement day": changed(
            "bank_entries", "settle_on = settle_on + 1", "kind = 'credit' AND status = 'settled'"
        ),
        "an entry's creation": changed("bank_entries", "created_at = created_at - interval '1 day'"),
        "a movement's note": changed("escrow_movements", "note = 'x'", "kind = 'payout'"),
        "a movement's time": changed("escrow_movements", "created_at = created_at - interval '1 day'"),
        "when an enrollment began": changed(
            "autopilot_enrollments", "enrolled_at = enrolled_at - interval '1 day'"
        ),
        "a large net pay agreed to": changed("autopilot_versions", "large_confirmed = NOT large_confirmed"),
        "when terms were made": changed("autopilot_versions", "made_at = made_at - interval '1 day'"),
        "when Autopilot acted": changed(
            "autopilot_events", "at = at - interval '1 day'", "event = 'generate'"
        ),
        "who paused Autopilot": changed("autopilot_events", "actor_id = NULL", "event = 'pause'"),
        "by which request Autopilot was asked": changed(
            "autopilot_events", "request_id = 'x'", "event = 'pause'"
        ),
        "a period's net pay": changed("autopilot_periods", "net_pay = 1", "net_pay IS NOT NULL"),
        "who authorized a debit": changed(
            "ach_authorizations", "authorized_by_kind = 'operator', authorized_by = NULL"
        ),
        "an answer's figures": changed(
            "idempotency_keys",
            "body = convert_to(replace(convert_from(body, 'UTF8'), '\"net_pay\":', '\"net_pay\":1'), 'UTF8')",
            "key = 'first'",
        ),
        "an answer's status": changed("idempotency_keys", "status = 500"),
        "an answer's request": changed("idempotency_keys", "request_hash = sha256('x')", "key = 'first'"),
        "who may have an answer": changed("idempotency_keys", "permissions = '{}'"),
        "when a request came": changed("idempotency_keys", "created_at = '2020-01-01'"),
        "digests removed": changed("payrolls", "digest = NULL"),
        "digests of payments removed": changed("tax_payments", "digest = NULL"),
        "dues of the week": changed(
            "household_dues", "week_cents = week_cents + 100", "computed_on IS NOT NULL"
        ),
        "the next due date": changed("household_dues", "next_due = '2099-01-01'", "computed_on IS NOT NULL"),
        "dues overdue": changed(
            "household_dues",
            "overdue_count = 0, overdue_cents = 0, overdue_since = NULL",
            "overdue_count > 0",
        ),
        "prior wages": changed("prior_wages", "net_pay = net_pay - 100"),
        "prior wages as of a day": changed("prior_wages", "as_of = as_of - 1"),
        "when another account may come": changed(
            "account_changes", "effective_at = effective_at + interval '1 day'", "status = 'waiting'"
        ),
        "no word needed": changed("account_changes", "needs_word = NOT needs_word"),
        "what was asked to be set aside": changed("set_aside_requests", "amount = 99900"),
        "a link's token": changed("calendar_links", "token_hash = sha256('mine')", "revoked_at IS NULL"),
        "when a mark was made": changed("duty_marks", "created_at = created_at - interval '1 day'"),
    },
    "payrolls_made": {
        "one run by nobody known": changed(
            "payrolls", "created_by = NULL, created_by_kind = 'operator'", f"id = {BY_CHECK}"
        ),
        "one deleted": (
            UNCHECKED,
            *(
                f"DELETE FROM {table} WHERE payroll_id = {WAITING}"
                for table in ("payroll_estimates", "payroll_transitions", "payroll_entries")
            ),
            f"DELETE FROM metadata_entries WHERE object_id = {WAITING}",
            f"DELETE FROM payrolls WHERE id = {WAITING}",
        ),
        "one moved": moved("payrolls", f"id = {WAITING}"),
        "an entry deleted": (f"DELETE FROM payroll_entries WHERE payroll_id = {WAITING} AND position = 0",),
        "an estimate deleted": ("DELETE FROM payroll_estimates",),
        "a void undone": (
            "UPDATE payrolls SET status = 'scheduled' WHERE id = (SELECT payroll_id FROM payroll_transitions WHERE from_status = 'scheduled' AND to_status = 'voided' ORDER BY id LIMIT 1)",
            "DELETE FROM payroll_transitions WHERE from_status = 'scheduled' AND to_status = 'voided' AND payroll_id IN (SELECT id FROM payrolls WHERE status = 'scheduled')",
            "UPDATE payroll_entries SET live = true WHERE NOT live AND payroll_id IN (SELECT id FROM payrolls WHERE status = 'scheduled')",
        ),
    },
    "pay_dates": {
        "a day later": changed("payrolls", "pay_date = pay_date + 1", f"id = {WAITING}"),
        "a day earlier, with its figures": changed(
            "payrolls", "pay_date = pay_date - 1, total_cost = total_cost", f"id = {WAITING}"
        ),
    },
    "remedies_decided": {
        "a refund that nobody decided": made_up(
            "paycheck_remedies",
            "payroll_id, paycheck_id, employee_id, action, decided_by_kind, decided_at",
            "r.payroll_id, r.id, r.employee_id, 'refund', 'user', now()",
            "paychecks",
        ),
    },
    "prior_wages_entered": {
        "some that nobody entered": made_up(
            "prior_wages",
            "employee_id, tax_year, source, as_of, gross_pay, net_pay, employee_taxes, employer_taxes, lines, codes, subject_wages, taxable_wages, amounts, warnings, created_at",
            "r.id, 2025, 'Made up', '2025-12-31', 100, 100, 0, 0, '[]', '{}', '{}', '{}', '{}', '[]', now()",
            "employees",
        ),
        "a replaced entry in force again": (
            "UPDATE prior_wages SET source = source || ' ' || id::text WHERE replaced_by IS NOT NULL",
            "UPDATE prior_wages SET replaced_by = NULL WHERE replaced_by IS NOT NULL",
        ),
        "an entry deleted": ("DELETE FROM prior_wages WHERE replaced_by IS NOT NULL",),
        "gross pay": changed("prior_wages", "gross_pay = gross_pay + 1"),
    },
    "payouts_recorded": {
        "one by another way": changed(
            "escrow_movements", "payment_method = 'check'", "kind = 'payout' AND payment_method = 'cash'"
        ),
        "one deleted": (
            "UPDATE escrow_accounts a SET balance = a.balance - m.amount FROM escrow_movements m WHERE m.employee_id = a.employee_id AND m.kind = 'payout' AND m.payment_method = 'cash'",
            "DELETE FROM escrow_movements WHERE kind = 'payout' AND payment_method = 'cash'",
        ),
    },
    "set_asides_requested": {
        "one approved by nobody": changed(
            "set_aside_requests", "status = 'approved', ended_at = now()", "status = 'pending'"
        ),
        "one that nobody asked for": made_up(
            "set_aside_requests",
            "employee_id, status, amount, asked_at, ended_at",
            "r.id, 'withdrawn', 5000, now(), now()",
            "employees",
        ),
        "one deleted": ("DELETE FROM set_aside_requests WHERE status = 'approved'",),
    },
    "drafts_kept": {
        "hours": changed("payroll_drafts", "employees = jsonb_set(employees, '{0,regular_hours}', '\"99\"')"),
        "a period": changed("payroll_drafts", "period_start = period_start - 1"),
        "a discarded one open again": changed(
            "payroll_drafts", "dropped_at = NULL", "dropped_at IS NOT NULL"
        ),
        "one discarded by nobody": changed("payroll_drafts", "dropped_at = now()", "dropped_at IS NULL"),
        "one deleted": ("DELETE FROM payroll_drafts WHERE dropped_at IS NULL",),
        "one that nobody typed": made_up(
            "payroll_drafts",
            "period_start, period_end, pay_frequency, employees, created_at, updated_at",
            "r.period_start, r.period_end, r.pay_frequency, r.employees, now(), now()",
            "payroll_drafts",
        ),
    },
    "entries_by_households": {
        "a mark made up": made_up(
            "duty_marks",
            "item_key, done_on, created_at, updated_at",
            "'CA/wages-quarterly/2026-Q3', DATE '2026-12-01', now(), now()",
            "employers",
        ),
        "a mark's day": changed("duty_marks", "done_on = done_on - 30"),
        "a mark removed": changed("duty_marks", "done_on = NULL"),
        "a mark deleted": ("DELETE FROM duty_marks",),
        "a mark moved": moved("duty_marks"),
        "a frequency": changed("filing_choices", "frequency = 'quarterly'"),
        "a frequency made up": made_up(
            "filing_choices",
            "jurisdiction, account, since_year, frequency, created_at, updated_at",
            "'CA', 'sui', 2026, 'annual', now(), now()",
            "employers",
        ),
        "an account open again": changed("closed_accounts", "closed_on = NULL"),
        "an account closed": made_up(
            "closed_accounts",
            "jurisdiction, account, closed_on, created_at, updated_at",
            "'CA', 'sui', DATE '2026-12-01', now(), now()",
            "employers",
        ),
        "a state's rate": changed("assigned_rates", "sui_rate = 0.001"),
        "a notice's day": changed("assigned_rates", "notice_on = notice_on - 100"),
        "a rate made up": (
            "INSERT INTO assigned_rates (organization_id, employer_id, sandbox, tax_year, state, sui_rate) SELECT organization_id, id, sandbox, 2026, 'CA', 0.06 FROM employers ORDER BY id LIMIT 1",
        ),
        "a rate deleted": ("DELETE FROM assigned_rates",),
        "a policy's carrier": changed("insurance_policies", "carrier = 'Nobody'"),
        "a policy's end": changed("insurance_policies", "ends_on = '2026-06-30'"),
        "a policy made up": made_up(
            "insurance_policies",
            "state, kind, carrier, starts_on, created_at, updated_at",
            "'CA', 'workers_compensation', 'Nobody', DATE '2026-12-01', now(), now()",
            "employers",
        ),
        "what is set aside": changed("escrow_accounts", "rule_amount = 9900", "rule_amount IS NOT NULL"),
        "a share set aside": changed("escrow_accounts", "rule_rate = 0.5", "rule_rate IS NOT NULL"),
        "a rule ended": changed(
            "escrow_accounts",
            "rule_rate = NULL, rule_amount = NULL",
            "coalesce(rule_rate, rule_amount) IS NOT NULL",
        ),
        "a rule made up": changed(
            "escrow_accounts", "rule_amount = 100", "coalesce(rule_rate, rule_amount) IS NULL"
        ),
    },
    "account_standing": {
        "a failed account active": changed("bank_accounts", "status = 'active'", "status = 'failed'"),
        "an account failed": changed(
            "bank_accounts",
            "status = 'failed', reason = 'x'",
            "status = 'active' AND id NOT IN (SELECT bank_account_id FROM bank_entries)",
        ),
        "account types": changed("bank_accounts", "account_type = 'savings'", "employee_id IS NOT NULL"),
        "why it failed": changed("bank_accounts", "reason = NULL", "status = 'failed'"),
        "an account of nobody's": made_up(
            "bank_accounts",
            "employee_id, account_type, last_four, status, verification, created_at, updated_at",
            "r.id, 'checking', '9999', 'replaced', 'instant', now(), now()",
            "employees",
        ),
    },
    "account_requests": {
        "a withdrawn one waiting again": (
            "UPDATE account_changes SET status = 'withdrawn', ended_at = now(), numbers = NULL, nonce = NULL, key_id = NULL WHERE status = 'waiting'",
            "UPDATE account_changes SET status = 'waiting', ended_at = NULL, numbers = 'x', nonce = decode('000000000000000000000000', 'hex'), key_id = (SELECT id FROM vault_keys LIMIT 1) WHERE id = (SELECT min(id::text)::uuid FROM account_changes)",
        ),
        "a word that nobody gave": (
            "INSERT INTO people VALUES (new_id(), 'mine@example.com', 'Mine', 'es', now(), now())",
            "UPDATE account_changes SET needs_word = true, word_given_at = asked_at, word_given_by = (SELECT id FROM people ORDER BY id DESC LIMIT 1) WHERE status = 'waiting'",
        ),
        "one deleted": ("DELETE FROM account_changes WHERE status = 'waiting'",),
    },
    "returns_recorded": {
        "another code": changed("bank_entries", "return_code = 'R02'", "status = 'returned'"),
    },
    "reversals_recorded": {
        "wages taken back by nobody": (
            "INSERT INTO bank_entries (id, organization_id, employer_id, sandbox, kind, bank_account_id, employee_id, payroll_id, paycheck_id, amount, attempt, status, send_on, settle_on, reverses, reversal_reason, created_at, updated_at) "
            "SELECT new_id(), organization_id, employer_id, sandbox, 'reversal', bank_account_id, employee_id, payroll_id, paycheck_id, amount, 1, 'pending', '2026-12-04', '2026-12-07', id, 'duplicate', updated_at, updated_at FROM bank_entries WHERE kind = 'credit' AND status = 'settled' ORDER BY id LIMIT 1",
        ),
    },
    "bank_entry_steps": {
        "a deposit of a file pending again, with its steps": (
            UNCHECKED,
            "UPDATE bank_entries SET status = 'pending', effective_date = NULL, trace_number = '121042880000001', "
            "steps = jsonb_build_array(jsonb_build_array('pending', NULL, steps -> 0 -> 2)) "
            "WHERE id = (SELECT id FROM bank_entries WHERE kind = 'credit' AND status = 'sent' LIMIT 1)",
        ),
        "a deposit to be sent again": changed(
            "bank_entries", "status = 'pending', effective_date = NULL", "kind = 'credit' AND status = 'sent'"
        ),
        "a deposit settled before its day": changed(
            "bank_entries", "status = 'settled'", "kind = 'credit' AND status = 'sent'"
        ),
        "when a deposit arrived": changed(
            "bank_entries", "effective_date = effective_date - 1", "kind = 'credit' AND status = 'settled'"
        ),
        "when a debit was taken": changed(
            "bank_entries", "effective_date = effective_date - 1", "kind = 'debit' AND status = 'settled'"
        ),
        "a refund cancelled and paid again": changed(
            "bank_entries", "status = 'pending'", "kind = 'refund' AND status = 'settled'"
        ),
        "steps removed": changed("bank_entries", "steps = '[]'"),
    },
    "authorizations_revoked": {
        "one revoked by nobody": changed("ach_authorizations", "revoked_at = now()"),
    },
    "tax_payments_noted": {
        "one deleted": ("DELETE FROM tax_payments WHERE account = 'estimated-tax'",),
        "one deleted with its reversal": (
            "DELETE FROM tax_payments WHERE reverses IS NOT NULL",
            "DELETE FROM tax_payments t WHERE account = 'sui' AND id = (SELECT min(id::text)::uuid FROM tax_payments WHERE account = 'sui')",
        ),
        "one moved": moved("tax_payments", ESTIMATED),
        "another period": changed(
            "tax_payments",
            "period = '2026-I3', period_start = '2026-06-01', period_end = '2026-08-31'",
            ESTIMATED,
        ),
        "another day": changed("tax_payments", "paid_on = paid_on - 3", ESTIMATED),
    },
    "filings_kept": {
        "one deleted": (f"DELETE FROM filings WHERE {STANDING_FILING}",),
        "one moved": moved("filings", STANDING_FILING),
        "another quarter": changed("filings", "item_key = 'CA/wages-quarterly/2026-Q2'", STANDING_FILING),
        "another day": changed("filings", "filed_on = filed_on - 1", STANDING_FILING),
    },
    "feed_links": {
        "an ended link opened again": (
            "UPDATE calendar_links SET revoked_at = created_at WHERE revoked_at IS NULL",
            "UPDATE calendar_links SET revoked_at = NULL WHERE id = (SELECT min(id::text)::uuid FROM calendar_links)",
        ),
        "one that nobody made": made_up(
            "calendar_links", "token_hash, created_at", "sha256('x'), now()", "employers"
        ),
        "one ended by nobody": changed("calendar_links", "revoked_at = created_at", "revoked_at IS NULL"),
    },
    "handed_over": {
        "on another day": changed(
            "payrolls", "handed_over_at = handed_over_at + interval '1 day'", "handed_over_at IS NOT NULL"
        ),
        "taken back": changed("payrolls", "handed_over_at = NULL", "handed_over_at IS NOT NULL"),
    },
    "household_dues": {
        "figures deleted": ("DELETE FROM household_dues",),
        "a household's figures deleted": (f"DELETE FROM household_dues WHERE employer_id = {ENTERED}",),
    },
    "attempts_ahead": {
        "attempts of what was never scheduled": changed("payrolls", "attempts = 3", f"id = {BY_CHECK}"),
        "a failure of what was paid": changed(
            "payrolls", 'failure = \'{"code": "internal"}\'', f"id = {BY_CHECK}"
        ),
    },
    "idempotency": {
        "a payroll's key deleted": ("DELETE FROM idempotency_keys WHERE key = 'first'",),
    },
    "sealed_answers": {
        "an encrypted answer": changed("idempotency_keys", "body = body || '0'", "key_id IS NOT NULL"),
        "the answer of another key": changed("idempotency_keys", "key = 'another'", "key_id IS NOT NULL"),
    },
    "paycheck_digests": {
        "a digest removed": changed("paychecks", "digest = NULL", f"payroll_id = {BY_CHECK}"),
    },
    "alerts_left": {
        "all deleted": ("DELETE FROM security_alerts",),
        "one deleted": (
            "DELETE FROM security_alerts WHERE id = (SELECT id FROM security_alerts ORDER BY id LIMIT 1)",
        ),
        "the register forged": ("DELETE FROM row_register WHERE source = 'security_alerts'",),
    },
    "audit_chain": {
        "the newest seal cut off with its rows": (
            "DELETE FROM audit_log WHERE id = ANY((SELECT audit_ids FROM audit_seals WHERE number = (SELECT max(number) FROM audit_seals) LIMIT 1)::uuid[])",
            CUT,
        ),
        "an end moved": ("UPDATE audit_ends SET number = number + 1",),
        "an end removed": ("DELETE FROM audit_ends",),
    },
    "traces": {
        "the end cut off, and moved": (
            "DELETE FROM audit_log WHERE id >= (SELECT id FROM audit_log WHERE action = 'payroll.run' ORDER BY id DESC LIMIT 1)",
            CUT,
            ENDED_EARLIER,
        ),
    },
}
