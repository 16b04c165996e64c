"""The household signs a work agreement on its page, as it was issued there."""

from __future__ import annotations

import re
from html import unescape

from tests.web.one_household import maria, world
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages_by_role import app, people, people_context

__all__ = ["app", "maria", "people", "people_context", "world"]


async def test_what_was_issued_is_signed_once(world: World, maria: Browser) -> None:
    papers = f"/app/{world.household_id}/employees/{world.employee_id}/papers"
    assert "Sign on these pages" not in (await maria.look(papers)).text
    issued = await maria.send(f"{papers}/agreement", page=papers, language="en")
    assert issued.headers["content-type"] == "application/pdf"
    page = (await maria.look(papers)).text
    assert "Household: not signed yet." in page
    document = re.search(r'name="document" value="([0-9a-f-]{36})"', page)
    assert document is not None
    sign = f"{papers}/agreement/sign"
    refused = await maria.send(sign, page=papers, document=document[1], signed_name=" ")
    assert refused.status_code == 400
    assert "type your full name" in refused.text
    signed = await maria.send(sign, page=papers, document=document[1], signed_name="Maria Lopez")
    assert signed.status_code == 303, signed.text
    page = unescape((await maria.look(papers)).text)
    assert "Household: signed by Maria Lopez" in page
    assert "Employee: not signed yet." in page
    assert 'name="signed_name"' not in page
    unknown = await maria.send(sign, page=papers, document=str(world.household_id), signed_name="Maria Lopez")
    assert unknown.status_code == 404
