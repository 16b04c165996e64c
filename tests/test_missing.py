"""What `python -m tests.missing` prints of the report of pytest."""

from tests.missing import findings

REPORT = """
=================================== FAILURES ===================================
_________________________ test_every_endpoint_has_a_row ________________________
tests/endpoints/test_rows.py:30: in test_every_endpoint_has_a_row
    assert not missing, (
E   AssertionError: no row for listThings: add one each to ENDPOINTS
E   assert not ['listThings']
__________________________ test_every_table_has_one_owner ______________________
tests/database/test_table_owners.py:135: in test_every_table_has_one_owner
    assert not tables - set(owned)
E   AssertionError: add the new table to OWNERS
=========================== short test summary info ============================
"""


def test_each_finding_says_what_is_new_and_what_it_lacks() -> None:
    assert findings(REPORT.splitlines()) == [
        "endpoint: test_every_endpoint_has_a_row: AssertionError: no row for listThings: add one each to ENDPOINTS",
        "endpoint: test_every_endpoint_has_a_row: assert not ['listThings']",
        "table: test_every_table_has_one_owner: AssertionError: add the new table to OWNERS",
    ]


def test_a_report_without_failures_misses_nothing() -> None:
    assert findings(["... 3 passed in 1s"]) == []
