"""The laws the books must keep, each a function that returns the query for what breaks it.

A function's docstring is its law, as it is printed. Its query reads the whole database at once and returns one row
for each difference: ``subject`` and ``id`` say where, ``what`` names the figure, ``recorded`` is what stands there
and ``expected`` what it is proved to be. A new law is a function and a row in `CHECKS`.
"""

from collections.abc import Callable, Mapping
from typing import Final

from hearthpay.banking.exposure import OPEN_CASES
from hearthpay.doctor.evidence_checks import accounts, audit_chain, paycheck_digests, periods, traces
from hearthpay.doctor.threshold_checks import refunded_years, threshold_taxes, threshold_wages
from hearthpay.doctor.year_checks import RELINKED, year_caps, year_owed, year_taxes
from hearthpay.payroll.lifecycle import TRANSITIONS

Check = Callable[[], str]

_PAID: Final = "('pending_funding', 'processing', 'completed')"
_UNDER_WAY: Final = "('pending', 'sent', 'settled')"
_WHITE: Final = r"E' \t\n\r\f\v'"

#: Whether a payroll `p` has ever been paid: a failed or voided one may have been, or not.
_WAS_PAID: Final = f"""
    (p.status IN {_PAID} OR p.status IN ('voided', 'failed') AND EXISTS (
        SELECT FROM payroll_transitions t WHERE t.payroll_id = p.id AND t.to_status IN {_PAID}))
"""
_IS_REFUND: Final = f"coalesce(lower(btrim(notes, {_WHITE})), '') = 'fica-refund'"
_REVERSED: Final = "EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id)"
#: Whether a paycheck `c` was paid by check after all, since its direct deposit could not leave.
_BY_CHECK: Final = (
    "EXISTS (SELECT FROM paycheck_remedies d WHERE d.paycheck_id = c.id AND d.action = 'pay_by_check')"
)


#: Whether prior wages `p` counted when a paycheck was made: they had been entered by then, and not been replaced yet.
_COUNTED_BY: Final = "p.id < paycheck_id AND (p.replaced_by IS NULL OR p.replaced_by > paycheck_id)"


def _dollars(cents: str) -> str:
    return f"to_char(({cents}) / 100.0, 'FM99999999999999990.00')"


def _unequal(
    subject: str,
    source: str,
    *,
    money: Mapping[str, tuple[str, str]] | None = None,
    other: Mapping[str, tuple[str, str]] | None = None,
    detail: str = "''",
) -> str:
    """Return the query for pairs that differ: of each name, what is recorded and what is expected.

    ``source`` has a column ``id``. The rows are compared whole first, so that a clean database is read quickly.
    """
    money, other = money or {}, other or {}
    pairs = [*money.values(), *other.values()]
    texts = [(name, _dollars(left), _dollars(right)) for name, (left, right) in money.items()]
    texts += [(name, f"({left})::text", f"({right})::text") for name, (left, right) in other.items()]
    values = ", ".join(f"('{name}', {left}, {right})" for name, left, right in texts)
    whole = " OR ".join(f"({left}) IS DISTINCT FROM ({right})" for left, right in pairs)
    return f"""
        SELECT '{subject}' AS subject, s.id, v.name || {detail} AS what, v.recorded, v.expected
          FROM (SELECT * FROM ({source}) q WHERE {whole}) s
         CROSS JOIN LATERAL (VALUES {values}) AS v (name, recorded, expected)
         WHERE v.recorded IS DISTINCT FROM v.expected
    """


def paycheck_sums() -> str:
    """Net pay is gross pay less taxes and what is set aside, and gross pay the sum of the earnings."""
    return _unequal(
        "paycheck",
        "SELECT * FROM paychecks",
        money={
            "gross_pay": ("gross_pay", "regular_pay + overtime_pay + bonus + other_earnings"),
            "net_pay": ("net_pay", "gross_pay - employee_taxes - set_aside"),
            "total_cost": ("total_cost", "gross_pay + employer_taxes"),
        },
    )


def paycheck_taxes() -> str:
    """A paycheck's taxes are the sums of its lines, the employee's and the household's apart."""
    return _unequal(
        "paycheck",
        """
        SELECT c.id, c.employee_taxes, c.employer_taxes, coalesce(l.employee, 0) AS employee,
               coalesce(l.employer, 0) AS employer
          FROM paychecks c
          LEFT JOIN (SELECT paycheck_id, sum(amount) FILTER (WHERE payer = 'employee') AS employee,
                            sum(amount) FILTER (WHERE payer = 'employer') AS employer
                       FROM paycheck_lines GROUP BY paycheck_id) l ON l.paycheck_id = c.id
        """,
        money={
            "employee_taxes": ("employee_taxes", "employee"),
            "employer_taxes": ("employer_taxes", "employer"),
        },
    )


