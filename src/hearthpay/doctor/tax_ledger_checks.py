"""Laws of the ledgers of tax payments and filings: of accounts that there are, reversed once, unchanged, and noted.

They are written like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

import functools
from typing import Final

from hearthpay.doctor.constant_relations import constant_relation
from hearthpay.doctor.traces import HOUSEHOLD_STANDS
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.payment_accounts import agency_of, payment_accounts
from hearthpay.duties.periods import Partition
from hearthpay.taxes.jurisdictions import STATES

_DAY: Final = "day"
_ANY_YEAR: Final = 2000


@functools.cache
def _periods() -> str:
    """Every agency, account and kind of period that something can be paid for, with its months."""
    found: dict[tuple[str, str, str, str, int, int], None] = {}
    for jurisdiction in (FEDERAL, *STATES):
        for account in payment_accounts(jurisdiction).values():
            for duty in account.duties:
                agency = agency_of(jurisdiction, duty.agency).id
                if not isinstance(duty.partition, Partition):
                    found[agency, jurisdiction, account.name, _DAY, 1, 12] = None
                    continue
                for period in duty.partition.periods(_ANY_YEAR):
                    suffix = period.label.removeprefix(str(_ANY_YEAR))
                    months = (period.first_month, period.last_month)
                    found[agency, jurisdiction, account.name, suffix, *months] = None
    columns = {
        "agency": "text",
        "jurisdiction": "text",
        "account": "text",
        "suffix": "text",
        "first_month": "int",
        "last_month": "int",
    }
    return constant_relation("known", columns, found)


def tax_payments_known() -> str:
    """A tax payment is for an agency, an account and a period of the law, and was not made before that period."""
    return f"""
        WITH {_periods()}
        SELECT 'tax_payment' AS subject, p.id, 'account and period' AS what,
               p.agency || ' ' || p.account || ' ' || p.period || ', paid on ' || p.paid_on AS recorded,
               'one of the law' AS expected
          FROM (SELECT *, substring(period FROM 5) AS suffix, left(period, 4)::int AS year,
                       length(period) = 10 AS for_a_day FROM tax_payments) p
         WHERE p.paid_on < p.period_start OR NOT EXISTS (
               SELECT FROM known k
                WHERE k.agency = p.agency AND k.jurisdiction = p.jurisdiction AND k.account = p.account
                  AND CASE WHEN p.for_a_day THEN k.suffix = '{_DAY}' AND p.period_end::text = p.period
                           ELSE k.suffix = p.suffix
                                AND p.period_start = make_date(p.year, k.first_month, 1)
                                AND p.period_end = make_date(p.year, k.last_month, 1) + interval '1 month - 1 day'
                      END)
    """


def tax_payments_reversed() -> str:
    """A reversal undoes one payment of its household, all of it, and no account is paid less than nothing."""
    return """
        SELECT 'tax_payment' AS subject, r.id, 'reversal of ' || r.reverses AS what,
               r.agency || ' ' || r.account || ' ' || r.period || ' ' || r.amount AS recorded,
               coalesce(p.agency || ' ' || p.account || ' ' || p.period || ' ' || -p.amount, 'no payment') AS expected
          FROM tax_payments r LEFT JOIN tax_payments p ON p.id = r.reverses AND p.reverses IS NULL
         WHERE r.reverses IS NOT NULL
           AND (p.employer_id, p.agency, p.jurisdiction, p.account, p.period, -p.amount)
               IS DISTINCT FROM (r.employer_id, r.agency, r.jurisdiction, r.account, r.period, r.amount)
        UNION ALL
        SELECT 'employer', employer_id, 'paid to ' || jurisdiction || ' ' || account || ' for ' || period,
               sum(amount)::text, 'nothing or more'
          FROM tax_payments GROUP BY employer_id, jurisdiction, account, period HAVING sum(amount) < 0
        UNION ALL
        SELECT 'filing', r.id, 'taking back of ' || r.reverses, r.item_key || ' ' || r.filed_on,
               coalesce(f.item_key || ' ' || f.filed_on, 'no filing')
          FROM filings r LEFT JOIN filings f ON f.id = r.reverses AND f.reverses IS NULL
         WHERE r.reverses IS NOT NULL
           AND (f.employer_id, f.item_key, f.filed_on) IS DISTINCT FROM (r.employer_id, r.item_key, r.filed_on)
    """


def filings_kept() -> str:
    """Every filing and reversal that was recorded is there, for its duty and day, with the figures noted then; its
    lines add up to its total.
    """
    return f"""
        SELECT 'filing' AS subject, coalesce(f.id, a.subject_id) AS id, 'as recorded' AS what,
               CASE WHEN f.id IS NULL THEN 'none'
                    ELSE concat_ws(', ', f.employer_id, f.item_key, f.filed_on, f.digest, f.reverses) END AS recorded,
               CASE WHEN a.subject_id IS NULL THEN 'a row in the audit log'
                    ELSE concat_ws(', ', a.employer_id, a.details ->> 'key', a.details ->> 'filed_on',
                                   a.details ->> 'figures_sha256', a.details ->> 'reverses') END AS expected
          FROM (SELECT id, employer_id, item_key, filed_on::text, reverses::text,
                       encode(sha256(convert_to(figures::text, 'UTF8')), 'hex') AS digest FROM filings) f
          FULL JOIN (SELECT * FROM audit_log WHERE action IN ('filing.record', 'filing.reverse')) a
            ON a.subject_id = f.id
         WHERE (f.employer_id, f.item_key, f.filed_on, f.digest, f.reverses) IS DISTINCT FROM
               (a.employer_id, a.details ->> 'key', a.details ->> 'filed_on', a.details ->> 'figures_sha256',
                a.details ->> 'reverses')
           AND (f.id IS NOT NULL OR {HOUSEHOLD_STANDS})
        UNION ALL
        SELECT 'filing', f.id, 'total of the lines', f.figures ->> 'total', sum(l.value::bigint)::text
          FROM filings f CROSS JOIN LATERAL jsonb_each_text(f.figures -> 'lines') l
         GROUP BY f.id HAVING sum(l.value::bigint) IS DISTINCT FROM (f.figures ->> 'total')::bigint
    """


def tax_payments_noted() -> str:
    """Every tax payment and reversal that was recorded is there: to whom, for which period, how much, and when."""
    return f"""
        SELECT 'tax_payment' AS subject, coalesce(p.id, a.subject_id) AS id, 'as recorded' AS what,
               CASE WHEN p.id IS NULL THEN 'none'
                    ELSE concat_ws(', ', p.employer_id, p.agency, p.account, p.period, p.amount || ' cents', p.paid_on,
                                   p.reverses) END AS recorded,
               CASE WHEN a.subject_id IS NULL THEN 'a row in the audit log'
                    ELSE concat_ws(', ', a.employer_id, a.details ->> 'agency', a.details ->> 'account',
                                   a.details ->> 'period', (a.details ->> 'amount') || ' cents',
                                   a.details ->> 'paid_on', a.details ->> 'reverses') END AS expected
          FROM tax_payments p
          FULL JOIN (SELECT * FROM audit_log WHERE action IN ('tax_payment.record', 'tax_payment.reverse')) a
            ON a.subject_id = p.id
         WHERE (p.employer_id, p.agency, p.account, p.period, p.amount::text, p.paid_on::text, p.reverses::text)
               IS DISTINCT FROM
               (a.employer_id, a.details ->> 'agency', a.details ->> 'account', a.details ->> 'period',
                a.details ->> 'amount', a.details ->> 'paid_on', a.details ->> 'reverses')
           AND (p.id IS NOT NULL OR {HOUSEHOLD_STANDS})
    """
