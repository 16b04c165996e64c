"""What a payroll pays, to whom and when: an order with its dates and ways of payment settled."""

from hearthpay.payroll.orders.settled import (
    Entry,
    Payee,
    SettledOrder,
    is_catch_up,
    is_fica_refund,
    payee_of,
    read_entries,
    read_payees,
)

__all__ = [
    "Entry",
    "Payee",
    "SettledOrder",
    "is_catch_up",
    "is_fica_refund",
    "payee_of",
    "read_entries",
    "read_payees",
]