def tax_years() -> str:
    """A payroll, its paychecks and their lines belong to the year of the pay date, a refund to that of its period."""
    payrolls = _unequal(
        "payroll",
        f"""
        SELECT id, tax_year, extract(year FROM CASE WHEN {_IS_REFUND} THEN period_end ELSE pay_date END)::int AS year
          FROM payrolls
        """,
        other={"tax_year": ("tax_year", "year")},
    )
    paychecks = _unequal(
        "paycheck",
        "SELECT c.id, c.tax_year, p.tax_year AS year FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id",
        other={"tax_year": ("tax_year", "year")},
    )
    lines = _unequal(
        "paycheck",
        "SELECT c.id, l.code, l.tax_year, c.tax_year AS year FROM paycheck_lines l "
        "JOIN paychecks c ON c.id = l.paycheck_id",
        other={"tax_year": ("tax_year", "year")},
        detail="' of line ' || s.code",
    )
    return f"{payrolls} UNION ALL {paychecks} UNION ALL {lines}"


def payroll_totals() -> str:
    """A payroll's totals are the sums of its paychecks, also after they were reversed."""
    return _unequal(
        "payroll",
        f"""
        SELECT p.id, p.gross_pay, p.total_deductions, p.net_pay, p.employer_taxes, p.total_cost,
               coalesce(c.gross_pay, 0) AS c_gross_pay, coalesce(c.net_pay, 0) AS c_net_pay,
               coalesce(c.employer_taxes, 0) AS c_employer_taxes, coalesce(c.total_cost, 0) AS c_total_cost
          FROM payrolls p
          LEFT JOIN (SELECT payroll_id, sum(gross_pay) AS gross_pay, sum(net_pay) AS net_pay,
                            sum(employer_taxes) AS employer_taxes, sum(total_cost) AS total_cost
                       FROM paychecks WHERE reverses IS NULL GROUP BY payroll_id) c ON c.payroll_id = p.id
         WHERE c.payroll_id IS NOT NULL OR p.status IN {_PAID}
        """,
        money={
            "gross_pay": ("gross_pay", "c_gross_pay"),
            "total_deductions": ("total_deductions", "c_gross_pay - c_net_pay"),
            "net_pay": ("net_pay", "c_net_pay"),
            "employer_taxes": ("employer_taxes", "c_employer_taxes"),
            "total_cost": ("total_cost", "c_total_cost"),
        },
    )


def entries_paid() -> str:
    """Every entry of a paid payroll has one paycheck for what was asked, and no other payroll has any."""
    same = (
        "employee_id",
        "period",
        "payment_method",
        "regular_hours",
        "regular_pay",
        "overtime_hours",
        "overtime_pay",
        "bonus",
        "other_earnings",
    )
    sides = ", ".join(f"e.{name} AS e_{name}, c.{name} AS c_{name}" for name in same)
    paired = f"""
        SELECT p.id, coalesce(e.position, c.position) AS position, e.payroll_id IS NOT NULL AS asked,
               c.payroll_id IS NOT NULL AS paid, {_WAS_PAID} AS was_paid, {sides}
          FROM payroll_entries e
          FULL JOIN (SELECT * FROM paychecks WHERE reverses IS NULL) c USING (payroll_id, position)
          JOIN payrolls p ON p.id = payroll_id
    """
    presence = _unequal(
        "payroll",
        paired,
        other={"entry": ("asked", "true"), "paycheck": ("paid", "was_paid")},
        detail="' at position ' || s.position",
    )
    content = _unequal(
        "payroll",
        f"{paired} WHERE e.payroll_id IS NOT NULL AND c.payroll_id IS NOT NULL",
        other={name: (f"c_{name}", f"e_{name}") for name in same},
        detail="' of the paycheck at position ' || s.position",
    )
    empty = """
        SELECT 'payroll', p.id, 'entries', '0', '1 or more' FROM payrolls p
         WHERE NOT EXISTS (SELECT FROM payroll_entries e WHERE e.payroll_id = p.id)
    """
    return f"{presence} UNION ALL {content} UNION ALL {empty}"


