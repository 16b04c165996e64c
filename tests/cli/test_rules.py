"""``hearthpay rules`` shows how far a year's law is known."""

import json
import os

from hearthpay.database.embedded import EmbeddedServer
from tests.worlds.commands import hearthpay


def test_it_counts_by_state_and_lists_what_is_awaited():
    shown = hearthpay("rules", "--year", "2027").stdout.decode()
    assert "Awaited 2026-12" in shown
    assert "edition 2027" in shown


def test_a_state_is_shown_line_by_line_and_as_json():
    assert "provisional" in hearthpay("rules", "--state", "ca", "--year", "2027").stdout.decode()
    listed = json.loads(hearthpay("rules", "--state", "US", "--year", "2027", "--json").stdout)
    finality = {line["code"]: line["finality"] for line in listed["lines"]}
    assert finality["US-FIT"] == "provisional"
    assert finality["US-SS-EE"] == "final"


def test_a_year_without_rules_is_refused():
    refused = hearthpay("rules", "--year", "2031")
    assert (refused.returncode, b"2031" in refused.stderr) == (2, True)


def test_the_impact_of_the_rules_is_asked_of_a_database(server: EmbeddedServer, empty_tables: None):
    environment = {**os.environ, "DATABASE_URL": server.owner_url()}
    told = hearthpay("rules", "impact", "--year", "2027", environment=environment)
    assert (told.returncode, told.stderr) == (0, b"")
    assert b"0 paychecks by earlier rules would change, 0 would not." in told.stdout
    refused = hearthpay("rules", "impact", "--year", "2031", environment=environment)
    assert (refused.returncode, b"2031" in refused.stderr) == (2, True)
