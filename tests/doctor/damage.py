"""What may go wrong with the books: for each check, statements after which it, and no other check, must speak up."""

# ruff: noqa: E501, ISC004 - statements read best whole

from hearthpay.duties.dues import rules_fingerprint

STANDING = "reverses IS NULL AND id NOT IN (SELECT reverses FROM paychecks WHERE reverses IS NOT NULL)"
PAID_BY_CHECK = (
    "(SELECT id FROM payrolls WHERE status = 'completed' AND NOT direct_deposit ORDER BY id LIMIT 1)"
)
ONE_STANDING = (
    f"(SELECT id FROM paychecks WHERE {STANDING} AND payroll_id = {PAID_BY_CHECK} ORDER BY position LIMIT 1)"
)
UNCAPPED = "array_position(codes, 'CA-SDI-EE')"
ONE_REVERSING = "(SELECT id FROM paychecks WHERE reverses IS NOT NULL AND set_aside = 0 ORDER BY id LIMIT 1)"
ON_PAPER = "payment_method = 'check'"
#: As if every household had chosen what all have by default: then other checks prove its years.
AS_CHOSEN = 'UPDATE employers SET threshold_bases = \'{"2000": "assume_crossed"}\''
#: The entry of the audit log that a change of a record needs.
ENTERED = (
    "INSERT INTO audit_log (id, organization_id, actor_kind, action, details) "
    "SELECT new_id(), id, 'operator', 'employer.update', '{}' FROM organizations"
)
WITH_RATE = "(SELECT paycheck_id FROM paycheck_lines WHERE rate IS NOT NULL AND code = 'CA-ETT-ER' ORDER BY paycheck_id LIMIT 1)"
LINE_CENTS = ("subject_wages", "taxable_wages", "amounts", "ytd_amounts")
LATEST = "(SELECT id FROM paychecks ORDER BY id DESC LIMIT 1)"
STANDING_LATEST = (
    "(SELECT id FROM paychecks c WHERE reverses IS NULL AND NOT EXISTS "
    "(SELECT FROM paychecks l WHERE l.employee_id = c.employee_id AND l.id > c.id) ORDER BY id LIMIT 1)"
)
#: Their years may owe anything that their taxes prove.
LAST_UNDONE = (
    "(SELECT employee_id FROM paychecks c WHERE reverses IS NOT NULL AND NOT EXISTS "
    "(SELECT FROM paychecks l WHERE l.employee_id = c.employee_id AND l.id > c.id))"
)
#: Or else what was asked for would differ as well.
_ASKED_ALIKE = (
    "UPDATE payroll_entries e SET regular_pay = c.regular_pay, overtime_pay = c.overtime_pay FROM paychecks c "
    f"WHERE c.id = {ONE_STANDING} AND e.payroll_id = c.payroll_id AND e.position = c.position"
)


def line_changed(paycheck: str, code: str, **changes: str) -> str:
    """The statement that changes figures of a paycheck's line, each `{}` in them the figure that is there."""
    at = f"[array_position(s.codes, '{code}')]"
    values = ", ".join(
        f"line_{name}{at} = {change.format(f'c.line_{name}{at}')}" for name, change in changes.items()
    )
    return (
        f"UPDATE paychecks c SET {values} FROM line_sets s WHERE s.id = c.line_set_id AND c.id = {paycheck}"
    )


def line_named(paycheck: str, code: str, **changes: str) -> str:
    """The statement that gives a paycheck another set of lines, in which this one is named otherwise."""
    columns = {
        name: f"s.{name}[:i - 1] || '{changes[name]}'::text || s.{name}[i + 1:]"
        if name in changes
        else f"s.{name}"
        for name in ("codes", "names", "payers", "agencies", "categories")
    }
    values = ", ".join(f"{value} AS {name}" for name, value in columns.items())
    own = "line_set_id(codes, names, payers, agencies, categories)"
    return (
        f"WITH named AS (SELECT c.id AS paycheck, {values} FROM paychecks c JOIN line_sets s ON s.id = c.line_set_id, "
        f"array_position(s.codes, '{code}') i WHERE c.id = {paycheck}), added AS (INSERT INTO line_sets "
        f"SELECT {own}, codes, names, payers, agencies, categories FROM named ON CONFLICT DO NOTHING) "
        f"UPDATE paychecks SET line_set_id = {own} FROM named WHERE id = paycheck"
    )


def lines_in_another_order(paycheck: str) -> str:
    """The statement that turns the order of a paycheck's lines around."""
    turned = "ARRAY(SELECT u.v FROM unnest({}) WITH ORDINALITY u (v, n) ORDER BY u.n DESC)"
    names = ("codes", "names", "payers", "agencies", "categories")
    sets = ", ".join(f"{turned.format(f's.{name}')} AS {name}" for name in names)
    figures = ("subject_wages", "taxable_wages", "rates", "amounts", "ytd_amounts")
    own = "line_set_id(codes, names, payers, agencies, categories)"
    return (
        f"WITH turned AS (SELECT {sets} FROM paychecks c JOIN line_sets s ON s.id = c.line_set_id "
        f"WHERE c.id = {paycheck}), added AS (INSERT INTO line_sets SELECT {own}, turned.* FROM turned) "
        f"UPDATE paychecks SET line_set_id = (SELECT {own} FROM turned), "
        + ", ".join(f"line_{name} = {turned.format(f'line_{name}')}" for name in figures)
        + f" WHERE id = {paycheck}"
    )


def payroll(status: str, *, through_bank: bool = True) -> str:
    return f"(SELECT id FROM payrolls WHERE status = '{status}' AND direct_deposit = {through_bank} ORDER BY id LIMIT 1)"


def entry(kind: str, status: str) -> str:
    return f"(SELECT id FROM bank_entries WHERE kind = '{kind}' AND status = '{status}' ORDER BY id LIMIT 1)"


def movement(kind: str, where: str = "true") -> str:
    return f"(SELECT id FROM escrow_movements WHERE kind = '{kind}' AND {where} ORDER BY id LIMIT 1)"


