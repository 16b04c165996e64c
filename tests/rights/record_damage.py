"""What the owner of the database may do to records that payrolls and rights depend on: by what is done, its statements.

Each is found by the laws of versions (`hearthpay.doctor.record_checks`), in whichever way the record is changed.
"""

# ruff: noqa: E501, ISC004 - statements read best whole

ROSA = "(SELECT id FROM employees ORDER BY id LIMIT 1)"
HOME = "(SELECT id FROM employers ORDER BY id LIMIT 1)"
STRANGER = "(SELECT id FROM people WHERE email = 'other@example.com')"
MARIA = "(SELECT id FROM people WHERE email = 'maria@example.com')"
UNSEEN = "SET LOCAL session_replication_role = replica"
"""Triggers and references are off: no version is written."""


def employee(change: str) -> tuple[str, ...]:
    return (f"UPDATE employees SET {change} WHERE id = {ROSA}",)


def household(change: str) -> tuple[str, ...]:
    return (f"UPDATE employers SET {change} WHERE id = {HOME}",)


DAMAGE: dict[str, dict[str, tuple[str, ...]]] = {
    "records_kept": {
        "moved to another household": (
            UNSEEN,
            f"UPDATE employees SET employer_id = (SELECT id FROM employers ORDER BY id OFFSET 1 LIMIT 1) WHERE id = {ROSA}",
        ),
        "pay doubled with the triggers off": (UNSEEN, *employee("pay_rate_cents = pay_rate_cents * 2")),
        "an employee deleted": (UNSEEN, f"DELETE FROM employees WHERE id = {ROSA}"),
        "an employee made up with the triggers off": (
            UNSEEN,
            "INSERT INTO employees SELECT (jsonb_populate_record(e, jsonb_build_object('id', new_id(), 'last_name', 'New'))).* "
            f"FROM employees e WHERE id = {ROSA}",
        ),
        "a document deleted": (UNSEEN, "DELETE FROM documents WHERE kind = 'w3'"),
        "a key deleted": (UNSEEN, "DELETE FROM api_keys WHERE revoked_at IS NULL"),
        "a grant deleted": (UNSEEN, "DELETE FROM agent_grants WHERE ended_at IS NULL"),
        "why a grant ended": (
            UNSEEN,
            "UPDATE agent_grants SET ended_because = 'left' WHERE ended_at IS NOT NULL",
        ),
        "an invitation deleted": (UNSEEN, "DELETE FROM member_invitations"),
        "a link to an account deleted": (UNSEEN, "DELETE FROM employee_links"),
        "a sign-in method deleted": (UNSEEN, f"DELETE FROM credentials WHERE person_id = {MARIA}"),
        "a session deleted": (UNSEEN, "DELETE FROM person_sessions"),
        "a session in full": (
            UNSEEN,
            "UPDATE person_sessions SET method = 'passkey' WHERE method <> 'passkey'",
        ),
        "all versions deleted": ("DELETE FROM record_versions",),
        "the last version deleted": (
            "DELETE FROM record_versions v WHERE record = 'employees' AND before IS NOT NULL",
        ),
    },
    "record_history": {
        "a version's values": (
            f"UPDATE record_versions SET fields = fields || '{{\"pay_rate_cents\": 1}}' WHERE record_id = {ROSA}",
        ),
        "a version emptied": (f"UPDATE record_versions SET fields = '{{}}' WHERE record_id = {ROSA}",),
        "the first version deleted": (
            f"DELETE FROM record_versions WHERE record_id = {ROSA} AND before IS NULL",
        ),
    },
    "records_changed": {
        # An employee.
        "made the household's child": employee("relationship = 'child', birth_year = 2010"),
        "a year of birth": employee("birth_year = 2012"),
        "W-4 exempt": employee("federal_withholding = '{\"exempt\": true}'"),
        "W-4 filing status": employee('federal_withholding = \'{"filing_status": "head_of_household"}\''),
        "W-4 extra withholding": employee(
            'federal_withholding = federal_withholding || \'{"extra_withholding": "500"}\''
        ),
        "the state's certificate": employee("state_withholding = '{\"exempt\": true}'"),
        "pay doubled": employee("pay_rate_cents = pay_rate_cents * 2"),
        "overtime paid as usual": employee("overtime_rate_cents = pay_rate_cents"),
        "pay doubled, and its change taken out": (
            *employee("pay_rate_cents = pay_rate_cents * 2"),
            f"DELETE FROM pay_changes WHERE employee_id = {ROSA}",
        ),
        "paid another way": employee(
            "pay_type = 'salary', salary_cents = 9900000, salary_per = 'year', pay_rate_cents = NULL"
        ),
        "paid monthly": employee("pay_frequency = 'monthly'"),
        "moved to Texas": employee("work_state = 'TX', residence_state = 'TX'"),
        "lives in another state": employee("residence_state = 'NV'"),
        "local taxes": employee("localities = '{SF}'"),
        "another city": employee("city = 'Reno'"),
        "terminated without a last day": employee("status = 'terminated'"),
        "a last day without a termination": employee("end_date = start_date + 100"),
        "began earlier": employee("start_date = start_date - 365"),
        "an earlier employment": employee(
            'earlier_employments = \'[{"start_date": "2020-01-01", "end_date": "2020-02-01"}]\''
        ),
        "paid by direct deposit": employee("payment_method = 'direct_deposit'"),
        "lives in": employee("lives_in = NOT lives_in"),
        "usual hours": employee("usual_weekly_hours = 60"),
        "working days": employee("working_days = '{monday}'"),
        "settings of a state that was left": employee(
            'left_states = \'{"NV": {"localities": [], "state_withholding": {}}}\''
        ),
        "another email address": employee("email = 'me@example.com'"),
        "another name": employee("last_name = 'Else'"),
        "another mailing address": employee('address = address || \'{"line1": "1 Other St"}\''),
        "the same person as another": employee(
            "person_id = (SELECT id FROM employees ORDER BY id OFFSET 1 LIMIT 1)"
        ),
        "another language": employee("language = 'es'"),
        "an employee made up": (
            "INSERT INTO employees SELECT (jsonb_populate_record(e, jsonb_build_object('id', new_id(), 'last_name', 'New'))).* "
            f"FROM employees e WHERE id = {ROSA}",
        ),
        # A household.
        "moved to Nevada": household("state = 'NV'"),
        "an EIN marked as assigned": (
            "UPDATE employers SET ein_status = 'approved' WHERE ein_status = 'none'",
        ),
        "taxed as paid": household('threshold_bases = \'{"2000": "as_paid"}\''),
        "another time zone": household("time_zone = 'Pacific/Honolulu'"),
        "the household's email address": household("email = 'me@example.com'"),
        "the household's address": household('address = \'{"line1": "1 Other St"}\''),
        "the household's phone": household("phone = '4155550123'"),
        "the household's name": household("last_name = 'Else'"),
        "another primary household": ("UPDATE employers SET is_primary = false",),
        "a household's freeze": household("frozen_until = '2099-01-01'"),
        "an organization's freeze": ("UPDATE organizations SET frozen_until = '2099-01-01'",),
        "another plan": ("UPDATE organizations SET plan = 'partner' WHERE plan <> 'partner'",),
        "limits lifted": ("UPDATE organizations SET lifted_limits = '{\"households\": null}'",),
        "another name of the organization": ("UPDATE organizations SET name = name || ' 2'",),
        # What is set aside, and earlier wages.
        "the rate of set-asides": ("UPDATE escrow_accounts SET rule_rate = 0.5 WHERE rule_rate IS NOT NULL",),
        "a rule where there was none": (
            "UPDATE escrow_accounts SET rule_amount = 9900 WHERE rule_rate IS NULL AND rule_amount IS NULL",
        ),
        "a rule taken out": ("UPDATE escrow_accounts SET rule_rate = NULL WHERE rule_rate IS NOT NULL",),
        "a set-aside asked for by nobody": (
            "INSERT INTO set_aside_requests (id, organization_id, employer_id, sandbox, employee_id, rate, asked_at) "
            f"SELECT new_id(), organization_id, employer_id, sandbox, id, 0.1, now() FROM employees WHERE id = {ROSA}",
        ),
        "earlier wages made up": (
            "INSERT INTO prior_wages (id, organization_id, employer_id, sandbox, employee_id, tax_year, source, as_of, gross_pay, "
            "net_pay, employee_taxes, employer_taxes, lines, codes, subject_wages, taxable_wages, amounts, warnings, messages, created_at) "
            "SELECT new_id(), organization_id, employer_id, sandbox, id, 2026, 'paystub', '2026-06-30', 2000000, 2000000, 0, 0, "
            f"'[]', '{{}}', '{{}}', '{{}}', '{{}}', '[]', '[]', now() FROM employees WHERE id = {ROSA}",
        ),
        # Rights.
        "a key revoked by nobody": ("UPDATE api_keys SET revoked_at = now() WHERE revoked_at IS NULL",),
        "a key in force again": ("UPDATE api_keys SET revoked_at = NULL WHERE revoked_at IS NOT NULL",),
        "a revoked key's time": (
            "UPDATE api_keys SET revoked_at = '2099-01-01' WHERE revoked_at IS NOT NULL",
        ),
        "a key's scopes": ("UPDATE api_keys SET scopes = scopes || '{ach}' WHERE confined",),
        "a key made by another": (f"UPDATE api_keys SET made_by = {STRANGER}",),
        "a grant ended by nobody": (
            "UPDATE agent_grants SET ended_at = created_at, ended_because = 'disconnected' WHERE ended_at IS NULL",
        ),
        "an admin made a viewer": ("UPDATE memberships SET role = 'viewer' WHERE role = 'admin'",),
        "a membership ended by nobody": ("UPDATE memberships SET ended_at = now() WHERE role = 'viewer'",),
        "an invitation open again": (
            "UPDATE member_invitations SET status = 'pending', ended_at = NULL WHERE status = 'accepted'",
        ),
        "an invitation put off": ("UPDATE member_invitations SET expires_at = '2099-01-01'",),
        "an invitation to another": ("UPDATE member_invitations SET email = 'me@example.com'",),
        "an invitation with another link": (
            "UPDATE member_invitations SET token_hash = sha256(id::text::bytea)",
        ),
        "an employee's link open again": (
            "UPDATE invitations SET status = 'pending', completed_at = NULL, expires_at = '2099-01-01'",
        ),
        "an employee's link of another kind": (
            "UPDATE invitations SET type = 'bank_account' WHERE type <> 'bank_account'",
        ),
        "an account that opens a record no more": ("UPDATE employee_links SET ended_at = linked_at",),
        "an account that waits for the household": (
            "UPDATE employee_links SET awaits_household = NOT awaits_household",
        ),
        "a calendar opened to a stranger": (
            "INSERT INTO calendar_links SELECT new_id(), organization_id, id, sandbox, sha256('mine'), now(), NULL "
            f"FROM employers WHERE id = {HOME}",
        ),
        "an owner's removal asked for long ago": (
            "UPDATE memberships SET leaving_asked_at = '2020-01-01', leaving_asked_by = person_id WHERE role = 'owner'",
        ),
        "an owner since long ago": ("UPDATE memberships SET role_since = '2020-01-01' WHERE role = 'owner'",),
        "a member since long ago": ("UPDATE memberships SET joined_at = '2020-01-01'",),
        "an app for another service": (
            "UPDATE agent_grants SET resource = 'https://example.com/mcp' WHERE ended_at IS NULL",
        ),
        # Stored documents.
        "a document under another name": (
            "UPDATE documents SET file_name = 'w2.pdf' WHERE kind = 'paystub'",
        ),
        "a document of another day": ("UPDATE documents SET created_at = '2020-01-01'",),
        "a document with other contents": ("UPDATE documents SET content_hash = sha256('other')",),
        "a document of another version": ("UPDATE documents SET version = version + 9",),
        "a document in force again": (
            "DROP INDEX documents_in_force",
            "UPDATE documents SET superseded_by = NULL WHERE superseded_by IS NOT NULL",
        ),
        # People's accounts.
        "warnings muted": (f"UPDATE people SET muted_notices = '{{payday}}' WHERE id = {MARIA}",),
        "another name of a person": (f"UPDATE people SET name = 'Else' WHERE id = {MARIA}",),
        "a proof of identity that never ends": (
            "UPDATE person_sessions SET authenticated_at = '2099-01-01'",
        ),
        "another address of an account": (f"UPDATE people SET email = 'me@example.com' WHERE id = {MARIA}",),
        "an account frozen": (f"UPDATE people SET frozen_until = '2099-01-01' WHERE id = {MARIA}",),
        "a dispute made up": (
            f"UPDATE people SET disputed_address = 'me@example.com', disputed_at = now() WHERE id = {MARIA}",
        ),
        "an operator from another day": (
            "UPDATE people SET operator_since = '2020-01-01' WHERE operator_since IS NOT NULL",
        ),
        "a password ended": (
            f"UPDATE credentials SET ended_at = now() WHERE person_id = {MARIA} AND ended_at IS NULL",
        ),
        "a password in doubt": (
            f"UPDATE credentials SET doubted_at = now() WHERE person_id = {MARIA} AND kind = 'password'",
        ),
        "a session that never ends": ("UPDATE person_sessions SET expires_at = '2099-01-01'",),
        # The versions themselves.
    },
    "records_entered": {
        "an employee deleted with the versions": (
            UNSEEN,
            f"DELETE FROM record_versions WHERE record_id = {ROSA}",
            f"DELETE FROM employees WHERE id = {ROSA}",
        ),
        "a version's time": (
            *employee("relationship = 'parent'"),
            f"UPDATE record_versions SET at = (SELECT at FROM audit_log WHERE subject_id = {ROSA} LIMIT 1) WHERE record_id = {ROSA}",
        ),
        "a change and its version undone": (
            UNSEEN,
            "UPDATE employees SET address = NULL WHERE address IS NOT NULL",
            "DELETE FROM record_versions WHERE record = 'employees' AND before IS NOT NULL",
        ),
    },
}
