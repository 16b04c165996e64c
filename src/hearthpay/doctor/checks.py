"""The laws the books must keep, each a function that returns the query for what breaks it.

A function's docstring is its law, as it is printed. Its query reads the whole database at once and returns one row
for each difference: ``subject`` and ``id`` say where, ``what`` names the figure, ``recorded`` is the stored value
and ``expected`` what it is proved to be. A new law is a function and a row, with its id, in `CHECKS_BY_ID`.
"""

from collections.abc import Callable, Mapping
from typing import Final

from hearthpay.doctor.account_checks import (
    account_history,
    account_sessions,
    account_ways_in,
    operator_rights,
)
from hearthpay.doctor.account_trace_checks import (
    account_requests,
    account_standing,
    authorizations_revoked,
    bank_entry_steps,
    returns_recorded,
    reversals_recorded,
)
from hearthpay.doctor.agent_checks import agents_runs
from hearthpay.doctor.authorization_checks import authorizations_given, debits_authorized, standing_given
from hearthpay.doctor.autopilot_checks import (
    autopilot_by_hand,
    autopilot_gaps,
    autopilot_history,
    autopilot_overdue,
    autopilot_payrolls,
    autopilot_periods,
    autopilot_schedules,
    autopilot_standing,
    autopilot_told,
)
from hearthpay.doctor.balance_checks import latest_to_date, year_lines, year_totals
from hearthpay.doctor.bank_checks import (
    arrivals,
    debits,
    deposits_paid,
    direct_deposits,
    open_money,
    refunds,
    settlements_noted,
)
from hearthpay.doctor.clock_checks import household_clocks
from hearthpay.doctor.digest_checks import row_digests
from hearthpay.doctor.document_checks import document_versions, documents_issued, packages_made, papers_signed
from hearthpay.doctor.draft_checks import drafts, drafts_kept
from hearthpay.doctor.duties_checks import duties_marked, feed_links, filings, policies_entered
from hearthpay.doctor.enrollment_checks import autopilot_events_kept, autopilot_skips, autopilot_terms
from hearthpay.doctor.entry_checks import entries_apart, entries_live, entries_paid, salary_shares
from hearthpay.doctor.escrow_checks import escrow_balances, escrow_deposits, escrow_history, escrow_payouts
from hearthpay.doctor.evidence_checks import accounts, audit_chain, paycheck_digests, periods, traces
from hearthpay.doctor.following_checks import following_wages
from hearthpay.doctor.household_entry_checks import entries_by_households
from hearthpay.doctor.lifecycle_checks import attempts_ahead, handed_over, histories, idempotency, overdue
from hearthpay.doctor.mail_checks import alerts_left, mails_kept
from hearthpay.doctor.month_checks import month_lines, month_totals
from hearthpay.doctor.own_record_checks import certificates, linked_people, pay_changed, waiting_accounts
from hearthpay.doctor.paycheck_checks import (
    line_sets,
    paycheck_sums,
    paycheck_taxes,
    payroll_kinds,
    payroll_totals,
    reversals,
    reversed_when,
    tax_years,
)
from hearthpay.doctor.payroll_trace_checks import (
    pay_dates,
    payouts_recorded,
    payrolls_made,
    prior_wages_entered,
    remedies_decided,
    set_asides_requested,
)
from hearthpay.doctor.people_checks import owners, ways_in
from hearthpay.doctor.record_checks import record_history, records_changed, records_entered, records_kept
from hearthpay.doctor.rights_checks import (
    agent_rights,
    audit_begins,
    key_rights,
    linked_rights,
    member_rights,
)
from hearthpay.doctor.search_checks import household_words, metadata_entries
from hearthpay.doctor.tax_ledger_checks import (
    filings_kept,
    tax_payments_known,
    tax_payments_noted,
    tax_payments_reversed,
)
from hearthpay.doctor.threshold_checks import refunded_years, threshold_taxes, threshold_wages
from hearthpay.doctor.year_checks import year_caps, year_editions, year_owed, year_provisional, year_taxes

Check = Callable[[], str]

