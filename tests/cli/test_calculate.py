"""`hearthpay calculate` and `hearthpay paycheck`: no server, no database, exact JSON."""

import json
import subprocess
import sys
from decimal import Decimal

import pytest

from tests.database.household import NOW
from tests.worlds.commands import hearthpay

PAYCHECK = {
    "pay_date": "2026-09-15",
    "pay_frequency": "weekly",
    "regular_wages": 1080,
    "work_state": "CA",
    "state": {"filing_status": "single", "regular_allowances": 1},
}


def exact(output: bytes):
    return json.loads(output, parse_float=Decimal)


def test_calculate_prints_the_data_of_the_api():
    result = hearthpay("calculate", "--state", "ca", "--annual-wages", "35000", "--json", at=NOW)
    assert result.returncode == 0, result.stderr
    data = exact(result.stdout)
    assert data["state"] == "CA"
    assert data["employer_taxes"]["social_security"] == Decimal("2170.00")
    assert data["employer_taxes"]["medicare"] == Decimal("507.50")
    assert data["employer_taxes"]["futa"] == Decimal("42.00")
    assert data["employer_taxes"]["total"] == sum(
        line["annual_amount"] for line in data["lines"] if line["payer"] == "employer"
    )
    assert data["per_paycheck"]["periods_per_year"] == 26
    assert set(data) == {
        "tax_year",
        "state",
        "state_name",
        "annual_wages",
        "pay_frequency",
        "filing_status",
        "employer_taxes",
        "employee_taxes_estimate",
        "per_paycheck",
        "threshold",
        "lines",
        "limitations",
        "limitation_codes",
        "rulebook",
    }


def test_calculate_prints_a_table_for_people():
    result = hearthpay(
        "calculate", "--state", "NY", "--annual-wages", "45,000", "--pay-frequency", "weekly", at=NOW
    )
    assert result.returncode == 0
    assert "New York" in result.stdout.decode()
    assert "2,790.00" in result.stdout.decode()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--state", "ZZ", "--annual-wages", "1"], "state"),
        (["--state", "CA", "--annual-wages", "-1"], "annual_wages"),
        (["--state", "CA", "--annual-wages", "NaN"], "annual_wages"),
        (["--state", "CA", "--annual-wages", "much"], "annual_wages"),
        (["--state", "CA", "--annual-wages", "1000000"], "annual_wages"),
        (["--state", "CA", "--annual-wages", "1", "--pay-frequency", "daily"], "pay_frequency"),
        (["--state", "CA", "--annual-wages", "1", "--filing-status", "widow"], "filing_status"),
    ],
)
def test_calculate_names_the_field_it_refuses(arguments, field):
    result = hearthpay("calculate", *arguments, "--json", at=NOW)
    assert result.returncode == 2
    assert exact(result.stdout)["error"]["field"] == field
    plain = hearthpay("calculate", *arguments, at=NOW)
    assert plain.returncode == 2
    assert field.encode() in plain.stderr


def test_paycheck_prints_the_result_of_the_contract():
    result = hearthpay("paycheck", stdin=json.dumps(PAYCHECK).encode())
    assert result.returncode == 0, result.stderr
    data = exact(result.stdout)
    lines = {line["code"]: line for line in data["lines"]}
    assert lines["CA-SIT"]["amount"] == Decimal("29.79")
    assert lines["US-FIT"]["amount"] == Decimal("87.68")
    assert set(lines["US-SS-EE"]) == {
        "code",
        "name",
        "payer",
        "agency",
        "subject_wages",
        "taxable_wages",
        "rate",
        "amount",
    }
    assert data["net_pay"] == data["gross_pay"] - data["employee_taxes"]
    assert data["total_cost"] == data["gross_pay"] + data["employer_taxes"]
    assert data["rulebook"]["tax_year"] == 2026


