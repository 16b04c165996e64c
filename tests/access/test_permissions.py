"""What no API key and no agent may do, whatever its scopes and its organization's plan."""

from uuid import UUID, uuid4

import pytest

from hearthpay.access import permissions
from hearthpay.access.actor import Actor
from hearthpay.access.permissions import SCOPES, Permission, allow, may
from hearthpay.access.plans import terms_of
from hearthpay.access.refusal import Refusal
from tests.cases import every_case

PEOPLE_ONLY = {
    "disconnect_accounts", "end_agents", "end_freeze", "enroll_autopilot", "enter_numbers", "give_word", "keep_agents",
    "keep_calendar", "keep_ein", "keep_keys", "keep_members", "keep_registrations", "keep_sui_rates", "leave",
    "manage_accounts", "own_record", "read_agents", "read_audit", "read_keys", "read_members", "read_plan",
    "revoke_calendar_link", "revoke_keys", "settle_wages", "sign_papers", "stop_account_change", "take_back",
    "withdraw_invitations",
}  # fmt: skip
PERMISSIONS = [each for each in vars(permissions).values() if isinstance(each, Permission)]
HOUSEHOLD, ORGANIZATION = UUID(int=1), UUID(int=2)
TERMS = terms_of("professional", {})


def key() -> Actor:
    return Actor.key(
        uuid4(),
        ORGANIZATION,
        "live",
        frozenset(SCOPES),
        request_id="r",
        terms=TERMS,
        employer_id=HOUSEHOLD,
        employer_sandbox=False,
    )


def token() -> Actor:
    return Actor.token(
        uuid4(),
        ORGANIZATION,
        frozenset(SCOPES),
        sandbox=False,
        request_id="r",
        terms=TERMS,
        households=(HOUSEHOLD,),
    )


def test_a_key_with_every_scope_may_all_but_what_is_for_people() -> None:
    with every_case() as case:
        for name, actor in (("key", key()), ("token", token())):
            for permission in PERMISSIONS:
                with case(name, permission.name):
                    assert may(actor, permission) is (permission.name not in PEOPLE_ONLY)
                    if permission.name in PEOPLE_ONLY:
                        with pytest.raises(Refusal) as refused:
                            allow(actor, permission)
                        assert refused.value.code == "scope_required"
                        assert "this kind of access" in refused.value.message
