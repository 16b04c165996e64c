"""Local taxes on pay, chosen for each employee by locality: city and county taxes, service fees, head taxes."""

from hearthpay.taxes.local.choice import LocalTaxes
from hearthpay.taxes.local.methods import MonthlyFee
from hearthpay.taxes.local.places import CertificatePlace, NotOwed, Unchosen
from hearthpay.taxes.local.rule_file import read_local_tax, read_local_taxes
from hearthpay.taxes.local.tax import LocalPay, LocalTax, is_first_payday
from hearthpay.taxes.vocabulary import LocalHouseholdRule

__all__ = [
    "CertificatePlace",
    "LocalHouseholdRule",
    "LocalPay",
    "LocalTax",
    "LocalTaxes",
    "MonthlyFee",
    "NotOwed",
    "Unchosen",
    "is_first_payday",
    "read_local_tax",
    "read_local_taxes",
]