def test_paycheck_tells_what_it_took_for_granted():
    indiana = {
        **PAYCHECK,
        "work_state": "IN",
        "state": {},
        "pay_frequency": "monthly",
        "period_start": "2026-09-07",
        "period_end": "2026-09-13",
    }
    result = hearthpay("paycheck", stdin=json.dumps(indiana).encode())
    assert result.returncode == 0, result.stderr
    limitations = exact(result.stdout)["limitations"]
    assert any("No county was chosen" in text for text in limitations)
    assert any("has 7 days, less than a month" in text for text in limitations)
    codes = exact(result.stdout)["limitation_codes"]
    assert [each["code"] for each in codes] == ["county_not_chosen", "period_shorter_than_frequency"]
    assert codes[0]["params"]["id"] == "indiana_no_county"
    assert codes[1]["params"]["days"] == 7

    settled = {**indiana, "localities": ["MARION-COUNTY"], "pay_frequency": "weekly"}
    result = hearthpay("paycheck", stdin=json.dumps(settled).encode())
    assert not any("chosen" in text or "days" in text for text in exact(result.stdout)["limitations"])


def test_paycheck_refuses_a_period_that_is_none_of_its_frequency():
    ten_months = {**PAYCHECK, "period_start": "2026-01-01", "period_end": "2026-10-31"}
    result = hearthpay("paycheck", stdin=json.dumps(ten_months).encode())
    assert result.returncode != 0
    assert exact(result.stdout)["error"]["field"] == "period_end"


def test_paycheck_reads_a_file(tmp_path):
    path = tmp_path / "paycheck.json"
    path.write_text(json.dumps(PAYCHECK))
    assert (
        hearthpay("paycheck", str(path)).stdout == hearthpay("paycheck", "-", stdin=path.read_bytes()).stdout
    )
    missing = hearthpay("paycheck", str(tmp_path / "none.json"))
    assert missing.returncode == 2


def test_explain_gives_steps_and_sources_for_each_line():
    data = exact(hearthpay("paycheck", "--explain", stdin=json.dumps(PAYCHECK).encode()).stdout)
    assert [entry["code"] for entry in data["explanations"]] == [line["code"] for line in data["lines"]]
    for entry in data["explanations"]:
        assert entry["steps"]
        assert all(source["title"] and source["date"] for source in entry["sources"])


def test_jsonl_goes_on_after_a_bad_line():
    documents = [
        json.dumps(PAYCHECK).encode(),
        json.dumps(PAYCHECK | {"regular_wages": -5}).encode(),
        b'{"pay_date": "2026-02-30"}',
        b"not json",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"regular_wages": NaN}',
        b'{"regular_wages": 1' + b"0" * 5000 + b"}",
        json.dumps(PAYCHECK | {"surprise": 1}).encode(),
        b"",
        json.dumps(PAYCHECK).encode(),
    ]
    result = hearthpay("paycheck", "--jsonl", stdin=b"\n".join(documents) + b"\n")
    assert result.returncode == 0
    answers = [exact(line) for line in result.stdout.splitlines()]
    assert len(answers) == 10
    assert answers[0] == answers[-1]
    assert answers[0]["gross_pay"] == 1080
    fields = [answer["error"]["field"] for answer in answers[1:-1]]
    assert fields == ["regular_wages", "pay_date", "body", "body", "body", "body", "body", "surprise"]
    for answer in answers[1:-1]:
        assert set(answer["error"]) == {"code", "field", "message"}


def test_a_bad_paycheck_exits_with_an_error():
    result = hearthpay("paycheck", stdin=b'{"pay_date": "2026-09-15"}')
    assert result.returncode == 2
    assert exact(result.stdout)["error"]["field"] == "pay_frequency"


def test_calculators_import_no_web_framework_no_database_and_no_event_loop():
    script = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from hearthpay.cli import app\n"
        "CliRunner().invoke(app, ['calculate', '--state', 'CA', '--annual-wages', '35000', '--json'])\n"
        "heavy = {'asyncio', 'fastapi', 'starlette', 'uvicorn', 'sqlalchemy', 'psycopg', 'httpx', 'alembic'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert result.stdout.strip() == b"[]"
