"""Taxes on wages that aren't paid to anybody yet."""

from __future__ import annotations

from typing import Final

from hearthpay.mcp.arguments import amount, flag, one_of, state
from hearthpay.mcp.calls import ApiCall
from hearthpay.mcp.tools.agent_tool import LIST, OBJECT, SUMS, TEXT, AgentTool, Arguments, as_query, data_of

FREQUENCIES: Final = ("weekly", "biweekly", "semimonthly", "monthly")


def _calculate(arguments: Arguments) -> ApiCall:
    return ApiCall(method="POST", path="/calculate", body=arguments)


def _threshold(arguments: Arguments) -> ApiCall:
    return ApiCall(method="GET", path="/threshold", query=as_query(arguments))


CALCULATE: Final = AgentTool(
    name="calculate_nanny_taxes",
    title="Calculate household employment taxes",
    description=(
        "Estimate a year of employing someone at home (nanny, caregiver, housekeeper) in any US state or DC: the "
        "household's taxes, what is withheld from the employee, net pay and cost per paycheck, and the law's "
        "thresholds. Use it for 'what would it cost' questions; it needs no account data and stores nothing. Ask the "
        "person for the state of work and the yearly gross cash wages; never guess wages. If the employee lives in "
        "another state, pass residence_state: `reciprocity` then names a certificate to collect. The answer is an "
        "estimate for a full year from zero wages, at the new employer's unemployment rate: pass on `limitations`. For "
        "a real paycheck of an employee on file use preview_payroll."
    ),
    properties={
        "state": state("Where the work is done, by two letters such as CA."),
        "annual_wages": amount("Gross cash wages of the year, in dollars.", maximum=999_999),
        "pay_frequency": one_of(FREQUENCIES, "How often wages are paid.", default="biweekly"),
        "residence_state": state("Where the employee lives, if not in the state of work."),
        "reciprocity_certificate_on_file": flag(
            "Whether the employee has filed the work state's certificate for residents of a reciprocal state. Ask; do "
            "not assume."
        ),
    },
    required=("state", "annual_wages"),
    example={"state": "CA", "annual_wages": 35000, "pay_frequency": "biweekly"},
    call=_calculate,
    uses_account=False,
    output=data_of(
        {
            "tax_year": {"type": "integer"},
            "state": TEXT,
            "employer_taxes": SUMS,
            "employee_taxes_estimate": SUMS,
            "per_paycheck": SUMS,
            "threshold": OBJECT,
            "lines": LIST,
            "limitations": LIST,
            "limitation_codes": LIST,
            "rulebook": OBJECT,
        },
        "tax_year",
        "state",
        "employer_taxes",
        "employee_taxes_estimate",
        "per_paycheck",
        "limitations",
    ),
)

CHECK_THRESHOLD: Final = AgentTool(
    name="check_threshold",
    title="Check household wage thresholds",
    description=(
        "Tell whether one household employee's yearly cash wages reach the federal Social Security and Medicare "
        "threshold, and what the state asks from which quarterly wages on. Use it for 'do I have to pay anything?' "
        "questions. Ask for the state and the wages paid or planned to this one employee in the year. It does not see "
        "other employees, quarters or family ties: pass on `explanation` and `limitations`, and do not call it a "
        "complete answer."
    ),
    properties={
        "state": state("Where the work is done, by two letters such as NY."),
        "annual_wages": amount("Cash wages of the year to this employee, in dollars.", maximum=999_999),
        "tax_year": {
            "type": "integer",
            "minimum": 2024,
            "maximum": 2027,
            "description": "Left out, this year.",
        },
        "year": {
            "type": "integer",
            "minimum": 2024,
            "maximum": 2027,
            "description": "Another name of tax_year. Give one of them.",
        },
    },
    required=("state", "annual_wages"),
    example={"state": "NY", "annual_wages": 2800},
    call=_threshold,
    uses_account=False,
    output=data_of(
        {"tax_year": {"type": "integer"}, "federal": OBJECT, "state_threshold": OBJECT, "futa": OBJECT},
        "tax_year",
        "federal",
        "state_threshold",
    ),
)
