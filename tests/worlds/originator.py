"""The bank that the tests hand their files to, and the company in whose name they do."""

from hearthpay.banking.originator import Originator

ORIGINATOR = Originator(
    destination="121042882",
    destination_name="Test Bank",
    origin="1123456789",
    origin_name="Hearthpay Test",
    company_name="Hearthpay Test",
    company_id="1123456789",
    odfi="12104288",
)
