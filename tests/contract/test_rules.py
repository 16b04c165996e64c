"""What the API tells of a year's law before all of its figures are published."""

from typing import Any

from tests.http.api import Account, data, refusal
from tests.worlds.households import add_employee, add_household, payroll_of


async def test_rules_tell_of_each_line_how_far_it_is_known(account: Account) -> None:
    """`GET /rules?state&year`: every line of a state is final, carried, provisional or unknown; any key may ask."""
    california = data(await account.live.get("/rules", state="ca", year=2027))
    lines: dict[str, Any] = {line["code"]: line for line in california["lines"]}
    assert california["version"].startswith("2027")
    assert {line["jurisdiction"] for line in lines.values()} == {"CA"}
    assert (lines["CA-SDI-EE"]["finality"], lines["CA-SDI-EE"]["figures"]) == ("provisional", ["rate"])
    assert lines["CA-SDI-EE"]["awaited"] == "2026-12"
    assert (lines["CA-SUI-ER"]["finality"], lines["CA-SUI-ER"]["awaited"]) == ("carried", None)
    assert lines["CA-SUI-ER"]["basis"]
    assert all(line["sources"] and line["confidence"] for line in lines.values())
    federal = data(await account.live.get("/rules", state="US", year=2027))
    assert {line["code"]: line["finality"] for line in federal["lines"]}["US-SS-EE"] == "final"


async def test_rules_without_a_state_count_lines_and_list_what_is_awaited(account: Account) -> None:
    """Without `state`, `jurisdictions` counts lines by finality for all 51 and the US; `lines` are those awaited."""
    everywhere = data(await account.live.get("/rules", year=2027))
    assert len(everywhere["jurisdictions"]) == 52
    assert sum(each["unknown"] for each in everywhere["jurisdictions"]) == 0
    assert everywhere["lines"]
    assert all(line["awaited"] for line in everywhere["lines"])
    complete = data(await account.live.get("/rules", year=2026))
    assert complete["lines"] == []
    assert data(await account.live.get("/rules"))["tax_year"] == 2026
    for year in (2024, 2028):
        refusal(await account.live.get("/rules", year=year), 400, "unsupported_tax_year")
    refusal(await account.live.get("/rules", state="ZZ"), 400, "validation_error")


async def test_a_jurisdiction_tells_how_far_its_taxes_are_known(account: Account) -> None:
    """Each tax of `GET /jurisdictions/{state}` carries `finality`, `basis` and `awaited`."""
    for tax in data(await account.live.get("/jurisdictions/NY"))["taxes"]:
        assert (tax["finality"], tax["basis"], tax["awaited"]) == ("final", "", None)


async def test_a_payroll_under_provisional_figures_is_paid_and_names_their_lines(account: Account) -> None:
    """`provisional` names the lines by stand-in figures, in preview and run alike; in a complete year it is absent."""
    employer = await add_household(account.live)
    rosa = await add_employee(account.live, employer)
    dates = {"pay_period_start": "2026-12-28", "pay_period_end": "2027-01-03", "pay_date": "2027-01-05"}
    body = payroll_of(employer, rosa, **dates)
    previewed = data(await account.live.post("/payroll/preview", body))["provisional"]
    assert {"US-FIT", "CA-SIT", "CA-SDI-EE"} <= set(previewed)
    assert data(await account.live.post("/payroll/run", body))["provisional"] == previewed
    assert "provisional" not in data(await account.live.post("/payroll/preview", payroll_of(employer, rosa)))
