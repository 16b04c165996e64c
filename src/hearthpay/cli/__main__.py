"""`python -m hearthpay.cli`."""

from hearthpay.cli import run_arguments

run_arguments()
