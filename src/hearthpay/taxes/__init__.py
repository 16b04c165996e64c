"""The tax engine: US household payroll law as sourced data, and the arithmetic on it, exact to the cent.

Pure: no I/O beyond its own rule files, no framework, no state. Money is `decimal.Decimal`.

>>> from datetime import date
>>> from decimal import Decimal
>>> from hearthpay.taxes import PaycheckInput, calculate_paycheck
>>> paycheck = calculate_paycheck(PaycheckInput(
...     pay_date=date(2026, 6, 5), pay_frequency="weekly", regular_wages=Decimal("1000"), work_state="TX"))
>>> paycheck.net_pay
Decimal('845.42')
"""

# ruff: noqa: E402  # The modules below may come from a compiled build; an outdated one must not calculate.
from hearthpay.taxes.compiled import is_compiled

COMPILED = is_compiled()
"""Whether the engine runs compiled (``make compile``)."""

from hearthpay.taxes.calculator import AnnualEstimate, estimate_year
from hearthpay.taxes.certificates import FederalCertificate, Pre2020Certificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.gross_up import gross_up
from hearthpay.taxes.paycheck import (
    EmployerProfile,
    Paycheck,
    PaycheckInput,
    PaycheckLine,
    calculate_paycheck,
)
from hearthpay.taxes.rulebook import Rulebook, rulebook_for
from hearthpay.taxes.thresholds import ThresholdCheck, check_thresholds
from hearthpay.taxes.year import YearSoFar

__all__ = [
    "AnnualEstimate",
    "EmployerProfile",
    "FederalCertificate",
    "Paycheck",
    "PaycheckInput",
    "PaycheckLine",
    "Pre2020Certificate",
    "Rulebook",
    "TaxInputError",
    "ThresholdCheck",
    "YearSoFar",
    "calculate_paycheck",
    "check_thresholds",
    "estimate_year",
    "gross_up",
    "rulebook_for",
]
