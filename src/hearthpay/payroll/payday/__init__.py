"""Payday: fires scheduled payrolls, sends the bank's files and processes their outcomes."""
