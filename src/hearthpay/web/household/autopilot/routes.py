"""All pages about Autopilot, in the order in which they are matched."""

from typing import Final

from fastapi import APIRouter

from hearthpay.web.household.autopilot.change_pages import router as change
from hearthpay.web.household.autopilot.enroll_pages import router as enroll
from hearthpay.web.household.autopilot.enrollment_pages import router as one
from hearthpay.web.household.autopilot.held_pages import router as held
from hearthpay.web.household.autopilot.history_page import router as history
from hearthpay.web.household.autopilot.list_page import router as everybody
from hearthpay.web.household.autopilot.skip_pages import router as skip

AUTOPILOT_ROUTERS: Final[tuple[APIRouter, ...]] = (everybody, history, enroll, held, one, skip, change)
"""`/autopilot/history` precedes the page of one enrollment."""
