"""Where the parts of an address stand in the records of the wage file."""

import pytest

from hearthpay.documents.efw2.records.address import address_fields
from hearthpay.employers.commands import PostalAddress


@pytest.mark.parametrize(
    ("line1", "line2", "delivery", "location"),
    [
        ("1250 Elm Street, Apt 4B", None, "1250 ELM STREET", "APT 4B"),
        ("1250 Elm Street #4B North", None, "1250 ELM STREET", "#4B NORTH"),
        ("12 Oak Ave, Unit 3", None, "12 OAK AVE, UNIT 3", ""),
        ("1250 Elm Street, Apt 4B", "Rear house", "1250 ELM STREET, APT 4B", "REAR HOUSE"),
        ("99999 Martin Luther King Boulevard", None, "99999 MARTIN LUTHER KING BOULEVARD", ""),
    ],
)
def test_part_of_a_building_goes_to_the_location_address(line1, line2, delivery, location) -> None:
    fields = address_fields(PostalAddress(line1=line1, line2=line2, city="Austin", state="TX", zip="78701"))
    read = {name: str(fields[name]).upper().replace(",", "").replace("#", "") for name in fields}
    assert (read["delivery_address"], read["location_address"]) == (
        delivery.replace(",", "").replace("#", ""),
        location.replace("#", ""),
    )
