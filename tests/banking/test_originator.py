"""The settings of the bank: read strictly, and every mistake named with its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from hearthpay.banking.originator import BankSettings, BankSettingsError, load_bank
from tests.worlds.originator import ORIGINATOR

SETTINGS = """
[bank]
name = "Test Bank"
routing_number = "121042882"
url = "folder:///var/lib/hearthpay/bank"

[originator]
name = "Hearthpay Test"
immediate_origin = "1123456789"
company_name = "Hearthpay Test"
company_id = "1123456789"
"""


def load(tmp_path: Path, text: str) -> BankSettings | None:
    path = tmp_path / "bank.toml"
    path.write_text(text, "utf-8")
    return load_bank({"HEARTHPAY_BANK": str(path)})


def test_the_settings_are_read(tmp_path: Path) -> None:
    assert load(tmp_path, SETTINGS) == BankSettings(ORIGINATOR, "folder:///var/lib/hearthpay/bank")


def test_without_the_variable_there_is_no_bank() -> None:
    assert load_bank({}) is None
    assert load_bank({"HEARTHPAY_BANK": ""}) is None


def test_the_example_of_the_documentation_is_valid(tmp_path: Path) -> None:
    page = Path("docs/how-to/connect-a-bank.md").read_text("utf-8")
    example = page.partition("```toml\n")[2].partition("```")[0]
    assert load(tmp_path, example) is not None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (('name = "Test Bank"\n', ""), "name"),
        (('"121042882"', '"121042883"'), "bank.routing_number"),
        (('"121042882"', "121042882"), "routing_number"),
        (('"1123456789"\ncompany_name', '"12-3456789"\ncompany_name'), "originator.immediate_origin"),
        (('company_id = "1123456789"', 'company_id = "not an id"'), "originator.company_id"),
        (('company_name = "Hearthpay Test"', 'company_name = "…"'), "originator.company_name"),
        (("[originator]", 'odfi = "1234"\n[originator]'), "bank.odfi"),
        (("[originator]", 'password = "secret"\n[originator]'), "password"),
        (("[bank]", "[bank"), "bank.toml"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, change: tuple[str, str], named: str) -> None:
    assert change[0] in SETTINGS
    with pytest.raises(BankSettingsError, match="HEARTHPAY_BANK") as refused:
        load(tmp_path, SETTINGS.replace(*change, 1))
    assert named in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BankSettingsError, match=r"missing\.toml"):
        load_bank({"HEARTHPAY_BANK": str(tmp_path / "missing.toml")})
