"""What a payroll pays, to whom and when: an order with its dates and ways of payment settled."""

from hearthpay.payroll.orders.salaries import with_salaries
from hearthpay.payroll.orders.salary_shares import SalaryShare
from hearthpay.payroll.orders.settled import (
    Payee,
    PayrollEntry,
    SettledOrder,
    payee_of,
    read_entries,
    read_payees,
)

__all__ = [
    "Payee",
    "PayrollEntry",
    "SalaryShare",
    "SettledOrder",
    "payee_of",
    "read_entries",
    "read_payees",
    "with_salaries",
]
