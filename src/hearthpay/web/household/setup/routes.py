"""All pages of setup, in the order in which they are matched."""

from typing import Final

from fastapi import APIRouter

from hearthpay.web.household.setup.household_question import router as household
from hearthpay.web.household.setup.pay_question import router as pay
from hearthpay.web.household.setup.person_question import router as person
from hearthpay.web.household.setup.progress_page import router as progress
from hearthpay.web.household.setup.schedule_questions import router as schedule

SETUP_ROUTERS: Final[tuple[APIRouter, ...]] = (household, person, pay, schedule, progress)
