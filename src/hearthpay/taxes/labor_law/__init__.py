"""Labor law on hourly pay: minimum wages and overtime of household work. It warns and never refuses."""

from hearthpay.taxes.labor_law.check import HoursWorked, LaborWarning, labor_warnings, salary_overtime
from hearthpay.taxes.labor_law.overtime import salary_law

__all__ = ["HoursWorked", "LaborWarning", "labor_warnings", "salary_law", "salary_overtime"]
