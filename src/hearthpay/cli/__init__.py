"""The command line: calculators that need nothing, the server, and the operator's commands."""

from hearthpay.cli.main import app, main

__all__ = ["app", "main"]
