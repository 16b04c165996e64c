"""What the owner of the database may do to rights behind everybody's back: by law, what is done and its statements."""

# ruff: noqa: E501, ISC004 - statements read best whole

from tests.rights.record_damage import DAMAGE as DAMAGE_TO_RECORDS

VIEWER = "(SELECT m.id FROM memberships m WHERE m.role = 'viewer' ORDER BY m.id LIMIT 1)"
STRANGER = "(SELECT id FROM people WHERE email = 'other@example.com')"
MARIA = "(SELECT id FROM people WHERE email = 'maria@example.com')"
ROSA = "(SELECT id FROM people WHERE email = 'rosa@example.com')"
READER = "(SELECT id FROM agent_grants WHERE NOT demands_preview AND ended_at IS NULL ORDER BY id LIMIT 1)"
CONFINED = "(SELECT id FROM api_keys WHERE confined)"
DEBITED = "(SELECT bank_account_id FROM bank_entries WHERE kind = 'debit' AND status = 'settled' ORDER BY id LIMIT 1)"
FLYING = (
    "(SELECT id FROM autopilot_enrollments WHERE status = 'active' AND mend_by IS NULL ORDER BY id LIMIT 1)"
)

DAMAGE: dict[str, dict[str, tuple[str, ...]]] = {
    "member_rights": {
        "a viewer made owner": (f"UPDATE memberships SET role = 'owner' WHERE id = {VIEWER}",),
        "an admin made owner": ("UPDATE memberships SET role = 'owner' WHERE role = 'admin'",),
        "a stranger made a member": (
            "INSERT INTO memberships SELECT new_id(), m.organization_id, o.id, 'owner', now(), NULL "
            f"FROM memberships m, people o WHERE m.id = {VIEWER} AND o.id = {STRANGER}",
        ),
        "a member moved to another organization": (
            f"UPDATE memberships SET organization_id = (SELECT organization_id FROM memberships WHERE person_id = {STRANGER}) WHERE id = {VIEWER}",
        ),
        "a membership deleted": (f"DELETE FROM memberships WHERE id = {VIEWER}",),
        "an invitation that offers more": (
            "UPDATE member_invitations SET role = 'owner' WHERE status = 'pending'",
        ),
    },
    "key_rights": {
        "scopes widened": (f"UPDATE api_keys SET scopes = scopes || '{{ach}}' WHERE id = {CONFINED}",),
        "confined no more": (f"UPDATE api_keys SET confined = false WHERE id = {CONFINED}",),
        "another household": (
            f"UPDATE api_keys k SET employer_id = (SELECT e.id FROM employers e WHERE e.organization_id = k.organization_id AND e.id <> k.employer_id) WHERE id = {CONFINED}",
        ),
        "another mode": ("UPDATE api_keys SET mode = 'live' WHERE mode = 'test'",),
        "another key in its place": (f"UPDATE api_keys SET key_hash = sha256('mine') WHERE id = {CONFINED}",),
        "an end put off": ("UPDATE api_keys SET expires_at = '2099-01-01'",),
        "in force again": ("UPDATE api_keys SET revoked_at = NULL WHERE revoked_at IS NOT NULL",),
        "of another organization": (
            f"UPDATE api_keys SET organization_id = (SELECT organization_id FROM memberships WHERE person_id = {STRANGER}), employer_id = NULL WHERE id = {CONFINED}",
        ),
        "made by nobody": (
            "INSERT INTO api_keys (id, organization_id, mode, scopes, key_hash, last_four, created_at) "
            "SELECT new_id(), organization_id, 'live', scopes, sha256('new'), '0000', now() FROM api_keys LIMIT 1",
        ),
    },
    "agent_rights": {
        "tools widened": (f"UPDATE agent_grants SET tools = tools || '{{run_payroll}}' WHERE id = {READER}",),
        "moved to another household": (
            "UPDATE agent_grants g SET employer_id = e.id, organization_id = e.organization_id, sandbox = e.sandbox "
            f"FROM (SELECT * FROM employers ORDER BY id LIMIT 1) e WHERE g.id = {READER}",
        ),
        "moved to another person": (f"UPDATE agent_grants SET person_id = {STRANGER} WHERE id = {READER}",),
        "no preview any more": ("UPDATE agent_grants SET demands_preview = false WHERE demands_preview",),
        "an end put off": ("UPDATE agent_grants SET expires_at = '2099-01-01' WHERE ended_at IS NULL",),
        "let in again": (
            "ALTER TABLE agent_grants DISABLE TRIGGER USER",
            "UPDATE agent_grants SET ended_at = NULL, ended_because = NULL WHERE ended_at IS NOT NULL",
        ),
    },
    "linked_rights": {
        "a record linked to a stranger's account": (f"UPDATE employee_links SET person_id = {STRANGER}",),
    },
    "audit_begins": {
        "a whole log emptied": (
            "ALTER TABLE audit_log DISABLE TRIGGER USER",
            "WITH alerts AS (DELETE FROM security_alerts) DELETE FROM audit_log",
            "DELETE FROM audit_seals",
        ),
    },
    "account_history": {
        "signing in taken out": (
            "DELETE FROM person_events WHERE action = 'sign_in' AND id < (SELECT max(l.id::text)::uuid FROM person_events l WHERE l.person_id = person_events.person_id)",
        ),
        "all that happened to one": (f"DELETE FROM person_events WHERE person_id = {ROSA}",),
        "addresses blanked": ("UPDATE person_events SET address = NULL",),
        "details blanked": ("UPDATE person_events SET details = '{}' WHERE action = 'sign_in'",),
    },
    "account_ways_in": {
        "a password copied from another person": (
            f"UPDATE credentials c SET password_hash = o.password_hash FROM credentials o WHERE o.person_id = {STRANGER} AND o.kind = 'password' AND c.person_id = {MARIA} AND c.kind = 'password'",
        ),
        "an old password put back": (
            "UPDATE credentials c SET ended_at = '2099-01-01' WHERE ended_at IS NULL AND EXISTS (SELECT FROM credentials o WHERE o.person_id = c.person_id AND o.ended_at IS NOT NULL)",
            "UPDATE credentials SET ended_at = NULL WHERE ended_at < '2099-01-01'",
        ),
        "a passkey put there": (
            "INSERT INTO credentials (id, person_id, kind, name, passkey_id, public_key, sign_count, created_at, confirmed_at) "
            f"VALUES (new_id(), {MARIA}, 'passkey', 'mine', sha256('a'), sha256('b'), 0, now(), now())",
        ),
    },
    "account_sessions": {
        "a session begun by nobody": (
            "INSERT INTO person_sessions (id, person_id, token_hash, stage, method, in_sandbox, created_at, authenticated_at, last_seen_at, expires_at) "
            f"VALUES (new_id(), {MARIA}, sha256('mine'), 'full', 'password', false, now(), now(), now(), now() + interval '1 day')",
        ),
        "the last sign-in taken out": (
            "DELETE FROM person_events e WHERE action = 'sign_in' AND NOT EXISTS (SELECT FROM person_events l WHERE l.before = e.id)",
        ),
        "another's session": (
            f"UPDATE person_sessions SET person_id = {MARIA} WHERE person_id = {STRANGER}",
        ),
    },
    "operator_rights": {
        "a stranger operates": (f"UPDATE people SET operator_since = now() WHERE id = {STRANGER}",),
        "an employee operates": (f"UPDATE people SET operator_since = now() WHERE id = {ROSA}",),
    },
    "authorizations_given": {
        "authorizations deleted": ("DELETE FROM ach_authorizations",),
        "one dated later": (
            f"UPDATE ach_authorizations SET authorized_at = authorized_at + interval '1 hour' WHERE bank_account_id = {DEBITED}",
        ),
        "one that lasts longer": (
            "UPDATE ach_authorizations SET expires_at = expires_at + interval '1 year'",
        ),
        "another text": ("UPDATE ach_authorizations SET text_version = '2020-01-01'",),
        "one given by nobody": (
            "INSERT INTO ach_authorizations SELECT new_id(), organization_id, employer_id, sandbox, bank_account_id, authorized_by_kind, authorized_by, request_id, text_version, authorized_at, expires_at, NULL FROM ach_authorizations LIMIT 1",
        ),
        "one of an account that was disconnected": (
            "UPDATE bank_accounts SET status = 'replaced' WHERE id IN (SELECT bank_account_id FROM ach_authorizations)",
        ),
    },
    "standing_given": {
        "the agreed text changed": (
            "UPDATE autopilot_authorizations SET agreed_text = agreed_text || ' And whatever else.'",
        ),
        "the agreed text and its version changed": (
            "UPDATE autopilot_authorizations SET agreed_text = 'Whatever.', text_version = '2020-01-01'",
        ),
        "authorizations deleted": ("DELETE FROM autopilot_authorizations",),
        "one dated later": (
            "UPDATE autopilot_authorizations SET authorized_at = authorized_at + interval '1 day' WHERE ended_at IS NULL",
        ),
    },
    "debits_authorized": {
        "authorizations deleted": (
            "DELETE FROM ach_authorizations",
            "DELETE FROM autopilot_authorizations",
        ),
        "one deleted": (f"DELETE FROM ach_authorizations WHERE bank_account_id = {DEBITED}",),
        "dated after the debits": (
            "UPDATE ach_authorizations SET authorized_at = '2026-12-24', expires_at = '2026-12-31'",
        ),
        "revoked before the debits": ("UPDATE ach_authorizations SET revoked_at = authorized_at",),
        "a standing one dated after the debits": (
            "UPDATE autopilot_authorizations SET authorized_at = '2026-12-24', ended_at = NULL",
        ),
    },
    "autopilot_terms": {
        "expected_net raised": ("UPDATE autopilot_versions SET expected_net = expected_net * 2",),
        "hours raised": ("UPDATE autopilot_versions SET standard_hours = standard_hours + 10",),
        "a version that nobody enrolled": (
            "INSERT INTO autopilot_versions SELECT new_id(), organization_id, employer_id, sandbox, enrollment_id, 9, from_period, frequency, anchor, pay_days_after, standard_hours, expected_net, made_by_kind, made_by, made_at FROM autopilot_versions LIMIT 1",
        ),
        "a version deleted": ("DELETE FROM autopilot_versions",),
    },
    "autopilot_skips": {
        "skip_through put off": ("UPDATE autopilot_enrollments SET skip_through = skip_through + 70",),
        "a skip that nobody asked for": (
            "UPDATE autopilot_enrollments SET skip_through = '2099-01-01' WHERE skip_through IS NULL",
        ),
        "a skip taken back": (
            "UPDATE autopilot_enrollments SET skip_through = NULL WHERE skip_through IS NOT NULL",
        ),
    },
    "autopilot_events_kept": {
        "the history deleted": ("DELETE FROM autopilot_events",),
        "lines blanked": ("UPDATE autopilot_events SET details = '{}'",),
        "one line blanked": (
            "UPDATE autopilot_events SET details = '{}' WHERE event = 'fail' OR event = 'pause'",
        ),
        "who enrolled deleted": ("DELETE FROM autopilot_events WHERE event = 'enroll'",),
    },
    "autopilot_ahead": {
        "generate_at put off": (
            f"UPDATE autopilot_enrollments SET generate_at = generate_at + interval '1 year' WHERE id = {FLYING}",
        ),
        "generate_at earlier": (
            f"UPDATE autopilot_enrollments SET generate_at = generate_at - interval '1 minute' WHERE id = {FLYING}",
        ),
        "next_pay_date moved": (
            f"UPDATE autopilot_enrollments SET next_pay_date = next_pay_date + 7 WHERE id = {FLYING}",
        ),
        "next_end moved": (f"UPDATE autopilot_enrollments SET next_end = next_end + 1 WHERE id = {FLYING}",),
        "generate_at of one that is tried again put off": (
            f"UPDATE autopilot_enrollments SET mend_by = generate_at, generate_at = generate_at + interval '1 year' WHERE id = {FLYING}",
        ),
    },
    "attempts_ahead": {
        "a payroll put off for good": (
            "UPDATE payrolls SET next_attempt_at = '2099-01-01', attempts = 1 WHERE status = 'scheduled'",
        ),
        "a payroll put off without an attempt": (
            "UPDATE payrolls SET next_attempt_at = '2026-12-04T02:00:00Z' WHERE status = 'scheduled'",
        ),
    },
    "documents_issued": {
        "a paper's only version deleted": (
            "DELETE FROM documents WHERE id = (SELECT id FROM documents WHERE version = 1 AND superseded_by IS NULL LIMIT 1)",
        ),
        "filed under another employee": (
            "UPDATE documents d SET employee_id = (SELECT e.id FROM employees e WHERE e.employer_id = d.employer_id AND e.id <> d.employee_id LIMIT 1)",
        ),
        "about another": ("UPDATE documents SET subject_id = new_id()",),
        "filed under another household": (
            "SET LOCAL session_replication_role = replica",
            "UPDATE documents d SET employer_id = (SELECT e.id FROM employers e WHERE e.id <> d.employer_id LIMIT 1)",
        ),
        "as of another year": ("UPDATE documents SET tax_year = tax_year - 1",),
    },
    "mails_kept": {
        "the mails of a payroll deleted": ("DELETE FROM mail_outbox WHERE payroll_id IS NOT NULL",),
        "a warning deleted": ("DELETE FROM mail_outbox WHERE kind = 'person.changed'",),
        "made out to be of another kind": (
            "UPDATE mail_outbox SET kind = 'person.news' WHERE kind = 'person.changed'",
        ),
        "the newest mail deleted": (
            "DELETE FROM mail_outbox WHERE id = (SELECT id FROM mail_outbox ORDER BY id DESC LIMIT 1)",
        ),
        "the register forged": ("DELETE FROM mail_register",),
    },
    "alerts_left": {
        "a warning taken out before it was told": (
            "DELETE FROM security_alerts WHERE id = (SELECT s.id FROM security_alerts s JOIN audit_log a ON a.id = s.id "
            "WHERE a.action = 'member.join' ORDER BY s.id DESC LIMIT 1)",
        ),
        "held back": (
            "UPDATE security_alerts SET told_at = NULL, created_at = created_at - interval '3 days'",
        ),
    },
} | DAMAGE_TO_RECORDS
