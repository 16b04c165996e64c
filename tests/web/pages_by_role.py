"""Every page for people: how it is asked for rightly, and what each kind of visitor is answered.

Those of a household stand in `rows/`, a module for each area; those of accounts and organizations here.

A page without a row fails `test_pages_by_role.py`; so does a row without a page.
"""

from typing import Final

from tests.web.rows import AREAS
from tests.web.rows.row import Row


def _open(status: int, **form: str) -> Row:
    return Row(*(status,) * 6, form)


def _own(status: int = 303, *, fresh: bool = False, other: int | None = None, **form: str) -> Row:
    """A page about one's own account."""
    return Row(
        303, status, status, status, status if other is None else other, 303 if fresh else status, form
    )


def _members(status: int, **form: str) -> Row:
    return Row(303, status, status, status, status, status, form)


def _owners(status: int, *, other: int, stale: int = 303, **form: str) -> Row:
    return Row(303, 403, 403, status, other, stale, form)


def _hers(*, fresh: bool = False, **form: str) -> Row:
    """A page about an employee's own record, which is none of these visitors'; `test_my_pages.py` has the others."""
    return Row(303, 404, 404, 404, 404, 303 if fresh else 404, form)


_NEW: Final = "orchid-tractor-59"

_OWN_ROWS: Final[dict[str, Row]] = {
    "GET /sign-in": Row(200, 303, 303, 303, 303, 303),
    "POST /sign-in": _open(401, email="nobody@example.com", password="wrong"),
    "POST /sign-in/link": _open(200, email="maria@example.com"),
    "GET /sign-in/link/{token}": _open(404),
    "POST /sign-in/link/{token}": _open(404),
    "POST /sign-in/passkey/options": _open(200),
    "POST /sign-in/passkey": _open(401, answer="none"),
    "GET /sign-in/second-factor": _open(200),
    "POST /sign-in/second-factor": _open(303, code="000000"),
    "GET /sign-in/again": _own(200),
    "POST /sign-in/again": _own(303, password="orchid-tractor-58"),
    "POST /sign-in/again/passkey": _own(401, answer="none"),
    "POST /sign-out": _own(303),
    "GET /cost": _open(404),
    "GET /sign-up": _open(200),
    "POST /sign-up": _open(200, email="new@example.com"),
    "GET /sign-up/{token}": _open(404),
    "POST /sign-up/{token}": _open(404, name="A", organization="B", password=_NEW),
    "GET /welcome/{token}": _open(404),
    "POST /welcome/{token}": _open(404, name="A", email="a@example.com", organization="B", password=_NEW),
    "GET /join/{token}": _open(404),
    "POST /join/{token}": _open(404, name="A", password=_NEW),
    "GET /reset": _open(200),
    "POST /reset": _open(200, email="maria@example.com"),
    "GET /reset/{token}": _open(404),
    "POST /reset/{token}": _open(404, password=_NEW),
    "GET /new-email/{token}": _own(200),
    "POST /new-email/{token}": _own(404),
    "GET /stop/{token}": _open(404),
    "POST /stop/{token}": _open(404),
    "GET /settings/secure": _own(200, fresh=True),
    "POST /settings/secure/{way_kind}/{way_id}/end": _own(404, fresh=True),
    "GET /begin": _own(200),
    "POST /begin": _own(400, organization=""),
    "POST /settings/where": _own(303, other=404, where="{organization}", mode="live"),
    "GET /settings/profile": _own(200),
    "POST /settings/profile": _own(303, name="Somebody", language="en"),
    "POST /settings/profile/email": _own(200, fresh=True, email="elsewhere@example.com"),
    "GET /settings/address": _own(303, fresh=True),
    "POST /settings/address": _own(400, fresh=True, address="current"),
    "GET /settings/security": _own(200, fresh=True),
    "POST /settings/security/password": _own(200, fresh=True, password="orchid-tractor-58"),
    "POST /settings/security/second-factor": _own(200, fresh=True),
    "POST /settings/security/second-factor/confirm": _own(400, fresh=True, code="000000"),
    "POST /settings/security/codes": _own(400, fresh=True),
    "GET /settings/security/second-factor/remove": _own(200, fresh=True),
    "POST /settings/security/second-factor/remove": _own(303, fresh=True),
    "GET /settings/passkeys": _own(200, fresh=True),
    "POST /settings/passkeys/options": _own(200, fresh=True),
    "POST /settings/passkeys": _own(401, fresh=True, answer="none", name="A"),
    "GET /settings/passkeys/{passkey_id}/remove": _own(404, fresh=True),
    "POST /settings/passkeys/{passkey_id}/remove": _own(404, fresh=True),
    "GET /settings/sessions": _own(200),
    "POST /settings/sessions/{session_id}/end": Row(303, 404, 404, 303, 404, 303),
    "POST /settings/sessions/end-others": _own(303),
    "GET /settings/members": _members(200),
    "POST /settings/members": _owners(200, other=200, email="invited@example.com", role="viewer"),
    "POST /settings/members/unfreeze": _owners(303, other=303),
    "POST /settings/members/invitations/{invitation_id}/withdraw": _owners(303, other=404),
    "POST /settings/members/{membership_id}/role": _owners(303, other=404, role="admin"),
    "GET /settings/members/{membership_id}/remove": _owners(200, other=404),
    "POST /settings/members/{membership_id}/remove": _owners(303, other=404),
    "POST /settings/members/{membership_id}/address": _owners(400, other=404, address="current"),
    "POST /settings/members/{membership_id}/keep": _owners(303, other=404),
    "GET /settings/members/leave": _members(200),
    "POST /settings/members/leave": Row(303, 303, 303, 400, 400, 400),
    "GET /settings/keys": _members(200),
    "POST /settings/keys": _owners(200, other=200, scope_payroll="on"),
    "GET /settings/keys/{key_id}/revoke": _owners(200, other=404),
    "POST /settings/keys/{key_id}/revoke": _owners(303, other=404),
    "GET /settings/audit": _members(200),
    "GET /settings/notifications": _own(200),
    "POST /settings/notifications": _own(200, topic_payday="on"),
    "GET /settings/plan": _members(200),
    "GET /operator/mail": _own(404),
    "GET /settings/employees": _members(200),
    "POST /settings/employees/requests/{request_id}/{decision}": Row(303, 403, 303, 303, 404, 303),
    "POST /settings/employees/accounts/{link_id}/end": Row(303, 403, 303, 303, 404, 303),
    "GET /portal/{token}/account": _open(404),
    "POST /portal/{token}/account": _open(404, email="new@example.com"),
    "GET /portal/{token}/account/{proof}": _open(404),
    "POST /portal/{token}/account/{proof}": _open(404, name="A", password=_NEW),
    "GET /my": Row(303, 303, 200, 200, 200, 200),
    "GET /my/{employee_id}": _hers(),
    "GET /my/{employee_id}/pay/{year}": _hers(),
    "GET /my/{employee_id}/stubs/{payroll_id}": _hers(),
    "GET /my/{employee_id}/w2/{year}": _hers(),
    "GET /my/{employee_id}/details": _hers(),
    "POST /my/{employee_id}/address": _hers(
        address_line1="1 Main Street", address_city="Oakland", address_state="CA", address_zip="94601"
    ),
    "POST /my/{employee_id}/language": _hers(language="es"),
    "GET /my/{employee_id}/bank": _hers(fresh=True),
    "POST /my/{employee_id}/bank": _hers(
        fresh=True,
        routing_number="121000358",
        account_number="000987654321",
        account_number_again="000987654321",
        account_type="savings",
    ),
    "POST /my/{employee_id}/bank/withdraw": _hers(fresh=True),
    "GET /my/{employee_id}/certificates": _hers(),
    "GET /my/{employee_id}/certificates/sign/{jurisdiction}": _hers(fresh=True),
    "POST /my/{employee_id}/certificates/sign/{jurisdiction}": _hers(
        fresh=True, us_filing_status="single", signed_name="A", signed_on="2026-11-20"
    ),
    "GET /my/{employee_id}/certificates/copies/{certificate_id}": _hers(),
    "GET /my/{employee_id}/agreements": _hers(),
    "GET /my/{employee_id}/agreements/{document_id}": _hers(),
    "POST /my/{employee_id}/agreements/{document_id}/sign": _hers(signed_name="Rosa Diaz"),
    "GET /my/{employee_id}/set-aside": _hers(),
    "POST /my/{employee_id}/set-aside": _hers(kind="amount", how_much="5"),
    "POST /my/{employee_id}/set-aside/withdraw": _hers(),
    "POST /my/{employee_id}/set-aside/stop": _hers(),
}

ROWS: Final[dict[str, Row]] = _OWN_ROWS | {page: row for area in AREAS for page, row in area.ROWS.items()}
"""By method and path. Of what a path names, each row is about what belongs to the first organization's owner, or in it
to its viewer."""