KEPT_DUES = (
    f"UPDATE household_dues SET computed_on = DATE '2026-12-03', rules = '{rules_fingerprint()}', "
    "{} WHERE employer_id = (SELECT id FROM employers ORDER BY id LIMIT 1)"
)
MONTH_OF_STANDING = (
    "(employee_id, month) = (SELECT c.employee_id, date_trunc('month', p.pay_date)::date FROM paychecks c "
    f"JOIN payrolls p ON p.id = c.payroll_id WHERE c.id = {ONE_STANDING})"
)
SAID = "INSERT INTO {} SELECT new_id(), organization_id, id, sandbox, {}, now(), now() FROM employers LIMIT 1"
DRAFT = (
    "INSERT INTO payroll_drafts SELECT new_id(), p.organization_id, p.employer_id, p.sandbox, {}, p.period_end, NULL, "
    "p.pay_frequency, NULL, jsonb_build_array(jsonb_build_object('employee_id', {})), now(), now(), {}, NULL "
    "FROM payrolls p JOIN payroll_entries e ON e.payroll_id = p.id WHERE p.id = (SELECT payroll_id FROM payroll_entries "
    "GROUP BY payroll_id HAVING count(*) = 1 ORDER BY payroll_id LIMIT 1)"
)
LINK = (
    "INSERT INTO calendar_links SELECT new_id(), organization_id, id, sandbox, sha256('{}'), now(), NULL "
    "FROM (SELECT * FROM employers ORDER BY id LIMIT 1) e"
)


def decided(outcome: str) -> str:
    return f"(SELECT id FROM autopilot_periods WHERE outcome = '{outcome}' ORDER BY id LIMIT 1)"


FLOWN = "(SELECT enrollment_id FROM autopilot_periods WHERE outcome = 'paid' ORDER BY id LIMIT 1)"


#: Who can sign in: with an account and a password.
SOMEBODY = (
    "INSERT INTO people VALUES (new_id(), 'ana@example.com', 'Ana', 'es', now(), now())",
    "INSERT INTO credentials (id, person_id, kind, password_hash, created_at) "
    "SELECT new_id(), id, 'password', '$argon2id$', now() FROM people",
)

#: One employee with an account, by the invitation that she was sent.
AN_EMPLOYEE = "(SELECT min(id::text)::uuid FROM employees)"
EMPLOYED = (
    *SOMEBODY,
    "INSERT INTO invitations (id, organization_id, employer_id, sandbox, employee_id, type, email_sent, token_hash, "
    "created_at, expires_at) SELECT new_id(), organization_id, employer_id, sandbox, id, 'tax_info', false, sha256('a'), now(), "
    f"now() + interval '1 day' FROM employees WHERE id = {AN_EMPLOYEE}",
    "INSERT INTO employee_links SELECT new_id(), i.organization_id, i.employer_id, i.sandbox, i.employee_id, p.id, i.id, "
    "now(), NULL FROM invitations i, people p WHERE i.token_hash = sha256('a')",
)
PAY_CHANGE = (
    "INSERT INTO pay_changes SELECT new_id(), organization_id, employer_id, sandbox, id, now(), 'hourly', {former}, "
    f"NULL, NULL, 'hourly', {{now}}, NULL, NULL FROM employees WHERE pay_rate_cents > 100 AND id = {AN_EMPLOYEE}"
)
SIGNED = (
    "INSERT INTO signed_certificates (id, organization_id, employer_id, sandbox, employee_id, jurisdiction, form, "
    "law_year, rulebook_version, wording, language, asked, answered, entries, signed_name, signed_on, signed_at, "
    "person_id) SELECT new_id(), e.organization_id, e.employer_id, e.sandbox, e.id, '{place}', 'W-4', 2026, '2026.1', "
    "'1', 'en', '[{{\"name\": \"exempt\"}}]', '{{\"{answer}\": \"on\"}}', {entries}, 'Ana', '2026-12-01', now(), p.id "
    f"FROM employees e, people p WHERE e.id = {AN_EMPLOYEE}"
).format
CHANGED_ACCOUNT = (
    "INSERT INTO account_changes (id, organization_id, employer_id, sandbox, employee_id, status, account_type, "
    "last_four, bank_account_id, asked_at, effective_at, ended_at) SELECT new_id(), b.organization_id, b.employer_id, "
    "b.sandbox, b.employee_id, 'done', 'checking', b.last_four, b.id, {asked}, {asked} + interval '24 hours', now() "
    "FROM bank_accounts b WHERE b.id = (SELECT bank_account_id FROM bank_entries "
    "WHERE kind = 'credit' AND effective_date IS NOT NULL ORDER BY id LIMIT 1)"
).format

#: A payroll by check, run by an agent that was given what the names say.
RUN_BY_AGENT = (
    "INSERT INTO agent_grants SELECT new_id(), p.organization_id, {household}, {sandbox}, w.id, 'c', 'Helper', 'h', {tools}, "
    "false, 'r', p.created_at - interval '1 hour', p.created_at + interval '1 day' FROM payrolls p, people w "
    f"WHERE p.id = {PAID_BY_CHECK}",
    "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, actor_id, action, subject_id, details) "
    "SELECT new_id(), p.organization_id, p.employer_id, p.sandbox, 'mcp', g.id, 'payroll.run', p.id, '{{}}' "
    f"FROM payrolls p, agent_grants g WHERE p.id = {PAID_BY_CHECK}",
)

#: What tells that she has made her account, and let the agent in.
GIVEN = (
    "INSERT INTO person_events (id, person_id, action, details) SELECT new_id(), c.person_id, 'account.create', "
    "jsonb_build_object('credential', c.id, 'kind', c.kind, 'digest', "
    "encode(sha256(convert_to(c.password_hash, 'UTF8')), 'hex')) FROM credentials c",
    "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, actor_id, action, subject_id, details) "
    "SELECT new_id(), g.organization_id, g.employer_id, g.sandbox, 'user', g.person_id, 'agent.connect', g.id, "
    "jsonb_build_object('person_id', g.person_id, 'client_id', g.client_id, 'returns_to', g.returns_to, 'tools', g.tools, "
    "'demands_preview', g.demands_preview, 'expires_at', g.expires_at) FROM agent_grants g",
)
ALERTED = (
    "INSERT INTO security_alerts (id, organization_id) SELECT id, organization_id FROM audit_log "
    "WHERE action = 'agent.connect'"
)


def run_by_agent(
    *then: str, tools: str = "'{run_payroll}'", household: str = "p.employer_id", sandbox: str = "p.sandbox"
) -> tuple[str, ...]:
    told = {"tools": tools, "household": household, "sandbox": sandbox}
    alerted = (ALERTED,) if sandbox == "p.sandbox" else ()
    return (*SOMEBODY, *(statement.format(**told) for statement in RUN_BY_AGENT), *GIVEN, *alerted, *then)


