"""All pages about employees, in the order in which they are matched."""

from typing import Final

from fastapi import APIRouter

from hearthpay.web.household.employees.account_pages import router as account
from hearthpay.web.household.employees.add_page import router as add
from hearthpay.web.household.employees.change_pages import router as change
from hearthpay.web.household.employees.detail_page import router as detail
from hearthpay.web.household.employees.hire_papers import router as hire_papers
from hearthpay.web.household.employees.invitation_pages import router as invitations
from hearthpay.web.household.employees.leaving_pages import router as leaving
from hearthpay.web.household.employees.list_page import router as everybody
from hearthpay.web.household.employees.prior_pages import router as prior
from hearthpay.web.household.employees.set_aside_pages import router as set_aside
from hearthpay.web.household.employees.withholding_pages import router as withholding

EMPLOYEE_ROUTERS: Final[tuple[APIRouter, ...]] = (
    everybody,
    add,
    detail,
    change,
    withholding,
    leaving,
    hire_papers,
    invitations,
    account,
    set_aside,
    prior,
)
"""`/employees/new` precedes the page of one employee."""