def reversals() -> str:
    """A reversed paycheck is undone to the cent, line by line, by one of the same payroll."""
    amounts = (
        "regular_hours",
        "regular_pay",
        "overtime_hours",
        "overtime_pay",
        "bonus",
        "other_earnings",
        "gross_pay",
        "employee_taxes",
        "employer_taxes",
        "set_aside",
        "net_pay",
        "total_cost",
    )
    same = ("payroll_id", "payment_method", "period")
    sides = ", ".join(f"r.{name} AS r_{name}, c.{name} AS c_{name}" for name in amounts + same)
    paychecks = _unequal(
        "paycheck",
        f"SELECT r.id, r.position AS r_position, c.position AS c_position, c.reverses AS c_reverses, {sides} "
        "FROM paychecks r JOIN paychecks c ON c.id = r.reverses",
        other={name: (f"r_{name}", f"-c_{name}") for name in amounts}
        | {name: (f"r_{name}", f"c_{name}") for name in same}
        | {
            "position": ("r_position", "-1 - c_position"),
            "reversing a reversal": ("c_reverses", "NULL::uuid"),
        },
    )
    lines = _unequal(
        "paycheck",
        """
        SELECT coalesce(r.paycheck_id, c.paycheck_id) AS id, position, r.code AS r_code, c.code AS c_code,
               r.payer AS r_payer, c.payer AS c_payer, r.subject_wages AS r_subject, c.subject_wages AS c_subject,
               r.taxable_wages AS r_taxable, c.taxable_wages AS c_taxable, r.amount AS r_amount, c.amount AS c_amount
          FROM (SELECT l.* FROM paychecks k JOIN paycheck_lines l ON l.paycheck_id = k.id
                 WHERE k.reverses IS NOT NULL) r
          FULL JOIN (SELECT k.id AS paycheck_id, l.position, l.code, l.payer, l.subject_wages, l.taxable_wages, l.amount
                       FROM paychecks k JOIN paycheck_lines l ON l.paycheck_id = k.reverses) c
         USING (paycheck_id, position)
        """,
        money={
            "subject_wages": ("r_subject", "-c_subject"),
            "taxable_wages": ("r_taxable", "-c_taxable"),
            "amount": ("r_amount", "-c_amount"),
        },
        other={"code": ("r_code", "c_code"), "payer": ("r_payer", "c_payer")},
        detail="' of the line at position ' || s.position",
    )
    return f"{paychecks} UNION ALL {lines}"


def reversed_when() -> str:
    """Voided paychecks are reversed, of a failed payroll those the bank did not pay, perhaps those by check."""
    return _unequal(
        "paycheck",
        f"""
        SELECT c.id, {_REVERSED} AS reversed,
               CASE WHEN p.status = 'voided' THEN true
                    WHEN p.status <> 'failed' THEN false
                    WHEN c.payment_method <> 'direct_deposit' OR {_BY_CHECK} THEN {_REVERSED}
                    WHEN c.net_pay = 0 THEN {_REVERSED}
                    ELSE NOT EXISTS (SELECT FROM bank_entries b WHERE b.paycheck_id = c.id AND b.kind = 'credit'
                                                                  AND b.status IN {_UNDER_WAY})
                         OR EXISTS (SELECT FROM bank_entries b WHERE b.paycheck_id = c.id AND b.kind = 'reversal'
                                                                 AND b.status = 'settled')
                         OR {_REVERSED} AND EXISTS (SELECT FROM bank_entries b WHERE b.paycheck_id = c.id
                                                       AND b.kind = 'reversal' AND b.status = 'returned')
               END AS expected
          FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id WHERE c.reverses IS NULL
        """,
        other={"reversed": ("reversed", "expected")},
    )


def entries_live() -> str:
    """An entry counts against a second payment of its period until it is voided or its payment has failed."""
    return _unequal(
        "payroll",
        f"""
        SELECT e.payroll_id AS id, e.position, e.live,
               p.status <> 'voided' AND NOT (c.id IS NULL AND p.status = 'failed') AND NOT {_REVERSED} AS expected
          FROM payroll_entries e JOIN payrolls p ON p.id = e.payroll_id
          LEFT JOIN paychecks c ON c.payroll_id = e.payroll_id AND c.position = e.position
        """,
        other={"live": ("live", "expected")},
        detail="' of the entry at position ' || s.position",
    )


def entries_apart() -> str:
    """No two live entries of an employee with hours have a day in common."""
    return """
        SELECT 'employee' AS subject, employee_id AS id, 'period of payroll ' || payroll_id AS what,
               period::text AS recorded, 'after ' || (until - 1) AS expected
          FROM (SELECT employee_id, payroll_id, period,
                       max(upper(period)) OVER (PARTITION BY employee_id ORDER BY lower(period), payroll_id
                                                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until
                  FROM payroll_entries WHERE live AND (regular_hours > 0 OR overtime_hours > 0)) e
         WHERE lower(period) < until
    """


