"""What reads like a number of the vault, and that every text which is kept is looked at."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

import hearthpay
from hearthpay.wire.fields import RequestModel
from hearthpay.wire.secrecy import PORTAL_ONLY, address_holds_a_secret, holds_a_secret, key_holds_a_secret
from tests.cases import every_case
from tests.http.api import MARIA, Account, data, fields, refusal

SECRETS = [
    "078-05-1120",
    "078.05.1120",
    "078 05 1120",
    "078–05–1120",  # en dashes
    "078‑05‑1120",  # non-breaking hyphens
    "078−05−1120",  # minus signs
    "078\u00a005\u00a01120",
    "078\u200b051120",
    "078/05/1120",
    "078_05_1120",
    "078-05 1120",
    "078 - 05 - 1120",
    "0 7 8 0 5 1 1 2 0",
    "０７８-０５-１１２０",
    "٠٧٨-٠٥-١١٢٠",
    "SSN078051120",
    "her number is 078051120.",
    "912-70-1234",  # an ITIN
    "12-3456789",
    "12–3456789",
    "routing 021000021",
    "account 1234567890123",
    "1234567890",
    "0012345678901234",
    "1234 5678 9012 3456",
    "1234-5678-9012",
]
HARMLESS = [
    "555-0100",
    "call (415) 555-0100 or 415-555-0101",
    "415.555.0100",
    "4155550100",
    "14155550100",
    "+1 415 555 0100",
    "+14155550100",
    "+442079460958",
    "2026-01-05 to 2026-01-19",
    "2026-01-05T08:30:00Z",
    "11/02/2026 - 11/15/2026",
    "bonus 150.00 2026-11-01",
    "1,250.00 and 2,400.50 and 99.95",
    "40.5 hours at 28.50, 2.5 at 42.75",
    "12345",
    "Flat 12-3",
    "ZIP 94110-1234",
    "019a9e2c-6b6e-7c31-9d0e-123456789012",
    "000-00-0000",
    "catch-up",
]
GOOD_KEYS = [
    "019a9e2c-6b6e-7c31-9d0e-4f6a2b8c1d5e",
    "12345678-1234-4567-8901-123456789012",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "01234567890123456789012345",
    "1763737200",
    "1763737200123",
    "20261120150000",
    "2026-11-20T15:00:00.000Z",
    "payroll-2026-11-20-001",
    "order-100000123",
    "100000123",
    "12-3456789",
    "a" * 255,
]
BAD_KEYS = ["123-45-6789", "ssn:123-45-6789", "run_123_45_6789", "123 45 6789", "order-123.45.6789-2"]


def test_secrets_are_seen() -> None:
    with every_case() as case:
        for text in SECRETS:
            with case(text):
                assert holds_a_secret(text)
                assert holds_a_secret(f"Please note: {text}, thanks")


def test_harmless_texts_pass() -> None:
    with every_case() as case:
        for text in HARMLESS:
            with case(text):
                assert not holds_a_secret(text)


def test_keys_that_clients_use_pass() -> None:
    with every_case() as case:
        for key in GOOD_KEYS:
            with case(key):
                assert not key_holds_a_secret(key)


@pytest.mark.parametrize("key", BAD_KEYS)
async def test_a_key_with_a_social_security_number_is_refused(
    account: Account, counts: Any, key: str
) -> None:
    before = counts()
    error = refusal(
        await account.live.post("/employers", MARIA, idempotency_key=key), 400, "validation_error"
    )
    assert fields(error) == ["Idempotency-Key"]
    assert PORTAL_ONLY in error["message"]
    assert counts() == before


def test_addresses() -> None:
    for address in ("078-05-1120@example.com", "rosa.078-05-1120@example.com"):
        assert address_holds_a_secret(address)
    for address in (
        "rosa@example.com",
        "rosa.1985@example.com",
        "4155550100@example.com",
        "rosa.078051120@example.com",
    ):
        assert not address_holds_a_secret(address)


def request_models() -> Iterator[type[RequestModel]]:
    """Every request model of the service."""
    for module in pkgutil.walk_packages(hearthpay.__path__, "hearthpay."):
        if not module.name.endswith("__main__") and ".migrations." not in module.name:
            importlib.import_module(module.name)
    pending = [RequestModel]
    while pending:
        found = pending.pop().__subclasses__()
        yield from found
        pending += found


def texts_taken(model: type[BaseModel]) -> list[str]:
    """The fields of a model that take a text, but for a few words; models stand for themselves."""
    taken = []
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            continue
        adapter = TypeAdapter(info.rebuild_annotation(), config={"strict": True})
        for text in ("plain", "rosa@example.com"):
            try:
                adapter.validate_python(text)
            except ValidationError:
                continue
            taken.append(name)
            break
    return taken


KEPT_NOWHERE = {"preview_token"}
"""What is compared with what we have made ourselves, and then forgotten."""

NUMBERS_OF_AGENCIES = {"confirmation"}
"""What agencies give as digits alone, such as the fifteen of IRS Direct Pay."""


def test_every_text_of_every_request_is_guarded() -> None:
    seen = set()
    for model in request_models():
        for name in texts_taken(model):
            if name in KEPT_NOWHERE:
                continue
            seen.add(name)
            adapter = TypeAdapter(model.model_fields[name].rebuild_annotation(), config={"strict": True})
            secrets = ["078.05.1120", "078–05–1120", "078-05-1120@example.com"]
            for secret in [*secrets, "1234567890123"] if name not in NUMBERS_OF_AGENCIES else secrets:
                with pytest.raises(ValidationError):
                    adapter.validate_python(secret)
    assert {"first_name", "last_name", "email", "city", "locality", "notes", "reason"} <= seen


async def test_a_certificate_is_guarded_too(account: Account) -> None:
    data(await account.live.post("/employers", MARIA), 201)
    body = {
        "first_name": "Rosa",
        "last_name": "Diaz",
        "pay_rate": 28.5,
        "start_date": "2026-01-05",
        "state_withholding": {"filing_status": "078.05.1120"},
    }
    error = refusal(await account.live.post("/employees", body), 400, "validation_error")
    assert PORTAL_ONLY in error["message"]
