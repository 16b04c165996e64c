"""What a key may be given the right to do: its scopes."""

from typing import Final, Literal, get_args

Scope = Literal[
    "calculator", "payroll", "employees", "documents", "state_registrations", "multi_employer", "ach"
]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