def year_totals() -> str:
    """An employee's balance of a year is the sum of the year's paychecks."""
    names = ("gross_pay", "net_pay", "employee_taxes", "employer_taxes")
    sums = ", ".join(f"sum({name}) AS {name}" for name in names)
    sides = ", ".join(
        f"coalesce(b.{name}, 0) AS b_{name}, coalesce(c.{name}, 0) AS c_{name}" for name in names
    )
    return _unequal(
        "employee",
        f"SELECT employee_id AS id, tax_year, {sides} FROM year_balances b "
        f"FULL JOIN (SELECT employee_id, tax_year, {sums} FROM paychecks GROUP BY employee_id, tax_year) c "
        "USING (employee_id, tax_year)",
        money={name: (f"b_{name}", f"c_{name}") for name in names},
        detail="' of ' || s.tax_year",
    )


def year_lines() -> str:
    """An employee's balance of a year is, code by code, the sum of the year's lines."""
    return _unequal(
        "employee",
        """
        SELECT employee_id AS id, tax_year, code, coalesce(b.taxable_wages, 0) AS b_taxable,
               coalesce(b.amount, 0) AS b_amount, coalesce(l.taxable_wages, 0) AS l_taxable,
               coalesce(l.amount, 0) AS l_amount, coalesce(l.subject_wages, 0) AS l_subject,
               CASE WHEN b.not_kept THEN coalesce(l.subject_wages, 0) ELSE coalesce(b.subject_wages, 0) END AS b_subject
          FROM (SELECT y.employee_id, y.tax_year, y.subject_wages IS NULL AS not_kept, u.*
                  FROM year_balances y, unnest(y.codes, y.subject_wages, y.taxable_wages, y.amounts)
                       AS u (code, subject_wages, taxable_wages, amount)
               ) b
          FULL JOIN (SELECT employee_id, tax_year, code, sum(subject_wages) AS subject_wages,
                            sum(taxable_wages) AS taxable_wages, sum(amount) AS amount
                       FROM paycheck_lines GROUP BY employee_id, tax_year, code) l
         USING (employee_id, tax_year, code)
        """,
        money={
            "subject_wages": ("b_subject", "l_subject"),
            "taxable_wages": ("b_taxable", "l_taxable"),
            "amount": ("b_amount", "l_amount"),
        },
        detail="' of ' || s.code || ' in ' || s.tax_year",
    )


def latest_to_date() -> str:
    """The latest paycheck of a year, and its latest line of each code, print the sums to date, prior wages included.

    They are the person's; of records that were linked or let go, it is the latest paycheck since then.
    """
    alone = f"employee_id NOT IN ({RELINKED})"
    those_alone = _latest_to_date(
        f"SELECT * FROM paychecks WHERE {alone}",
        f"SELECT * FROM paycheck_lines WHERE {alone}",
        "SELECT * FROM prior_wages",
    )
    # Each record with the person's records, and the last change of who they are.
    records = f"""
        (SELECT DISTINCT ON (r.id) r.id AS employee_id, coalesce(r.person_id, r.id) AS person, a.id AS changed
           FROM (SELECT DISTINCT coalesce(person_id, id) AS id FROM employees WHERE id IN ({RELINKED})) p
           JOIN employees r ON coalesce(r.person_id, r.id) = p.id
           JOIN employees m ON coalesce(m.person_id, m.id) = p.id
           JOIN audit_log a ON a.action = 'employee.same_person'
                AND (a.subject_id = m.id OR a.details -> 'before' ->> 'person_id' = p.id::text)
          ORDER BY r.id, a.id DESC) k
    """
    columns = "k.person AS employee_id, k.changed, c.tax_year"
    those_linked = _latest_to_date(
        f"SELECT {columns}, c.id, {_totals('c.')}, {_totals('c.ytd_')} "
        f"FROM {records} JOIN paychecks c USING (employee_id)",
        f"SELECT {columns}, c.code, c.amount, c.ytd_amount, c.paycheck_id "
        f"FROM {records} JOIN paycheck_lines c USING (employee_id)",
        "SELECT k.person AS employee_id, c.id, c.replaced_by, c.tax_year, c.codes, c.amounts, "
        f"{_totals('c.')} FROM {records} JOIN prior_wages c USING (employee_id)",
        changed="changed",
    )
    return f"{those_alone} UNION ALL {those_linked}"


_TOTALS: Final = ("gross_pay", "net_pay", "employee_taxes", "employer_taxes")


def _totals(prefix: str) -> str:
    return ", ".join(f"{prefix}{name}" for name in _TOTALS)


