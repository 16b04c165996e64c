"""The calculator and the threshold check: what a year's wages would cost, without a payroll."""
