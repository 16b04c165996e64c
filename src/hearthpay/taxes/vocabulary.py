"""The words of the engine that travel beyond it: closed sets of values that requests and answers are described with.

They stay interpreted: of an alias, a compiled module keeps no more than that it is a type.
"""

from typing import Literal

Confidence = Literal["high", "medium", "low"]
"""How well a figure of law is known."""

FilingStatus = Literal["single", "married", "head_of_household"]
"""The filing status of Form W-4 since 2020."""

FinalityStatus = Literal["final", "carried", "provisional", "unknown"]
"""How far a line's figures are known for a year."""

LocalHouseholdRule = Literal["required", "voluntary", "follows_state"]
"""Whether a household must withhold or pay a local tax. ``follows_state``: where the state's tax is withheld.
``voluntary``: the employee owes it, the household withholds it only because the locality was chosen."""

Payer = Literal["employee", "employer"]
"""Whose money a line of a paycheck is."""

ThresholdStatus = Literal["below", "approaching", "above"]
"""How wages stand against a threshold."""
