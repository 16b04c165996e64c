"""Hearthpay: payroll and taxes for US household employers, open and self-hostable."""

__version__ = "0.1.0"
