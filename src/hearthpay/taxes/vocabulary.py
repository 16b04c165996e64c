"""Engine types used outside the engine: closed sets of values that describe requests and responses.

They stay interpreted: a compiled module keeps no more of an alias than that it is a type.
"""

from typing import Literal

Confidence = Literal["high", "medium", "low"]
"""How certain a figure of law is."""

FilingStatus = Literal["single", "married", "head_of_household"]
"""The filing status of Form W-4 since 2020."""

FinalityStatus = Literal["final", "carried", "provisional", "unknown"]
"""How final a line's figures are for a year."""

LocalHouseholdRule = Literal["required", "voluntary", "follows_state"]
"""Whether a household must withhold or pay a local tax. ``follows_state``: if the state's tax is withheld.
``voluntary``: the employee owes it, and the household withholds it only because the locality was chosen."""

Payer = Literal["employee", "employer"]
"""Who pays a line of a paycheck."""

ThresholdStatus = Literal["below", "approaching", "above"]
"""How wages compare with a threshold."""
