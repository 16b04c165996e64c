"""What a payroll pays, to whom and when: an order with its dates and payment methods settled."""

from hearthpay.payroll.orders.employees import find_employees, find_household, refuse_unpayable
from hearthpay.payroll.orders.salaries import with_salaries
from hearthpay.payroll.orders.salary_shares import SalaryShare
from hearthpay.payroll.orders.settled import (
    Payee,
    PayrollEntry,
    SettledOrder,
    payee_of,
    read_entries,
    read_payees,
    settle_order,
    way_of,
)

__all__ = [
    "Payee",
    "PayrollEntry",
    "SalaryShare",
    "SettledOrder",
    "find_employees",
    "find_household",
    "payee_of",
    "read_entries",
    "read_payees",
    "refuse_unpayable",
    "settle_order",
    "way_of",
    "with_salaries",
]