PACKAGE = (
    "INSERT INTO document_packages (id, organization_id, employer_id, sandbox, tax_year, status, papers, drawn, "
    "document_id, requested_at, finished_at) SELECT new_id(), organization_id, employer_id, sandbox, {} "
    "FROM documents WHERE kind = '{}' ORDER BY id LIMIT 1"
)
DAMAGE = {
    # name of the check: one damage after another, each of one statement or several
    "paycheck_sums": [
        (
            "ALTER TABLE paychecks DROP CONSTRAINT paychecks_sums",
            f"UPDATE paychecks SET regular_pay = regular_pay + 1 WHERE id = {ONE_STANDING}",
            _ASKED_ALIKE,
        ),
        (
            "ALTER TABLE paychecks DROP CONSTRAINT paychecks_sums",
            f"UPDATE paychecks SET regular_pay = regular_pay - 1, overtime_pay = overtime_pay + 2 WHERE id = {ONE_STANDING}",
            _ASKED_ALIKE,
        ),
    ],
    "paycheck_taxes": [
        (line_named(ONE_STANDING, "US-MED-EE", payers="employer"),),
    ],
    "payroll_kinds": [
        (f"UPDATE payrolls SET notes = E' CATCH-up\\n' WHERE id = {payroll('scheduled')}",),
        (
            "UPDATE payrolls SET notes = NULL WHERE id = (SELECT id FROM payrolls WHERE kind = 'catch_up' LIMIT 1)",
        ),
    ],
    "tax_years": [
        (f"UPDATE payrolls SET pay_date = pay_date + 400 WHERE id = {PAID_BY_CHECK}",),
        (f"UPDATE payrolls SET tax_year = 2025 WHERE id = {payroll('scheduled')}",),
    ],
    "line_sets": [
        (
            # Without a digest, and of no amount: nothing else can tell.
            "UPDATE paychecks SET digest = NULL, line_rates = line_rates || NULL::numeric, "
            + ", ".join(f"line_{name} = line_{name} || 0::bigint" for name in LINE_CENTS)
            + f" WHERE id = {ONE_STANDING}",
        ),
    ],
    "payroll_totals": [
        (f"UPDATE payrolls SET {name} = {name} + 1 WHERE id = {which}",)
        for name in ("gross_pay", "total_deductions", "net_pay", "employer_taxes", "total_cost")
        for which in (PAID_BY_CHECK, payroll("failed"), payroll("voided", through_bank=False))
    ],
    "entries_paid": [
        (f"UPDATE payroll_entries SET regular_hours = regular_hours + 1 WHERE payroll_id = {PAID_BY_CHECK}",),
        (f"UPDATE payroll_entries SET regular_pay = regular_pay + 1 WHERE payroll_id = {PAID_BY_CHECK}",),
        (f"UPDATE payroll_entries SET bonus = bonus + 1 WHERE payroll_id = {payroll('failed')}",),
        (f"UPDATE payroll_entries SET position = position + 5 WHERE payroll_id = {PAID_BY_CHECK}",),
        (f"DELETE FROM payroll_entries WHERE payroll_id = {PAID_BY_CHECK}",),
        (
            f"DELETE FROM payroll_entries WHERE payroll_id = {payroll('scheduled')}",
            f"UPDATE payrolls SET direct_deposit = false WHERE id = {payroll('scheduled')}",
        ),
    ],
    "entries_live": [
        (f"UPDATE payroll_entries SET live = false WHERE payroll_id = {payroll(status)}",)
        for status in ("scheduled", "pending_funding", "processing", "completed")
    ]
    + [(f"UPDATE payroll_entries SET live = true WHERE payroll_id = {payroll('voided')}",)],
    "entries_apart": [
        (
            "ALTER TABLE payroll_entries DROP CONSTRAINT payroll_entries_no_overlap",
            "UPDATE payroll_entries e SET period = o.period FROM payroll_entries o, payrolls p WHERE p.id = e.payroll_id "
            "AND p.status = 'scheduled' AND o.live AND o.employee_id = e.employee_id AND o.payroll_id <> e.payroll_id",
        ),
    ],
    "salary_shares": [
        (
            "UPDATE paychecks SET salary = jsonb_build_object('amount', 5200000, 'per', 'year', 'frequency', 'weekly', "
            "'full_period', 100000, 'working_days', 5, 'paid_days', '4', 'unpaid_days', '1', 'weekly_hours', NULL, "
            f"'regular_rate', 2500, 'pay', 80001) WHERE id = {ONE_STANDING}",
            "UPDATE payroll_entries e SET salary = c.salary FROM paychecks c "
            f"WHERE c.id = {ONE_STANDING} AND e.payroll_id = c.payroll_id AND e.position = c.position",
        ),
    ],
    "reversals": [
        (
            line_changed(ONE_REVERSING, "CA-SDI-EE", subject_wages="{} - 1"),
            f"UPDATE year_balances SET subject_wages[{UNCAPPED}] = subject_wages[{UNCAPPED}] - 1 "
            f"WHERE employee_id = (SELECT employee_id FROM paychecks WHERE id = {ONE_REVERSING})",
        ),
        (lines_in_another_order(ONE_REVERSING),),
    ]
    + [
        (f"UPDATE paychecks SET {change} WHERE id = {ONE_REVERSING}",)
        for change in (
            "payment_method = 'cash'",
            "regular_hours = 0",
            "position = -77",
            "period = '[2026-01-01,2026-01-08)'",
        )
    ],
    "reversed_when": [
        (
            f"UPDATE bank_entries SET status = 'settled', return_code = NULL WHERE id = {entry('credit', 'returned')}",
        ),
    ],
    "year_totals": [
        (
            f"UPDATE year_balances SET {name} = {name} - 1 WHERE employee_id = (SELECT employee_id FROM payroll_entries LIMIT 1)",
        )
        for name in ("gross_pay", "net_pay", "employee_taxes", "employer_taxes")
    ],
    "year_lines": [
        (f"UPDATE year_balances SET amounts[{UNCAPPED}] = amounts[{UNCAPPED}] + 1",),
        ("UPDATE year_balances SET taxable_wages[2] = taxable_wages[2] - 1",),
        (f"UPDATE year_balances SET subject_wages[{UNCAPPED}] = subject_wages[{UNCAPPED}] + 1",),
        ("UPDATE year_balances SET codes[1] = 'XX-NO'",),
    ],
    "month_totals": [
        ("UPDATE month_balances SET gross_pay = gross_pay + 1 WHERE NOT refund",),
        (f"DELETE FROM month_balances WHERE {MONTH_OF_STANDING}",),
        (f"UPDATE month_balances SET month = '2020-01-01' WHERE {MONTH_OF_STANDING}",),
        (f"UPDATE month_balances SET work_state = 'TX' WHERE {MONTH_OF_STANDING}",),
    ],
    "month_lines": [
        (f"UPDATE month_balances SET {name}[{UNCAPPED}] = {name}[{UNCAPPED}] + 1 WHERE {MONTH_OF_STANDING}",)
        for name in ("subject_wages", "taxable_wages", "amounts")
    ]
    + [
        (f"UPDATE month_balances SET codes[1] = 'XX-NO' WHERE {MONTH_OF_STANDING}",),
        (
            "UPDATE month_balances SET codes = codes[2:], subject_wages = subject_wages[2:], "
            f"taxable_wages = taxable_wages[2:], amounts = amounts[2:] WHERE {MONTH_OF_STANDING}",
        ),
    ],
    "year_caps": [
        (
            line_changed(ONE_STANDING, "US-FUTA", taxable_wages="{} - 1"),
            "UPDATE year_balances SET taxable_wages[array_position(codes, 'US-FUTA')] = taxable_wages[array_position(codes, "
            f"'US-FUTA')] - 1 WHERE employee_id = (SELECT employee_id FROM paychecks WHERE id = {ONE_STANDING})",
        ),
    ],
    "year_taxes": [
        (
            f"UPDATE year_balances SET owed = '{{\"{code}\": {cents}}}' WHERE codes @> ARRAY['{code}'] AND employee_id IN {LAST_UNDONE}",
        )
        for code in ("US-FUTA", "US-SS-EE", "CA-ETT-ER")
        for cents in (10, -10)
    ],
    "year_owed": [
        (
            f'UPDATE paychecks SET carried = \'[["US-SS-EE", "Social Security", {cents}]]\' WHERE id = {STANDING_LATEST}',
        )
        for cents in (10, -10)
    ],
    "year_editions": [
        (
            f"UPDATE paychecks SET provisional = '[\"US-FIT\"]' WHERE id = {ONE_STANDING}",
            "UPDATE year_balances SET provisional = '{US-FIT}', rulebook_version = 'another' "
            f"WHERE employee_id = (SELECT employee_id FROM paychecks WHERE id = {ONE_STANDING})",
        ),
    ],
    "year_provisional": [
        (
            "UPDATE year_balances SET provisional = '{US-FIT}' WHERE employee_id = (SELECT min(employee_id::text)::uuid FROM year_balances)",
        ),
        (f"UPDATE paychecks SET provisional = '[\"US-FIT\"]' WHERE id = {ONE_STANDING}",),
    ],
    "threshold_wages": [
        (
            AS_CHOSEN,
            line_changed(ONE_STANDING, "US-FUTA", taxable_wages="{} - 1"),
            "UPDATE year_balances SET taxable_wages[array_position(codes, 'US-FUTA')] = taxable_wages[array_position(codes, "
            f"'US-FUTA')] - 1 WHERE employee_id = (SELECT employee_id FROM paychecks WHERE id = {ONE_STANDING})",
        ),
    ],
    "threshold_taxes": [
        (
            AS_CHOSEN,
            f"UPDATE year_balances SET owed = '{{\"{code}\": {cents}}}' WHERE codes @> ARRAY['{code}']",
        )
        for code in ("US-FUTA", "US-MED-EE", "CA-SDI-EE")
        for cents in (10, -10)
    ],
    "refunded_years": [
        (
            "UPDATE employers SET threshold_bases = '{}'",
            "UPDATE year_balances SET fica_refunded = true WHERE gross_pay > 400000",
        ),
    ],
    "following_wages": [
        (
            line_changed(ONE_STANDING, "US-FUTA-CR", taxable_wages=f"{{}} {change}"),
            "UPDATE year_balances SET taxable_wages[array_position(codes, 'US-FUTA-CR')] = taxable_wages[array_position(codes, "
            f"'US-FUTA-CR')] {change} WHERE employee_id = (SELECT employee_id FROM paychecks WHERE id = {ONE_STANDING})",
        )
        for change in ("+ 10000", "- 10000")
    ],
    "latest_to_date": [
        (line_changed(LATEST, "US-SS-ER", ytd_amounts="{} - 1"),),
    ]
    + [
        (f"UPDATE paychecks SET {name} = {name} + 1 WHERE id = {LATEST}",)
        for name in ("ytd_gross_pay", "ytd_net_pay", "ytd_employee_taxes", "ytd_employer_taxes")
    ],
    "direct_deposits": [
        (f"UPDATE payrolls SET direct_deposit = false WHERE id = {payroll('scheduled')}",),
        (
            "UPDATE payrolls SET direct_deposit = true WHERE kind = 'regular' AND status = 'completed' "
            "AND NOT sandbox AND handed_over_at IS NULL",
        ),
        (f"UPDATE payrolls SET kind = 'catch_up', notes = 'catch-up' WHERE id = {payroll('scheduled')}",),
    ],
    "debits": [
        (f"UPDATE bank_entries SET amount = amount - 1 WHERE id = {entry('debit', 'settled')}",),
        (f"UPDATE bank_entries SET amount = amount + 1 WHERE id = {entry('debit', 'sent')}",),
        (f"DELETE FROM bank_entries WHERE kind = 'debit' AND payroll_id = {payroll('completed')}",),
        (
            f"UPDATE bank_entries SET status = 'sent' WHERE kind = 'debit' AND payroll_id = {payroll('completed')}",
        ),
        (f"UPDATE bank_entries SET status = 'cancelled' WHERE id = {entry('debit', 'sent')}",),
        (f"UPDATE bank_entries SET attempt = 2 WHERE id = {entry('debit', 'settled')}",),
        (
            f"UPDATE bank_entries SET payroll_id = {payroll('scheduled')} WHERE id = {entry('debit', 'settled')}",
        ),
        (
            "INSERT INTO bank_entries (id, organization_id, employer_id, sandbox, kind, bank_account_id, payroll_id, "
            "amount, attempt, status, send_on, settle_on, created_at, updated_at) SELECT new_id(), organization_id, "
            "employer_id, sandbox, kind, bank_account_id, payroll_id, amount, 2, 'pending', send_on, settle_on, now(), "
            f"now() FROM bank_entries WHERE id = {entry('debit', 'settled')}",
        ),
    ],
    "deposits_paid": [
        (f"UPDATE bank_entries SET amount = amount + 1 WHERE id = {entry('credit', 'settled')}",),
        (f"UPDATE bank_entries SET amount = amount - 1 WHERE id = {entry('credit', 'sent')}",),
        (f"DELETE FROM bank_entries WHERE kind = 'credit' AND payroll_id = {payroll('completed')}",),
        (f"DELETE FROM bank_entries WHERE id = {entry('credit', 'sent')}",),
        (f"UPDATE bank_entries SET status = 'cancelled' WHERE id = {entry('credit', 'sent')}",),
        (
            "UPDATE bank_entries SET status = 'sent' WHERE kind = 'credit' AND status = 'settled' "
            f"AND payroll_id = {payroll('completed')}",
        ),
        (
            "UPDATE bank_entries e SET paycheck_id = c.id, employee_id = c.employee_id FROM paychecks c "
            "WHERE e.kind = 'credit' AND e.status = 'settled' AND e.amount = 86610 AND c.payment_method = 'check' "
            "AND c.payroll_id = e.payroll_id AND c.reverses IS NULL",
        ),
    ],
    "arrivals": [
        (
            "UPDATE bank_entries SET effective_date = effective_date + interval '1 year' "
            f"WHERE id = {entry('credit', 'settled')}",
        ),
    ],
    "refunds": [
        (f"UPDATE bank_entries SET amount = amount - 1 WHERE id = {entry('refund', 'settled')}",),
        (f"DELETE FROM bank_entries WHERE id = {entry('refund', 'settled')}",),
        (f"UPDATE bank_entries SET status = 'cancelled' WHERE id = {entry('refund', 'settled')}",),
    ],
    "settlements_noted": [
        (
            "INSERT INTO wage_settlements SELECT new_id(), organization_id, employer_id, sandbox, id, 100, '2026-11-20', "
            f"'nobody', 'operator', NULL, now() FROM payrolls WHERE id = {payroll('completed')}",
        ),
        (
            "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, action, subject_id, details) "
            "SELECT new_id(), organization_id, employer_id, sandbox, 'operator', 'payroll.settle', id, jsonb_build_object("
            "'amount', 100, 'received_on', '2026-11-20', 'told_by', 'check 118') "
            f"FROM payrolls WHERE id = {payroll('completed')}",
        ),
    ],
    "open_money": [
        (
            f"UPDATE bank_entries SET status = 'returned', return_code = 'R10' WHERE kind = 'debit' AND payroll_id = {payroll('completed')}",
        ),
        (
            "UPDATE bank_entries SET status = 'returned', return_code = 'R10' WHERE kind = 'debit' "
            "AND payroll_id IN (SELECT payroll_id FROM bank_entries WHERE kind = 'refund')",
        ),
        (
            f"UPDATE bank_entries SET status = 'pending', effective_date = NULL, send_on = '2026-12-01' WHERE id = {entry('credit', 'sent')}",
        ),
        (
            f"UPDATE bank_entries SET status = 'pending', effective_date = NULL WHERE id = {entry('credit', 'sent')}",
            "UPDATE bank_accounts SET status = 'failed' WHERE employee_id IS NOT NULL",
        ),
    ],
    "escrow_balances": [
        ("UPDATE escrow_accounts SET balance = balance + 1",),
        ("UPDATE escrow_accounts SET held = held - 1",),
    ],
    "escrow_history": [
        (f"UPDATE escrow_movements SET balance = balance - 1 WHERE id = {movement('payout')}",),
    ],
    "escrow_deposits": [
        (f"UPDATE escrow_movements SET payment_method = 'cash' WHERE id = {movement('deposit', ON_PAPER)}",),
        ("UPDATE paychecks SET set_aside_balance = set_aside_balance + 1 WHERE set_aside > 0",),
        (
            f"UPDATE escrow_movements SET kind = 'payout', paycheck_id = NULL WHERE id = {movement('reversal', ON_PAPER)}",
        ),
    ],
    "escrow_payouts": [
        (f"UPDATE bank_entries SET amount = amount + 1 WHERE id = {entry('payout', 'settled')}",),
        (f"UPDATE bank_entries SET status = 'cancelled' WHERE id = {entry('payout', 'settled')}",),
        (
            f"UPDATE bank_entries SET status = 'settled', return_code = NULL WHERE id = {entry('payout', 'returned')}",
        ),
    ],
    "histories": [
        (f"DELETE FROM payroll_transitions WHERE payroll_id = {payroll('scheduled')}",),
        ("DELETE FROM payroll_transitions WHERE to_status = 'firing'",),
        ("DELETE FROM payroll_transitions WHERE to_status = 'completed' AND from_status = 'processing'",),
        ("UPDATE payroll_transitions SET actor_kind = 'key' WHERE to_status = 'firing'",),
        ("UPDATE payroll_transitions SET actor_kind = 'system' WHERE to_status = 'voided'",),
        ("UPDATE payroll_transitions SET from_status = NULL WHERE from_status = 'scheduled'",),
        (
            "INSERT INTO payroll_transitions SELECT organization_id, organization_id, employer_id, sandbox, payroll_id, "
            "from_status, to_status, actor_kind, actor_id, reason, at FROM payroll_transitions WHERE to_status = 'firing' "
            "ORDER BY id LIMIT 1",
        ),
    ],
    "overdue": [
        (
            f"UPDATE payrolls SET scheduled_send_at = '2026-12-03T19:59:59Z' WHERE id = {payroll('scheduled')}",
        ),
        (f"UPDATE payrolls SET next_attempt_at = '2026-12-01T00:00:00Z' WHERE id = {payroll('scheduled')}",),
        (
            f"UPDATE payrolls SET status = 'firing' WHERE id = {payroll('scheduled')}",
            "INSERT INTO payroll_transitions (id, organization_id, employer_id, sandbox, payroll_id, from_status, to_status, "
            "actor_kind, at) SELECT new_id(), organization_id, employer_id, sandbox, id, 'scheduled', 'firing', 'system', "
            "now() FROM payrolls WHERE status = 'firing'",
        ),
    ],
    "handed_over": [
        (f"UPDATE payrolls SET handed_over_at = created_at WHERE id = {PAID_BY_CHECK}",),
        (f"UPDATE payrolls SET handed_over_at = created_at - interval '1 day' WHERE id = {PAID_BY_CHECK}",),
        (
            "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, at, actor_kind, action, subject_id, details) "
            "SELECT new_id(), organization_id, employer_id, sandbox, now(), 'system', 'payroll.hand_over', id, '{}' "
            f"FROM payrolls WHERE id = {PAID_BY_CHECK}",
        ),
    ],
    "household_clocks": [
        (
            "INSERT INTO household_clocks SELECT id, organization_id, true, '2020-01-01', '2020-01-01', 'ready', '2020-01-01', "
            "'2020-01-01', '2020-01-01', '2020-01-01' FROM employers e WHERE sandbox AND EXISTS "
            "(SELECT FROM payrolls p WHERE p.employer_id = e.id) LIMIT 1",
        ),
    ],
    "idempotency": [
        ("UPDATE idempotency_keys SET status = NULL WHERE key = 'paid'",),
        (
            "UPDATE idempotency_keys SET body = convert_to(replace(convert_from(body, 'UTF8'), '\"payroll_id\":\"0', "
            "'\"payroll_id\":\"9'), 'UTF8') WHERE key = 'first'",
        ),
    ],
    "drafts": [
        (DRAFT.format("p.period_start", "replace(e.employee_id::text, '-', '0')", "NULL::uuid"),),
        (DRAFT.format("p.period_start - 1", "e.employee_id", "p.id"),),
    ],
    "filings": [
        (SAID.format("filing_choices", "'CA', 'sui', 2026, 'monthly'"),),
        (SAID.format("filing_choices", "'NY', 'sui', 2026, 'annual'"),),
        (SAID.format("closed_accounts", "'NY', 'sui', DATE '2026-12-01'"),),
    ],
    "duties_marked": [
        (SAID.format("duty_marks", "'CA/wages-daily/2026-Q3', DATE '2026-12-01'"),),
        (SAID.format("duty_marks", "'NY/elect-annual/2026', DATE '2026-12-01'"),),
    ],
    "policies_entered": [
        (
            "INSERT INTO insurance_policies (id, organization_id, employer_id, sandbox, state, kind, carrier, starts_on, "
            "created_at, updated_at) SELECT gen_random_uuid(), organization_id, id, sandbox, 'CA', 'disability', "
            "'State Fund', DATE '2026-12-01', created_at, created_at FROM employers ORDER BY id LIMIT 1",
        ),
    ],
    "tax_payments_known": [
        *(
            (f"UPDATE tax_payments SET {change} WHERE account = 'estimated-tax'",)
            for change in (
                "agency = 'us-ssa'",
                "account = 'income-tax'",
                "period = '2026-Q4', period_start = '2026-10-01'",
                "period_start = '2026-08-01'",
                "period_end = '2026-12-30'",
                "paid_on = '2026-08-31'",
            )
        ),
        ("UPDATE tax_payments SET period = '2026-11-20' WHERE account = 'estimated-tax'",),
    ],
    "tax_payments_reversed": [
        (
            "UPDATE tax_payments SET period = '2026-I4', period_start = '2026-09-01', period_end = '2026-12-31', "
            "agency = 'us-irs', jurisdiction = 'US', account = 'estimated-tax' WHERE reverses IS NOT NULL",
        ),
        (
            "UPDATE tax_payments SET reverses = (SELECT id FROM tax_payments WHERE account = 'estimated-tax') "
            "WHERE reverses IS NOT NULL",
        ),
        ("UPDATE filings SET filed_on = filed_on + 1 WHERE reverses IS NOT NULL",),
        ("UPDATE filings SET item_key = 'CA/wages-quarterly/2026-Q2' WHERE reverses IS NOT NULL",),
    ],
    "tax_payments_noted": [
        ("UPDATE tax_payments SET amount = amount + 1 WHERE account = 'estimated-tax'",),
        (
            "INSERT INTO tax_payments SELECT new_id(), organization_id, employer_id, sandbox, agency, jurisdiction, account, "
            "period, period_start, period_end, item_key, amount, paid_on, method, confirmation, actor_kind, actor_id, NULL, "
            "created_at FROM tax_payments WHERE account = 'estimated-tax'",
        ),
    ],
    "filings_kept": [
        (
            "UPDATE filings SET figures = jsonb_set(figures, '{paid_with_other_items}', '1') WHERE reverses IS NULL",
        ),
        ("UPDATE filings SET figures = jsonb_set(figures, '{total}', '1') WHERE reverses IS NULL",),
    ],
    "feed_links": [
        ("DROP INDEX calendar_links_one_live_key", LINK.format(1), LINK.format(2)),
    ],
    "household_words": [
        ("DELETE FROM household_words WHERE owner_id <> employer_id",),
        ("UPDATE household_words SET word = word || 'x' WHERE owner_id = employer_id",),
        ("ALTER TABLE employees DISABLE TRIGGER keep_words", "UPDATE employees SET last_name = 'Unfound'"),
    ],
    "metadata_entries": [
        ("DELETE FROM metadata_entries WHERE object_type = 'payroll'",),
        ("UPDATE metadata_entries SET value = value || 'x' WHERE object_type = 'employee'",),
        ("UPDATE metadata_entries SET object_type = 'employee' WHERE object_type = 'employer'",),
        (
            "ALTER TABLE employers DISABLE TRIGGER keep_metadata",
            'UPDATE employers SET metadata = \'{"a": "2"}\'',
        ),
    ],
    "autopilot_periods": [
        ("UPDATE autopilot_enrollments SET first_start = first_start - 7 WHERE status = 'active'",),
        (f"DELETE FROM autopilot_periods WHERE id = {decided('by_hand')}",),
    ],
    "autopilot_schedules": [
        (f"UPDATE autopilot_enrollments SET next_end = next_end + 1 WHERE id = {FLOWN}",),
        ("UPDATE autopilot_versions SET anchor = anchor - 1",),
        ("UPDATE autopilot_versions SET frequency = 'biweekly', anchor = anchor - 14",),
    ],
    "autopilot_payrolls": [
        ("UPDATE autopilot_versions SET standard_hours = standard_hours - 1",),
        (
            f"UPDATE autopilot_periods SET pay_date = pay_date - 7, send_at = send_at - interval '7 days' WHERE id = {decided('scheduled')}",
        ),
    ],
    "autopilot_by_hand": [
        (f"UPDATE autopilot_periods SET by_hand = ARRAY[id] WHERE id = {decided('by_hand')}",),
    ],
    "autopilot_history": [
        (f"DELETE FROM autopilot_events WHERE event = '{event}'",) for event in ("generate", "fire", "skip")
    ],
    "autopilot_gaps": [
        ("UPDATE autopilot_periods SET outcome = 'skipped' WHERE outcome = 'paused'",),
        ("UPDATE autopilot_events SET event = 'enroll' WHERE event = 'pause'",),
    ],
    "autopilot_standing": [
        (f"UPDATE autopilot_enrollments SET status = 'paused', generate_at = NULL WHERE id = {FLOWN}",),
        (f"UPDATE autopilot_authorizations SET ended_at = authorized_at WHERE enrollment_id = {FLOWN}",),
    ],
    "autopilot_told": [
        ("DELETE FROM mail_outbox WHERE kind = 'notice.autopilot_debit_tomorrow'",),
    ],
    "autopilot_overdue": [
        (f"UPDATE autopilot_enrollments SET generate_at = '2026-12-03T19:00:00Z' WHERE id = {FLOWN}",),
        (
            "INSERT INTO autopilot_errands SELECT id, organization_id, employer_id, sandbox, id, 'paid', NULL, '{}', "
            "'2026-12-03T19:00:00Z' FROM autopilot_enrollments",
        ),
    ],
    "periods": [
        (f"UPDATE payrolls SET period_end = period_end + 1 WHERE id = {payroll('scheduled')}",),
    ],
    "accounts": [
        (
            f"UPDATE bank_entries b SET bank_account_id = (SELECT a.id FROM bank_accounts a WHERE a.employer_id = b.employer_id "
            f"AND a.employee_id <> b.employee_id ORDER BY a.id LIMIT 1) WHERE id = {entry('credit', 'sent')}",
        ),
        (
            f"UPDATE bank_entries b SET bank_account_id = (SELECT a.id FROM bank_accounts a WHERE a.employer_id = b.employer_id "
            f"AND a.employee_id IS NOT NULL ORDER BY a.id LIMIT 1) WHERE id = {entry('refund', 'settled')}",
        ),
    ],
    "paycheck_digests": [
        (line_changed(ONE_STANDING, "US-FIT", rates="0.5"),),
        *(
            (line_named(ONE_STANDING, "US-FIT", **change),)
            for change in ({"names": "Tip"}, {"agencies": "Me"}, {"categories": "other"})
        ),
        (line_changed(WITH_RATE, "CA-ETT-ER", ytd_amounts="{} + 1"),),
        *(
            (f"UPDATE paychecks SET {change} WHERE id = {ONE_STANDING}",)
            for change in (
                "employee_name = 'Me'",
                "work_state = 'TX'",
                "residence_state = 'TX'",
                "ytd_net_pay = ytd_net_pay + 1",
            )
        ),
    ],
    "audit_chain": [
        (
            "DELETE FROM audit_log WHERE id = (SELECT id FROM audit_log WHERE action = 'employee.create' LIMIT 1)",
        ),
        ("UPDATE audit_log SET actor_id = NULL WHERE action = 'employee.create'",),
        ("UPDATE audit_log SET at = at - interval '1 minute' WHERE action = 'payroll.void'",),
        ("UPDATE audit_log SET details = '{}' WHERE action = 'payroll.run'",),
        (
            "DELETE FROM audit_seals WHERE number = 3",
            "DELETE FROM audit_log a WHERE NOT EXISTS (SELECT FROM audit_seals s WHERE a.id = ANY(s.audit_ids))",
        ),
        (
            "ALTER TABLE audit_log DISABLE TRIGGER USER",
            "INSERT INTO audit_log SELECT new_id(), organization_id, employer_id, sandbox, actor_kind, actor_id, action, "
            "subject_id, request_id, details, at FROM audit_log LIMIT 1",
        ),
        ("INSERT INTO audit_unsealed SELECT new_id(), id FROM organizations LIMIT 1",),
    ],
    "traces": [
        (
            # The end of the chain with its seals: the chain itself cannot tell.
            "DELETE FROM audit_log WHERE id >= (SELECT id FROM audit_log WHERE action = 'payroll.run' ORDER BY id DESC LIMIT 1)",
            "DELETE FROM audit_seals s WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.id = ANY(s.audit_ids))",
        ),
    ],
    "agents_runs": [
        run_by_agent(tools="'{preview_payroll}'"),
        run_by_agent(
            household="(SELECT h.id FROM employers h WHERE h.id <> p.employer_id AND h.sandbox ORDER BY h.id LIMIT 1)",
            sandbox="true",
        ),
        run_by_agent("UPDATE agent_grants SET created_at = created_at + interval '2 hours'"),
        run_by_agent("UPDATE agent_grants SET expires_at = expires_at - interval '1 day 2 minutes'"),
        run_by_agent(
            "UPDATE agent_grants SET ended_at = created_at + interval '58 minutes', ended_because = 'disconnected'"
        ),
        run_by_agent("DELETE FROM agent_grants"),
    ],
    "document_versions": [
        ("DROP INDEX documents_in_force", "UPDATE documents SET superseded_by = NULL"),
        (
            "UPDATE documents SET superseded_by = (SELECT id FROM documents WHERE version = 1 AND superseded_by IS NULL "
            "LIMIT 1) WHERE superseded_by IS NOT NULL",
        ),
    ],
    "packages_made": [
        (PACKAGE.format("tax_year, 'waiting', 9, 0, NULL, '2026-01-01', NULL::timestamptz", "paystub"),),
        (PACKAGE.format("tax_year, 'drawing', 9, 3, NULL, '2026-01-01', NULL::timestamptz", "paystub"),),
        (PACKAGE.format("tax_year, 'ready', 9, 9, id, created_at, created_at", "paystub"),),
    ],
    "papers_signed": [
        (
            "INSERT INTO paper_signatures (id, organization_id, employer_id, sandbox, employee_id, document_id, party, "
            "signed_name, signed_at, person_id) SELECT gen_random_uuid(), d.organization_id, d.employer_id, d.sandbox, "
            "d.employee_id, d.id, 'household', 'Nobody', d.created_at, NULL::uuid "
            "FROM documents d WHERE d.employee_id IS NOT NULL ORDER BY d.id LIMIT 1",
        ),
    ],
    "owners": [
        (
            *SOMEBODY,
            "INSERT INTO memberships SELECT new_id(), o.id, p.id, 'admin', now(), NULL FROM people p, "
            "(SELECT id FROM organizations LIMIT 1) o",
        ),
    ],
    "ways_in": [
        (SOMEBODY[0],),
        (
            *SOMEBODY,
            "INSERT INTO credentials (id, person_id, kind, code_hash, created_at) "
            "SELECT new_id(), id, 'recovery_code', sha256(''), now() FROM people",
        ),
    ],
    "certificates": [
        (*SOMEBODY, SIGNED(place="US", answer="exempt", entries="'{\"exempt\": true}'")),
        (*SOMEBODY, SIGNED(place="AK", answer="exempt", entries="'{}'")),
        (*SOMEBODY, SIGNED(place="US", answer="other", entries="e.federal_withholding")),
    ],
    "pay_changed": [
        (PAY_CHANGE.format(former="pay_rate_cents - 100", now="pay_rate_cents - 50"),),
        (
            PAY_CHANGE.format(former="pay_rate_cents - 100", now="pay_rate_cents - 50"),
            PAY_CHANGE.format(former="pay_rate_cents - 60", now="pay_rate_cents"),
        ),
    ],
    "waiting_accounts": [
        (CHANGED_ACCOUNT(asked="b.created_at"),),
        (
            "UPDATE bank_accounts SET created_at = '2027-06-01' WHERE employee_id IS NOT NULL",
            CHANGED_ACCOUNT(asked="b.created_at - interval '24 hours'"),
        ),
    ],
    "linked_people": [
        (
            *EMPLOYED,
            "DROP INDEX employee_links_one_each_key",
            "INSERT INTO invitations SELECT (jsonb_populate_record(i, jsonb_build_object('id', new_id(), 'token_hash', "
            "sha256('b'), 'status', 'cancelled'))).* FROM invitations i WHERE i.token_hash = sha256('a')",
            "INSERT INTO employee_links SELECT new_id(), l.organization_id, l.employer_id, l.sandbox, l.employee_id, "
            "l.person_id, i.id, now(), NULL FROM invitations i, employee_links l WHERE i.token_hash = sha256('b')",
        ),
        (
            *EMPLOYED,
            f"UPDATE invitations i SET employee_id = e.id FROM employees e WHERE e.employer_id = i.employer_id "
            f"AND e.id <> {AN_EMPLOYEE} AND i.token_hash = sha256('a')",
        ),
    ],
    "references": [
        (
            "SET LOCAL session_replication_role = replica",
            "DELETE FROM bank_accounts WHERE id = (SELECT bank_account_id FROM bank_entries LIMIT 1)",
        ),
    ],
    "vault_numbers": [
        (
            "UPDATE vault SET ciphertext = o.ciphertext, nonce = o.nonce FROM vault o WHERE o.kind = 'bank_account' "
            "AND vault.kind = 'bank_account' AND o.owner_id <> vault.owner_id",
        ),
        ("UPDATE vault SET last_four = '0000' WHERE kind = 'bank_routing'",),
        ("UPDATE bank_accounts SET last_four = '0000' WHERE employee_id IS NULL",),
        ("ALTER TABLE vault DISABLE TRIGGER USER", "UPDATE vault SET key_id = 'other'"),
    ],
    "document_contents": [
        ("UPDATE documents SET content_hash = sha256('another')",),
        ("UPDATE documents SET sealed_content = sealed_content || '0'",),
        ("ALTER TABLE documents DISABLE TRIGGER USER", "UPDATE documents SET key_id = 'other'"),
    ],
    "package_papers": [
        ("SET LOCAL session_replication_role = replica", "DELETE FROM documents WHERE kind = 'w3'"),
        (PACKAGE.format("tax_year, 'ready', 99, 99, id, created_at, created_at", "year_package"),),
    ],
    "autopilot_pay_days": [
        (f"UPDATE autopilot_periods SET send_at = send_at + interval '1 hour' WHERE id = {decided('paid')}",),
        (f"UPDATE autopilot_periods SET pay_date = '2026-11-29' WHERE id = {decided('by_hand')}",),
    ],
    "household_dues": [
        (KEPT_DUES.format("week_count = 99"),),
        (KEPT_DUES.format("overdue_count = 99, overdue_since = DATE '2026-01-01'"),),
        (KEPT_DUES.format("payday_to_run = DATE '2026-01-01'"),),
    ],
    # All kinds are in `tests/database/schema_damage.py`.
    "schema": [
        ("ALTER TABLE vault DISABLE ROW LEVEL SECURITY",),
        ("DROP INDEX household_dues_rules_idx",),
    ],
}


