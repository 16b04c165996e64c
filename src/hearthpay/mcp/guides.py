"""Prompts: how an agent does two things that people often ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Guide:
    """A prompt: its arguments by name, each with its meaning, and the text with placeholders for them."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    required: tuple[str, ...]
    text: str

    def written(self, given: Mapping[str, str]) -> str:
        """Return the text for these arguments; it asks for those that were omitted."""
        known = {name: given.get(name) or f"(ask me: {what})" for name, what in self.arguments.items()}
        return self.text.format_map(known)


GUIDES: Final[tuple[Guide, ...]] = (
    Guide(
        name="run_this_weeks_payroll",
        title="Run this week's payroll",
        description="Preview, ask, run, and say how it stands.",
        arguments={
            "employee": "who is paid, by name",
            "hours": "hours of the period, regular and overtime",
        },
        required=(),
        text=(
            "Please run payroll for {employee}, with these hours: {hours}.\n\n"
            "1. Find the ids with list_households_and_employees. If more than one person fits, ask me.\n"
            "2. Look with get_autopilot whether Autopilot pays this period already. If so, stop and tell me.\n"
            "3. Ask me for the pay period and the way of payment if you do not know them, then call preview_payroll.\n"
            "4. Show me gross pay, net pay, what it costs me, the pay date and every warning. Ask: 'Shall I run it?'\n"
            "5. Only after I say yes, call run_payroll with the preview_token and a new idempotency_key. Set a "
            "confirmation flag only if I have answered its own question.\n"
            "6. Tell me the status as it is: scheduled or pending is not paid. If it is refused, tell me what "
            "next_step says, and change nothing to get around it."
        ),
    ),
    Guide(
        name="am_i_over_the_threshold",
        title="Am I over the threshold?",
        description="What wages mean for a household's taxes, and what they would cost.",
        arguments={
            "state": "the state of work",
            "annual_wages": "this year's cash wages to one employee",
        },
        required=(),
        text=(
            "I pay someone who works in my home, in the state {state}, wages of {annual_wages} in this year.\n\n"
            "1. Call check_threshold, and tell me in plain words whether federal and state taxes apply, and from which "
            "wages on.\n"
            "2. If they do, or I come near, call calculate_nanny_taxes and tell me what the taxes come to for me and "
            "for the employee.\n"
            "3. Pass on the limitations: family members, other employees and quarters may change the answer. Say what "
            "you would have to know."
        ),
    ),
)