def _latest_to_date(paid: str, lines: str, prior: str, *, changed: str = "NULL::uuid") -> str:
    """Compare what the latest of some paychecks and lines print with their sums; none older than ``changed``."""
    sums = ", ".join(f"sum({name}) AS {name}" for name in _TOTALS)
    expected = ", ".join(f"year.{name} + coalesce(prior.{name}, 0) AS {name}" for name in _TOTALS)
    paychecks = _unequal(
        "employee",
        f"SELECT latest.employee_id AS id, latest.*, {expected} FROM (SELECT DISTINCT ON (employee_id, tax_year) "
        f"employee_id, tax_year, id AS paycheck_id, {_totals('ytd_')}, {changed} AS changed "
        f"FROM ({paid}) p ORDER BY employee_id DESC, tax_year DESC, id DESC) latest "
        f"JOIN (SELECT employee_id, tax_year, {sums} FROM ({paid}) p GROUP BY employee_id, tax_year) year "
        "ON year.employee_id = latest.employee_id AND year.tax_year = latest.tax_year "
        f"LEFT JOIN LATERAL (SELECT {sums} FROM ({prior}) p WHERE p.employee_id = latest.employee_id "
        f"AND p.tax_year = latest.tax_year AND {_COUNTED_BY}) prior ON true "
        "WHERE changed IS NULL OR paycheck_id > changed",
        money={f"ytd_{name}": (f"ytd_{name}", name) for name in _TOTALS},
        detail="' of the latest paycheck of ' || s.tax_year",
    )
    # The latest line is the greatest of id and amount as text: one pass over all lines, and no sort of them.
    latest_lines = _unequal(
        "employee",
        f"""
        SELECT latest.id, latest.tax_year, latest.code, latest.amount + coalesce(prior.amount, 0) AS amount,
               substring(latest.newest FROM 37)::bigint AS ytd_amount
          FROM (SELECT employee_id AS id, tax_year, code, sum(amount) AS amount,
                       max((paycheck_id::text || ytd_amount) COLLATE "C") AS newest, max({changed}::text) AS changed
                  FROM ({lines}) l GROUP BY employee_id, tax_year, code) latest
          LEFT JOIN LATERAL (
               SELECT sum(u.amount) AS amount
                 FROM (SELECT left(latest.newest, 36)::uuid AS paycheck_id) paid,
                      ({prior}) p, unnest(p.codes, p.amounts) AS u (code, amount)
                WHERE p.employee_id = latest.id AND p.tax_year = latest.tax_year AND u.code = latest.code
                  AND {_COUNTED_BY}) prior ON true
         WHERE changed IS NULL OR left(latest.newest, 36) > changed
        """,
        money={"ytd_amount": ("ytd_amount", "amount")},
        detail="' of the latest line ' || s.code || ' of ' || s.tax_year",
    )
    return f"{paychecks} UNION ALL {latest_lines}"


def direct_deposits() -> str:
    """A payroll moves money exactly if an entry is by direct deposit and it is no catch-up."""
    return _unequal(
        "payroll",
        f"""
        SELECT p.id, p.direct_deposit,
               coalesce(lower(btrim(p.notes, {_WHITE})), '') <> 'catch-up'
               AND EXISTS (SELECT FROM payroll_entries e
                            WHERE e.payroll_id = p.id AND e.payment_method = 'direct_deposit') AS expected
          FROM payrolls p
        """,
        other={"direct_deposit": ("direct_deposit", "expected")},
    )


#: What the household owes the bank for each payroll: net pay by direct deposit, and what those paychecks set aside.
_OWED: Final = """
    SELECT payroll_id, sum(net_pay + set_aside) AS amount FROM paychecks
     WHERE reverses IS NULL AND payment_method = 'direct_deposit' GROUP BY payroll_id
"""


def debits() -> str:
    """A household is debited once for what its payroll pays out and sets aside, and for no other payroll."""
    amounts = _unequal(
        "bank_entry",
        f"""
        SELECT b.id, b.amount, CASE WHEN p.direct_deposit THEN coalesce(o.amount, 0) ELSE 0 END AS owed
          FROM bank_entries b JOIN payrolls p ON p.id = b.payroll_id LEFT JOIN ({_OWED}) o ON o.payroll_id = p.id
         WHERE b.kind = 'debit' AND b.status <> 'cancelled'
        """,
        money={"amount": ("amount", "owed")},
    )
    # A debit that comes back after the credits have gone out leaves the payroll as it is; see `hearthpay bank`.
    counts = _unequal(
        "payroll",
        f"""
        SELECT p.id, coalesce(b.under_way, 0) AS under_way,
               CASE WHEN NOT p.direct_deposit OR coalesce(o.amount, 0) = 0 THEN 0
                    WHEN p.status = 'pending_funding' THEN 1
                    WHEN p.status IN ('processing', 'completed') AND b.settled = 0 AND b.returned > 0
                         AND (EXISTS (SELECT FROM bank_entries c WHERE c.payroll_id = p.id AND c.kind = 'credit'
                                         AND c.status IN ('sent', 'settled'))
                              OR EXISTS (SELECT FROM paycheck_remedies d
                                          WHERE d.payroll_id = p.id AND d.action = 'pay_by_check')) THEN 0
                    WHEN p.status IN ('processing', 'completed') THEN 1
                    WHEN p.status = 'failed' THEN least(coalesce(b.under_way, 0), 1)
                    WHEN p.status = 'voided' THEN least(coalesce(b.settled, 0), 1)
                    ELSE 0
               END AS expected,
               coalesce(b.settled, 0) AS settled,
               CASE WHEN p.status IN ('processing', 'completed') THEN coalesce(b.under_way, 0)
                    ELSE coalesce(b.settled, 0) END AS expected_settled,
               coalesce(b.attempts, 0) AS attempts, coalesce(b.last_attempt, 0) AS last_attempt
          FROM payrolls p LEFT JOIN ({_OWED}) o ON o.payroll_id = p.id
          LEFT JOIN (SELECT payroll_id, count(*) FILTER (WHERE status IN {_UNDER_WAY}) AS under_way,
                            count(*) FILTER (WHERE status = 'settled') AS settled,
                            count(*) FILTER (WHERE status = 'returned') AS returned,
                            count(*) AS attempts, max(attempt) AS last_attempt
                       FROM bank_entries WHERE kind = 'debit' GROUP BY payroll_id) b ON b.payroll_id = p.id
        """,
        other={
            "debits under way or settled": ("under_way", "expected"),
            "settled debits": ("settled", "expected_settled"),
            "attempts to debit": ("attempts", "last_attempt"),
        },
    )
    return f"{amounts} UNION ALL {counts}"