NOTED = (
    "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, action, subject_id, details) "
    "SELECT new_id(), organization_id, employer_id, sandbox, 'user', '{}', id, {} FROM {}"
)
#: As if the database had kept it so when it was written.
AS_WRITTEN = (
    f"UPDATE bank_entries b SET steps = bank_entry_step(b) WHERE id = {entry('credit', 'pending')}",
    "UPDATE idempotency_keys k SET digest = idempotency_keys_digest(k) WHERE key = 'paid'",
)

NO_DAMAGE = {
    "a basis chosen": (AS_CHOSEN, ENTERED),
    "a draft was sent as what was typed": (
        DRAFT.format("p.period_start", "e.employee_id", "p.id"),
        NOTED.format("payroll.draft", "'{}'", "payroll_drafts WHERE payroll_id IS NOT NULL"),
    ),
    "what was said and taken back may be of anything": (
        SAID.format("filing_choices", "'NY', 'sui', 2026, NULL"),
        SAID.format("closed_accounts", "'NY', 'sui', NULL::date"),
        SAID.format("duty_marks", "'CA/wages-daily/2026-Q3', NULL::date"),
        SAID.format("duty_marks", "'CA/wages-quarterly/2026-Q3', DATE '2026-12-01'"),
        NOTED.format(
            "duty.mark",
            "jsonb_build_object('key', item_key, 'after', done_on)",
            "duty_marks WHERE item_key = 'CA/wages-quarterly/2026-Q3'",
        ),
    ),
    "a code that came to nothing may stay in the year's balance": (
        "UPDATE year_balances SET codes = codes || ARRAY['XX-GONE'], subject_wages = subject_wages || ARRAY[0::bigint], taxable_wages = taxable_wages || ARRAY[0::bigint], amounts = amounts || ARRAY[0::bigint]",
    ),
    "a year that a version before opened has no subject wages yet": (
        "UPDATE year_balances SET subject_wages = NULL",
    ),
    "credits wait until the day before the pay date": (
        f"UPDATE bank_entries SET status = 'pending', effective_date = NULL WHERE id = {entry('credit', 'sent')}",
        AS_WRITTEN[0],
    ),
    "a sandbox household may be gone with its payrolls": (
        "UPDATE idempotency_keys SET body = convert_to(replace(convert_from(body, 'UTF8'), '\"payroll_id\":\"0', "
        "'\"payroll_id\":\"9'), 'UTF8') WHERE key = 'paid'",
        AS_WRITTEN[1],
    ),
    "a payroll that has waited for less than an hour is not overdue": (
        f"UPDATE payrolls SET next_attempt_at = '2026-12-03T20:00:01Z' WHERE id = {payroll('scheduled')}",
    ),
    "an agent runs what it was given to run, and a call under way is carried out": (
        run_by_agent(
            "UPDATE agent_grants SET ended_at = created_at + interval '59 minutes 30 seconds', ended_because = 'revoked'"
        )
    ),
}