CHECKS_BY_ID: Final[Mapping[str, Check]] = {
    "paycheck_sums": paycheck_sums,
    "paycheck_taxes": paycheck_taxes,
    "payroll_kinds": payroll_kinds,
    "tax_years": tax_years,
    "line_sets": line_sets,
    "payroll_totals": payroll_totals,
    "entries_paid": entries_paid,
    "entries_live": entries_live,
    "entries_apart": entries_apart,
    "salary_shares": salary_shares,
    "reversals": reversals,
    "reversed_when": reversed_when,
    "year_totals": year_totals,
    "year_lines": year_lines,
    "month_totals": month_totals,
    "month_lines": month_lines,
    "year_caps": year_caps,
    "year_taxes": year_taxes,
    "year_owed": year_owed,
    "year_editions": year_editions,
    "year_provisional": year_provisional,
    "threshold_wages": threshold_wages,
    "threshold_taxes": threshold_taxes,
    "refunded_years": refunded_years,
    "following_wages": following_wages,
    "latest_to_date": latest_to_date,
    "direct_deposits": direct_deposits,
    "debits": debits,
    "deposits_paid": deposits_paid,
    "arrivals": arrivals,
    "refunds": refunds,
    "settlements_noted": settlements_noted,
    "open_money": open_money,
    "escrow_balances": escrow_balances,
    "escrow_history": escrow_history,
    "escrow_deposits": escrow_deposits,
    "escrow_payouts": escrow_payouts,
    "histories": histories,
    "overdue": overdue,
    "handed_over": handed_over,
    "household_clocks": household_clocks,
    "idempotency": idempotency,
    "drafts": drafts,
    "filings": filings,
    "duties_marked": duties_marked,
    "policies_entered": policies_entered,
    "tax_payments_known": tax_payments_known,
    "tax_payments_reversed": tax_payments_reversed,
    "tax_payments_noted": tax_payments_noted,
    "filings_kept": filings_kept,
    "feed_links": feed_links,
    "household_words": household_words,
    "metadata_entries": metadata_entries,
    "autopilot_periods": autopilot_periods,
    "autopilot_schedules": autopilot_schedules,
    "autopilot_payrolls": autopilot_payrolls,
    "autopilot_by_hand": autopilot_by_hand,
    "autopilot_history": autopilot_history,
    "autopilot_gaps": autopilot_gaps,
    "autopilot_standing": autopilot_standing,
    "autopilot_told": autopilot_told,
    "autopilot_overdue": autopilot_overdue,
    "periods": periods,
    "accounts": accounts,
    "paycheck_digests": paycheck_digests,
    "audit_chain": audit_chain,
    "traces": traces,
    "agents_runs": agents_runs,
    "document_versions": document_versions,
    "packages_made": packages_made,
    "papers_signed": papers_signed,
    "owners": owners,
    "ways_in": ways_in,
    "certificates": certificates,
    "pay_changed": pay_changed,
    "waiting_accounts": waiting_accounts,
    "linked_people": linked_people,
    "member_rights": member_rights,
    "key_rights": key_rights,
    "agent_rights": agent_rights,
    "linked_rights": linked_rights,
    "audit_begins": audit_begins,
    "account_history": account_history,
    "account_ways_in": account_ways_in,
    "account_sessions": account_sessions,
    "operator_rights": operator_rights,
    "authorizations_given": authorizations_given,
    "standing_given": standing_given,
    "debits_authorized": debits_authorized,
    "autopilot_terms": autopilot_terms,
    "autopilot_skips": autopilot_skips,
    "autopilot_events_kept": autopilot_events_kept,
    "attempts_ahead": attempts_ahead,
    "documents_issued": documents_issued,
    "mails_kept": mails_kept,
    "alerts_left": alerts_left,
    "records_kept": records_kept,
    "record_history": record_history,
    "records_changed": records_changed,
    "records_entered": records_entered,
    "row_digests": row_digests,
    "payrolls_made": payrolls_made,
    "pay_dates": pay_dates,
    "remedies_decided": remedies_decided,
    "prior_wages_entered": prior_wages_entered,
    "payouts_recorded": payouts_recorded,
    "set_asides_requested": set_asides_requested,
    "drafts_kept": drafts_kept,
    "entries_by_households": entries_by_households,
    "account_standing": account_standing,
    "account_requests": account_requests,
    "returns_recorded": returns_recorded,
    "reversals_recorded": reversals_recorded,
    "bank_entry_steps": bank_entry_steps,
    "authorizations_revoked": authorizations_revoked,
}
"""Every law by its id, in the order in which they are proved. An id is what reports, alerts and scripts know: it stays
when its function is renamed or its docstring is reworded."""

CHECKS: Final[tuple[Check, ...]] = tuple(CHECKS_BY_ID.values())
"""Every law, in that order."""