def deposits_paid() -> str:
    """Once the debit is settled, each direct deposit is paid out once and in full; nothing else is."""
    amounts = _unequal(
        "bank_entry",
        """
        SELECT b.id, b.amount, b.payroll_id, c.payroll_id AS c_payroll_id,
               CASE WHEN c.payment_method = 'direct_deposit' AND p.direct_deposit AND c.reverses IS NULL
                    THEN c.net_pay ELSE 0 END AS owed
          FROM bank_entries b JOIN paychecks c ON c.id = b.paycheck_id JOIN payrolls p ON p.id = c.payroll_id
         WHERE b.kind = 'credit' AND b.status <> 'cancelled'
        """,
        money={"amount": ("amount", "owed")},
        other={"payroll_id": ("payroll_id", "c_payroll_id")},
    )
    states = f"""
        SELECT 'paycheck' AS subject, c.id, 'credit of payroll ' || p.status AS what, coalesce(b.status, 'none'),
               CASE p.status WHEN 'completed' THEN 'settled' WHEN 'processing' THEN 'under way' ELSE 'none' END
          FROM payrolls p JOIN paychecks c ON c.payroll_id = p.id
          LEFT JOIN bank_entries b ON b.paycheck_id = c.id AND b.kind = 'credit'
         WHERE p.direct_deposit AND c.reverses IS NULL AND c.payment_method = 'direct_deposit' AND c.net_pay > 0
           AND NOT ({_BY_CHECK} AND p.status IN ('processing', 'completed') AND b.status = 'cancelled')
           AND CASE p.status WHEN 'completed' THEN b.status IS DISTINCT FROM 'settled'
                             WHEN 'processing' THEN coalesce(b.status, '') NOT IN {_UNDER_WAY}
                             WHEN 'failed' THEN false
                             ELSE b.status IN {_UNDER_WAY} OR b.status = 'returned' END
    """
    return f"{amounts} UNION ALL {states}"


def arrivals() -> str:
    """A direct deposit arrives in the year that its paycheck belongs to."""
    return _unequal(
        "bank_entry",
        "SELECT b.id, extract(year FROM b.effective_date)::int AS year, c.tax_year FROM bank_entries b "
        "JOIN paychecks c ON c.id = b.paycheck_id WHERE b.kind = 'credit' AND b.effective_date IS NOT NULL",
        other={"year of arrival": ("year", "tax_year")},
    )


