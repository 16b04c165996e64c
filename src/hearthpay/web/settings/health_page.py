"""How the installation goes: a page for the people who run it, named by `hearthpay people operator`."""

from datetime import timedelta
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.people.health import Vital, vitals
from hearthpay.web.shell import page_of, show
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_NOTHING: Final = Vital(0, None)
_DOCTOR_EVERY: Final = timedelta(days=7)


@page_of(router, "GET", "/operator", "signed_in")
async def health(visitor: Visitor) -> Response:
    """Worker, mail, bank files, money that is exposed, and the doctor's last word; 404 for everybody else."""
    found = await vitals(visitor.desk, visitor.signed_in)
    told = {name: found.get(name, _NOTHING) for name in _NAMES}
    doctor = found.get("doctor_differing")
    facts = {
        "vitals": told,
        "doctor": doctor,
        "doctor_is_old": doctor is None
        or doctor.moment is None
        or visitor.desk.clock.now() - doctor.moment > _DOCTOR_EVERY,
    }
    return show(visitor, "health.html", facts, folder="household")


_NAMES: Final = (
    "workers",
    "problems",
    "payrolls_due",
    "mail_waiting",
    "mail_failed",
    "files_waiting",
    "files_delivered",
    "money_held",
    "doctor_exposed",
)
