"""What an agent should do next after a refusal: one or two sentences for every code, written for models.

No advice bypasses a safeguard, and none names a page to sign up or to pay on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ASK: Final = "Tell the person, and let them decide."

NEXT_STEPS: Final[Mapping[str, str]] = {
    "validation_error": "Correct the fields that are named and call again; ask the person for what you do not know.",
    "invalid_state": f"What was asked for does not fit how things stand. Do not try variations. {ASK}",
    "unsupported_tax_year": "This installation has no rules for that year. Use a year that the message names.",
    "unsupported_jurisdiction": "This installation has no rules for that place. Say so; do not use another state.",
    "tax_year_not_final": (
        "A figure that this payroll needs isn't published yet, and nothing can stand in for it: `details` names the "
        "lines and agencies. Tell the person; it can run once the figure is published. Don't change dates to get "
        "around this."
    ),
    "pay_date_past_deadline": (
        "The bank needs more time. Tell the person the next valid pay date, and call again with it only once they "
        "agree; or ask whether to pay by check or cash instead."
    ),
    "confirmation_required": (
        "Show the person the amounts, and ask for exactly what `required` names. Only after a clear yes call again "
        "with those flags; never set one unasked."
    ),
    "duplicate_employee": "Name each employee once.",
    "too_many_employees": f"The account's plan does not allow so many employees. {ASK}",
    "employee_not_in_household": (
        "Look the ids up with list_households_and_employees, and ask the person whom they mean."
    ),
    "employee_not_started": "The employment begins after this period. Ask the person which period they mean.",
    "employee_incomplete": (
        "Something about the employee is missing, as `details.missing` tells. Ask the person to complete it first."
    ),
    "document_not_available": "Tell the person what `details` says is missing; nothing here can supply it.",
    "authentication_required": (
        "Nobody is signed in. Ask the person to check the API key in this server's settings, or to connect again."
    ),
    "plan_limit_reached": f"The account's plan allows no more. {ASK}",
    "subscription_required": f"The account's plan does not include this. {ASK} Do not try another way.",
    "scope_required": (
        "You were not given the right to do this. Tell the person which right is missing, and go on without it."
    ),
    "household_forbidden": (
        "This household is not within your reach. Use an employer_id of list_households_and_employees."
    ),
    "key_mode_mismatch": (
        "Test keys reach sandbox households, live keys real ones. Ask the person which they mean; never switch by "
        "yourself."
    ),
    "autopilot_enroll_in_app": "Only a person can enroll an employee, in the app. Say so.",
    "not_found": "There is nothing of that id within your reach. Look it up again instead of guessing.",
    "method_not_allowed": "This cannot be done here. Tell the person.",
    "clock_advancing": (
        "The test clock of this sandbox household is on its way to another time, and nothing can be changed until it "
        "has arrived. Nothing was done. Wait some seconds and send the same request again."
    ),
    "autopilot_run_scheduled": (
        "Autopilot has already scheduled pay for this period, so running it too would pay twice. Do not change dates "
        "or hours to get around this, and do not retry. Tell the person: they can leave it to Autopilot, or have you "
        "skip that period with manage_autopilot and then run it."
    ),
    "period_ahead_of_anchor": (
        "Autopilot pays this employee, and this period lies beyond its next run. Do not change dates to get around "
        "this. Tell the person: Autopilot will pay it in its turn, unless they end or pause it first."
    ),
    "payroll_overlap": (
        "Hours of these days are paid already, by the payroll in `details.payroll_id`. Do not move the period to get "
        "around this. Show the person that payroll with get_payroll and ask what they meant; a bonus without hours "
        "may stand beside it."
    ),
    "idempotency_conflict": (
        "This idempotency_key was used for another request. If you meant to repeat that one, send exactly the same "
        "arguments again. If this is a new payroll that the person has agreed to, use a new key."
    ),
    "amounts_changed": (
        "The payroll is not what the person saw, and nothing was run. Do not simply drop the preview_token. Preview "
        "again, show the person what is different, and run with the new token once they agree. If there is a "
        "`details.payroll_id`, this preview was already run as that payroll: show it with get_payroll, and pay again "
        "only if the person wants a second payroll."
    ),
    "gone": "This exists no more; the message tells what took its place.",
    "invitation_too_soon": "Wait until `details.retry_at`, and tell the person.",
    "direct_deposit_unavailable": (
        "Direct deposit is not set up, as `details` says. Ask the person whether to pay by check or cash instead; do "
        "not choose for them."
    ),
    "rate_limited": "Wait as long as `details.retry_after` says (seconds) before calling again.",
    "internal_error": (
        "Something failed on the server. Nothing was changed unless a payroll is found: look with get_payroll, or "
        "repeat the call with the same idempotency_key, which never pays twice."
    ),
    "service_unavailable": (
        "The service could not answer now. Try again in a few seconds; a run is safe to repeat with the same "
        "idempotency_key and arguments."
    ),
    "key_missing": "Ask the person to put an API key into this server's settings and to restart it.",
    "address_wrong": "Ask the person to correct the address in this server's settings; nothing was sent or changed.",
    "unreachable": (
        "No answer came. Ask the person whether the service runs. A call that changes something may have been carried "
        "out all the same: repeat it with the same idempotency_key and arguments, which never does it twice."
    ),
    "not_an_envelope": "Something else answers at that address. Ask the person to check it in this server's settings.",
    "unknown_tool": "Use a tool that tools/list names.",
}
"""By code: those of the API, and the few that occur before it is reached."""

_OTHERWISE: Final = f"Do not retry. {ASK}"


def next_step(code: str) -> str:
    """Return what to do next after a refusal with this code."""
    return NEXT_STEPS.get(code, _OTHERWISE)