def refunds() -> str:
    """What was collected for a paycheck and is reversed goes back to the household, with what was set aside."""
    return _unequal(
        "paycheck",
        f"""
        SELECT c.id, coalesce(b.amount, 0) AS refunded,
               CASE WHEN NOT p.direct_deposit OR c.payment_method <> 'direct_deposit' THEN 0
                    WHEN {_BY_CHECK} AND NOT {_REVERSED} THEN
                         CASE WHEN p.status = 'failed' THEN coalesce(b.amount, 0)
                              WHEN EXISTS (SELECT FROM bank_entries d WHERE d.payroll_id = p.id AND d.kind = 'debit'
                                                                        AND d.status = 'settled') THEN c.net_pay
                              ELSE coalesce(b.amount, 0) END
                    WHEN NOT {_REVERSED} THEN 0
                    WHEN EXISTS (SELECT FROM bank_entries d WHERE d.payroll_id = p.id AND d.kind = 'debit'
                                                              AND d.status = 'settled') THEN c.net_pay + c.set_aside
                    WHEN EXISTS (SELECT FROM bank_entries k WHERE k.paycheck_id = c.id AND k.kind = 'credit'
                                                              AND k.status = 'returned')
                         AND coalesce(b.amount, 0) = c.net_pay + c.set_aside THEN b.amount
                    WHEN b.gone THEN b.amount
                    ELSE 0 END AS expected
          FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id
          LEFT JOIN (SELECT paycheck_id, sum(amount) AS amount, bool_and(status IN ('sent', 'settled')) AS gone
                       FROM bank_entries WHERE kind = 'refund' AND status IN {_UNDER_WAY} GROUP BY paycheck_id) b
            ON b.paycheck_id = c.id
         WHERE c.reverses IS NULL
           AND (b.paycheck_id IS NOT NULL OR p.status IN ('failed', 'voided') OR p.direct_deposit AND {_BY_CHECK})
        """,
        money={"refund": ("refunded", "expected")},
    )


def open_money() -> str:
    """No money waits that cannot leave, and none is owed that was paid out; see `hearthpay bank exposure`."""
    return f"""
        SELECT CASE WHEN kind = 'set_aside_overdrawn' THEN 'employee' WHEN kind = 'wages_not_collected' THEN 'payroll'
                    ELSE 'bank_entry' END AS subject,
               id, kind || ' since ' || since AS what, {_dollars("amount")} AS recorded, '0.00' AS expected
          FROM ({OPEN_CASES}) AS open
    """


def escrow_balances() -> str:
    """An escrow account is the sum of its movements; what came and went by bank is held."""
    return _unequal(
        "employee",
        """
        SELECT employee_id AS id, coalesce(a.balance, 0) AS balance, coalesce(a.held, 0) AS held,
               coalesce(m.balance, 0) AS m_balance, coalesce(m.held, 0) AS m_held
          FROM escrow_accounts a
          FULL JOIN (SELECT employee_id, sum(amount) AS balance,
                            coalesce(sum(amount) FILTER (WHERE payment_method = 'direct_deposit'), 0) AS held
                       FROM escrow_movements GROUP BY employee_id) m USING (employee_id)
        """,
        money={"balance": ("balance", "m_balance"), "held": ("held", "m_held")},
    )


def escrow_history() -> str:
    """Each movement of an escrow account states the balance it led to."""
    return _unequal(
        "escrow_movement",
        "SELECT id, balance, sum(amount) OVER (PARTITION BY employee_id ORDER BY id) AS so_far FROM escrow_movements",
        money={"balance": ("balance", "so_far")},
    )


def escrow_deposits() -> str:
    """What each paycheck sets aside, and nothing else, is deposited, and taken back by its reversal."""
    return _unequal(
        "paycheck",
        """
        SELECT coalesce(c.id, m.paycheck_id) AS id, coalesce(m.amount, 0) AS amount,
               coalesce(c.set_aside, 0) AS set_aside, m.kind,
               CASE WHEN c.reverses IS NULL THEN 'deposit' ELSE 'reversal' END AS expected_kind,
               m.payment_method, CASE WHEN c.payment_method = 'direct_deposit' AND NOT p.direct_deposit THEN 'check'
                                      ELSE c.payment_method END AS expected_method,
               c.set_aside_balance,
               CASE WHEN c.reverses IS NULL THEN m.balance ELSE c.set_aside_balance END AS expected_balance
          FROM (SELECT * FROM paychecks WHERE set_aside <> 0) c
          FULL JOIN (SELECT * FROM escrow_movements WHERE paycheck_id IS NOT NULL) m ON m.paycheck_id = c.id
          LEFT JOIN payrolls p ON p.id = c.payroll_id
        """,
        money={
            "movement": ("amount", "set_aside"),
            "set_aside_balance": ("set_aside_balance", "expected_balance"),
        },
        other={"kind": ("kind", "expected_kind"), "payment_method": ("payment_method", "expected_method")},
    )


