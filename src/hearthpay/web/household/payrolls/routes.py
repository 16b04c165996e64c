"""The routes of payroll pages, in matching order: fixed names before ids."""

from typing import Final

from fastapi import APIRouter

from hearthpay.web.household.payrolls.actions import router as settling
from hearthpay.web.household.payrolls.correct_page import router as correcting
from hearthpay.web.household.payrolls.drafting import router as drafting
from hearthpay.web.household.payrolls.list_page import router as lists
from hearthpay.web.household.payrolls.payroll_page import router as one
from hearthpay.web.household.payrolls.receipt_page import router as receipt
from hearthpay.web.household.payrolls.several import router as several

router: Final = APIRouter(include_in_schema=False)
for _part in (lists, drafting, one, receipt, settling, correcting, several):
    router.routes.extend(_part.routes)
