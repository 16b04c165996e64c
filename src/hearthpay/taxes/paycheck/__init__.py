"""From gross pay to net pay: the one calculation that every calculator, preview and payroll uses."""

from hearthpay.taxes.paycheck.calculation import calculate_paycheck
from hearthpay.taxes.paycheck.request import NEW_EMPLOYER, PAY_FREQUENCIES, EmployerProfile, PaycheckInput
from hearthpay.taxes.paycheck.result import Correction, LineExplanation, Paycheck, PaycheckLine
from hearthpay.taxes.paycheck.state_income_tax import is_withheld

__all__ = [
    "NEW_EMPLOYER",
    "PAY_FREQUENCIES",
    "Correction",
    "EmployerProfile",
    "LineExplanation",
    "Paycheck",
    "PaycheckInput",
    "PaycheckLine",
    "calculate_paycheck",
    "is_withheld",
]
