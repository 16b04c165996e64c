"""`python -m hearthpay.cli`."""

from hearthpay.cli.main import main

main()