def escrow_payouts() -> str:
    """What leaves an escrow account by direct deposit is sent to the bank once, and returned once it comes back."""
    sent = _unequal(
        "escrow_movement",
        """
        SELECT coalesce(m.id, b.escrow_movement_id) AS id, coalesce(b.amount, 0) AS sent, coalesce(-m.amount, 0) AS paid
          FROM (SELECT * FROM escrow_movements WHERE kind = 'payout' AND payment_method = 'direct_deposit') m
          FULL JOIN (SELECT * FROM bank_entries WHERE kind = 'payout' AND status <> 'cancelled') b
            ON b.escrow_movement_id = m.id
        """,
        money={"bank entry": ("sent", "paid")},
    )
    returned = _unequal(
        "employee",
        """
        SELECT employee_id AS id, coalesce(m.amount, 0) AS movements, coalesce(b.amount, 0) AS returned
          FROM (SELECT employee_id, sum(amount) AS amount FROM escrow_movements
                 WHERE kind = 'payout_returned' GROUP BY employee_id) m
          FULL JOIN (SELECT employee_id, sum(amount) AS amount FROM bank_entries
                      WHERE kind = 'payout' AND status = 'returned' GROUP BY employee_id) b USING (employee_id)
        """,
        money={"returned payouts": ("movements", "returned")},
    )
    return f"{sent} UNION ALL {returned}"


def histories() -> str:
    """A payroll's history is unbroken, allows every step of it, fires once and ends in the payroll's status."""
    allowed = ", ".join(
        f"('{leave or ''}', '{enter}', '{actor}')"
        for (leave, enter), actors in TRANSITIONS.items()
        for actor in sorted(actors)
    )
    steps = f"""
        SELECT 'payroll' AS subject, payroll_id AS id, 'step to ' || to_status || ' by ' || actor_kind AS what,
               'from ' || coalesce(from_status, 'nothing') AS recorded,
               'an allowed step from ' || coalesce(before, 'nothing') AS expected
          FROM (SELECT *, lag(to_status) OVER (PARTITION BY payroll_id ORDER BY id) AS before
                  FROM payroll_transitions) t
         WHERE from_status IS DISTINCT FROM before
            OR (coalesce(from_status, ''), to_status, actor_kind) NOT IN (VALUES {allowed})
    """
    ends = _unequal(
        "payroll",
        """
        SELECT p.id, p.status, coalesce(t.to_status, 'none') AS to_status, coalesce(t.firings, 0) AS firings
          FROM payrolls p
          LEFT JOIN (SELECT DISTINCT ON (payroll_id) payroll_id, to_status,
                            count(*) FILTER (WHERE to_status = 'firing') OVER (PARTITION BY payroll_id) AS firings
                       FROM payroll_transitions ORDER BY payroll_id, id DESC) t ON t.payroll_id = p.id
        """,
        other={"status": ("status", "to_status"), "firings": ("firings", "least(firings, 1)")},
    )
    return f"{steps} UNION ALL {ends}"


def overdue() -> str:
    """No payroll waits for more than an hour after its time, or is left in the middle of firing."""
    return """
        SELECT 'payroll' AS subject, id, status || ' for ' || pay_date AS what,
               coalesce(next_attempt_at, scheduled_send_at)::text AS recorded,
               'fired by ' || CAST(:now AS timestamptz) AS expected
          FROM payrolls
         WHERE status = 'firing'
            OR status = 'scheduled'
               AND coalesce(next_attempt_at, scheduled_send_at) < CAST(:now AS timestamptz) - interval '1 hour'
    """


def idempotency() -> str:
    """Every idempotency key has its answer, and the payroll that a real household's answer names exists."""
    identity = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    return f"""
        SELECT 'organization' AS subject, k.organization_id AS id, 'idempotency key ' || k.key AS what,
               CASE WHEN k.status IS NULL THEN 'no answer' ELSE 'payroll ' || k.payroll END AS recorded,
               CASE WHEN k.status IS NULL THEN 'an answer' ELSE 'a payroll that exists' END AS expected
          FROM (SELECT organization_id, sandbox, key, status,
                       substring(CASE WHEN key_id IS NULL THEN convert_from(body, 'UTF8') END
                                 FROM '"payroll_id"\\: ?"({identity})"')::uuid AS payroll
                  FROM idempotency_keys) k
          LEFT JOIN payrolls p ON p.id = k.payroll AND p.organization_id = k.organization_id AND p.sandbox = k.sandbox
         WHERE k.status IS NULL OR k.payroll IS NOT NULL AND p.id IS NULL AND NOT k.sandbox
    """


CHECKS: Final[tuple[Check, ...]] = (
    paycheck_sums,
    paycheck_taxes,
    tax_years,
    payroll_totals,
    entries_paid,
    entries_live,
    entries_apart,
    reversals,
    reversed_when,
    year_totals,
    year_lines,
    year_caps,
    year_taxes,
    year_owed,
    threshold_wages,
    threshold_taxes,
    refunded_years,
    latest_to_date,
    direct_deposits,
    debits,
    deposits_paid,
    arrivals,
    refunds,
    open_money,
    escrow_balances,
    escrow_history,
    escrow_deposits,
    escrow_payouts,
    histories,
    overdue,
    idempotency,
    periods,
    accounts,
    paycheck_digests,
    audit_chain,
    traces,
)
"""Every law, in the order in which they are proved."""
