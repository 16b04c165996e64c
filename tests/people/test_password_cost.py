"""A stored password is as expensive to guess as the product says, whether or not there is an account."""

from argon2 import extract_parameters
from argon2.low_level import Type

from hearthpay.people import passwords
from tests.worlds.passwords import USUAL_HASHER, hashed_with

PASSWORD = "korrekt pferd batterie"


async def test_a_password_is_hashed_at_the_recommended_cost() -> None:
    """OWASP's password storage cheat sheet: argon2id with 19 MiB of memory, two passes and one lane, or more."""
    with hashed_with(USUAL_HASHER):
        kept = await passwords.hash_password(PASSWORD)
        assert await passwords.is_password(PASSWORD, kept)
        assert not await passwords.is_password(PASSWORD + "x", kept)
    cost = extract_parameters(kept)
    assert (cost.type, cost.memory_cost, cost.time_cost, cost.parallelism) == (Type.ID, 19_456, 2, 1)


async def test_where_there_is_no_account_the_same_cost_is_paid() -> None:
    with hashed_with(USUAL_HASHER):
        kept = await passwords.hash_password(PASSWORD)
        assert extract_parameters(passwords._NOBODYS) == extract_parameters(kept)
        assert not await passwords.is_password(PASSWORD, None)
