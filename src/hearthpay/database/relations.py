"""What one package's SQL may know of another's tables: the columns of each that others join, and no more.

A table is written by the package that owns it, and read by others through these relations alone, so that a statement
stays one statement and this page tells who depends on what. Each is a plain selection, which the planner dissolves:
it costs nothing. `FROM {payrolls} p` in a template of `database/statements.py`; to lock its rows (`FOR UPDATE`) works
as with the table.
"""

from typing import Final

from hearthpay.database.statements import Fragment

# accounts/
ORGANIZATIONS: Final = Fragment(
    "(SELECT id, name, plan, created_at, frozen_until, unfrozen_at FROM organizations)"
)
API_KEYS: Final = Fragment(
    "(SELECT id, employer_id, last_four, created_at, revoked_at, expires_at, last_used_at FROM api_keys)"
)

# people/
PEOPLE: Final = Fragment("(SELECT id, name, email, language FROM people)")

# employers/
EMPLOYERS: Final = Fragment(
    "(SELECT id, organization_id, sandbox, first_name, last_name, email, state, time_zone, ein_status, "
    "threshold_bases, last_name_key, first_name_key, created_at, frozen_until, unfrozen_at FROM employers)"
)
HOUSEHOLD_WORDS: Final = Fragment(
    "(SELECT organization_id, sandbox, employer_id, owner_id, word FROM household_words)"
)
ASSIGNED_RATES: Final = Fragment("(SELECT employer_id, tax_year, state, sui_rate FROM assigned_rates)")

# registrations/
STATE_REGISTRATIONS: Final = Fragment("(SELECT id, employer_id, state FROM state_registrations)")

# oauth/
AGENT_GRANTS: Final = Fragment(
    "(SELECT id, employer_id, person_id, client_id, client_name, created_at, expires_at, ended_at FROM agent_grants)"
)

# sandbox/
HOUSEHOLD_CLOCKS: Final = Fragment(
    "(SELECT employer_id, stands_at, status = 'advancing' AS advancing FROM household_clocks)"
)

# employees/
EMPLOYEES: Final = Fragment(
    "(SELECT id, organization_id, employer_id, sandbox, person_id, first_name, last_name, email, status, work_state, "
    "relationship, start_date, end_date, pay_frequency, pay_type, pay_rate_cents, salary_cents, language, created_at "
    "FROM employees)"
)

# mail/
NOTICES: Final = Fragment(
    "(SELECT notice_key, kind, employer_id, payroll_id, created_at FROM mail_outbox "
    "WHERE notice_key IS NOT NULL)"
)

INVITATIONS: Final = Fragment(
    "(SELECT id, employee_id, type, status, created_at, expires_at, tax_number_at, new_link_requested_at "
    "FROM invitations)"
)
EMPLOYEE_LINKS: Final = Fragment(
    "(SELECT employee_id, person_id, linked_at, ended_at, awaits_household FROM employee_links)"
)

# banking/
BANK_ACCOUNTS: Final = Fragment(
    "(SELECT id, employer_id, employee_id, status, last_four, bank_name, reason FROM bank_accounts)"
)
WAITING_ACCOUNTS: Final = Fragment(
    "(SELECT employee_id FROM account_changes WHERE status = 'waiting' AND needs_word "
    "AND word_given_at IS NULL)"
)
BANK_ENTRIES: Final = Fragment(
    "(SELECT id, organization_id, employer_id, sandbox, kind, bank_account_id, payroll_id, paycheck_id, employee_id, "
    "amount, attempt, status, send_on, settle_on, effective_date, return_code, hold_code, held_reason, held_since, "
    "held_told, updated_at FROM bank_entries)"
)
STANDING_AUTHORIZATIONS: Final = Fragment(
    "(SELECT enrollment_id, bank_account_id, ended_at FROM autopilot_authorizations)"
)

# payroll/
WAGE_SETTLEMENTS: Final = Fragment(
    "(SELECT id, payroll_id, amount, received_on, told_by FROM wage_settlements)"
)
PAYROLLS: Final = Fragment(
    "(SELECT id, organization_id, sandbox, employer_id, status, period_start, period_end, pay_date, net_pay, failure, "
    "approved_at, created_at, scheduled_send_at, handed_over_at FROM payrolls)"
)
PAYCHECKS: Final = Fragment(
    "(SELECT id, payroll_id, employer_id, employee_id, tax_year, net_pay, set_aside, payment_method, reverses "
    "FROM paychecks)"
)
ESCROW_MOVEMENTS: Final = Fragment("(SELECT id, employee_id, kind, amount FROM escrow_movements)")

# autopilot/
AUTOPILOT_ENROLLMENTS: Final = Fragment(
    "(SELECT id, employer_id, employee_id, status, next_start, next_end, next_pay_date "
    "FROM autopilot_enrollments)"
)
AUTOPILOT_PAYDAYS: Final = Fragment(
    "(SELECT id, organization_id, sandbox, employer_id, employee_id, next_start, next_end, next_pay_date "
    "FROM autopilot_enrollments "
    "WHERE status = 'active' AND (skip_through IS NULL OR next_start > skip_through))"
)
AUTOPILOT_PERIODS: Final = Fragment(
    "(SELECT enrollment_id, employer_id, employee_id, version, period_start, period_end, pay_date, send_at, outcome, "
    "payroll_id, held, confirmed_at FROM autopilot_periods)"
)
AUTOPILOT_VERSIONS: Final = Fragment("(SELECT enrollment_id, number, expected_net FROM autopilot_versions)")

# filing/
TAX_PAYMENTS: Final = Fragment(
    "(SELECT id, employer_id, agency, jurisdiction, account, period, period_start, period_end, amount, paid_on, "
    "reverses FROM tax_payments)"
)
FILINGS: Final = Fragment("(SELECT id, employer_id, item_key, filed_on, figures, reverses FROM filings)")

# database/
VAULT: Final = Fragment("(SELECT id, owner_kind, owner_id, kind, ciphertext, nonce, key_id FROM vault)")
VAULT_ENDINGS: Final = Fragment("(SELECT owner_kind, owner_id, kind, last_four FROM vault)")

# What is due when, for a household whose clock is moved from one such moment to the next.
DUE_PAYROLLS: Final = Fragment("(SELECT due_at FROM payrolls WHERE status = 'scheduled')")
DUE_AUTOPILOT: Final = Fragment(
    "(SELECT generate_at AS due_at FROM autopilot_enrollments WHERE status = 'active' "
    "UNION ALL SELECT due_at FROM autopilot_errands)"
)
DUE_INVITATIONS: Final = Fragment("(SELECT expires_at AS due_at FROM invitations WHERE status = 'pending')")
DUE_ACCOUNT_CHANGES: Final = Fragment(
    "(SELECT effective_at AS due_at FROM account_changes WHERE status = 'waiting')"
)
