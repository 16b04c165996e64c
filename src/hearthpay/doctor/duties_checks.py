"""Laws of what households entered in their calendar: it concerns known duties, and a feed has one link.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

import functools
from typing import Final

from hearthpay.duties.employment import occasional_duties
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.rules import duties_of
from hearthpay.insurance.requirements import rules_of
from hearthpay.taxes.jurisdictions import STATES

_JURISDICTIONS: Final = (FEDERAL, *STATES)


@functools.cache
def _frequencies() -> str:
    """Every account with a choice, and each of its frequencies, as rows."""
    return ", ".join(
        f"('{jurisdiction}', '{account.name}', '{frequency}')"
        for jurisdiction in _JURISDICTIONS
        for account in duties_of(jurisdiction).accounts
        for frequency in (*account.frequencies, *account.retired)
    )


@functools.cache
def _duties() -> str:
    return ", ".join(
        f"('{jurisdiction}/{duty}')"
        for jurisdiction in _JURISDICTIONS
        for duty in (*(duty.id for duty in duties_of(jurisdiction).duties), *duties_of(jurisdiction).retired)
    ) + "".join(f", ('{duty}')" for duty in occasional_duties())


def filings() -> str:
    """What a household chose or closed is an account of the law, and a frequency that it has."""
    return f"""
        WITH known (jurisdiction, account, frequency) AS (VALUES {_frequencies()})
        SELECT 'filing_choice' AS subject, f.id, 'frequency of ' || f.jurisdiction || ' ' || f.account AS what,
               f.frequency AS recorded, 'one of the law' AS expected
          FROM filing_choices f
         WHERE f.frequency IS NOT NULL AND NOT EXISTS (
               SELECT FROM known k WHERE k.jurisdiction = f.jurisdiction AND k.account = f.account
                                     AND k.frequency = f.frequency)
         UNION ALL
        SELECT 'closed_account', c.id, 'account of ' || c.jurisdiction, c.account, 'one of the law'
          FROM closed_accounts c
         WHERE c.closed_on IS NOT NULL AND NOT EXISTS (
               SELECT FROM known k WHERE k.jurisdiction = c.jurisdiction AND k.account = c.account)
    """


def duties_marked() -> str:
    """What a household marked as done is a duty of the law."""
    return f"""
        WITH known (duty) AS (VALUES {_duties()})
        SELECT 'duty_mark' AS subject, m.id, 'duty' AS what, m.item_key AS recorded, 'one of the law' AS expected
          FROM duty_marks m
         WHERE m.done_on IS NOT NULL
           AND substring(m.item_key FROM '^[^/]*/[^/]*') NOT IN (SELECT duty FROM known)
    """


def policies_entered() -> str:
    """An insurance policy that a household entered is of a kind that its state's law knows."""
    known = ", ".join(f"('{rule.state}', '{rule.kind}')" for state in STATES for rule in rules_of(state))
    return f"""
        WITH known (state, kind) AS (VALUES {known})
        SELECT 'insurance_policy' AS subject, p.id, 'kind of policy in ' || p.state AS what,
               p.kind AS recorded, 'one of the law' AS expected
          FROM insurance_policies p
         WHERE p.carrier IS NOT NULL
           AND NOT EXISTS (SELECT FROM known k WHERE k.state = p.state AND k.kind = p.kind)
    """


def feed_links() -> str:
    """At most one link opens a household's calendar: one that somebody made, and that nobody ended or replaced."""
    return """
        SELECT 'employer' AS subject, employer_id AS id, 'links of the calendar in force' AS what,
               count(*)::text AS recorded, 'at most 1' AS expected
          FROM calendar_links WHERE revoked_at IS NULL GROUP BY employer_id HAVING count(*) > 1
        UNION ALL
        SELECT 'employer', l.employer_id, 'link of the calendar ' || l.id,
               CASE WHEN l.revoked_at IS NULL THEN 'in force' ELSE 'ended' END,
               CASE WHEN NOT s.made THEN 'made by nobody' WHEN s.ended THEN 'ended' ELSE 'in force' END
          FROM calendar_links l CROSS JOIN LATERAL (
               SELECT EXISTS (SELECT FROM audit_log a WHERE a.action = 'calendar_link.create'
                                 AND a.subject_id = l.id) AS made,
                      EXISTS (SELECT FROM audit_log a
                               WHERE a.action = 'calendar_link.revoke' AND a.subject_id = l.id
                                  OR a.action = 'calendar_link.create' AND a.employer_id = l.employer_id
                                     AND a.details ->> 'replaced' = l.id::text) AS ended) s
         WHERE NOT s.made OR s.ended <> (l.revoked_at IS NOT NULL)
    """
