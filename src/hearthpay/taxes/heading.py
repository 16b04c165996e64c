"""What a paycheck's line says about its tax before any amount is known."""

from typing import NamedTuple

from hearthpay.taxes.vocabulary import Payer


class Heading(NamedTuple):
    """The first columns of a `PaycheckLine`; made once for each tax of a rulebook."""

    code: str
    name: str
    payer: Payer
    agency: str
    category: str
