"""The steps of a calculation in the reader's language: their labels, and values that are words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from hearthpay.employees.certificate_sheets import choice_name
from hearthpay.languages.catalogue import Say, mark
from hearthpay.web.household.employees.words import HOUSEHOLD_RULES, RELATIONS, STATE_ENTRY_NAMES
from hearthpay.web.household.payrolls.page_messages import STEPS

METHOD_STEPS: Final = frozenset(
    {
        mark("Form W-4 on file"),
        mark("Social Security and Medicare of this pay"),
        mark("T1: wages after the deduction"),
        mark("T2: tax before allowances"),
        mark("added for a nonresident alien"),
        mark("additional state withholding (WH-4)"),
        mark("allowance credit"),
        mark("allowance of the DR 0004"),
        mark("allowance of the W-4 status"),
        mark("allowance of the period"),
        mark("allowance rate (K-4 line 3)"),
        mark("allowances of the period (W / P)"),
        mark("already due"),
        mark("amount named on the certificate in place of the formula"),
        mark("amount named on the certificate in place of the tables"),
        mark("annual net wages (Method III)"),
        mark("annual tax, whole dollars"),
        mark("annualized income"),
        mark("base tax of the formula"),
        mark("base wages"),
        mark("below the minimum, not withheld"),
        mark("below the month's floor, not withheld"),
        mark("block A"),
        mark("certificate"),
        mark("column of the deductions"),
        mark("column of the schedules"),
        mark("computed tax"),
        mark("credits of the exemptions"),
        mark("deduction (D)"),
        mark("dependent exemptions"),
        mark("estimated deduction (Table 2)"),
        mark("exemption allowance credit (Table 4)"),
        mark("exemption code"),
        mark("exemptions of the period"),
        mark("exemptions that count"),
        mark("federal income tax a year at this pay"),
        mark("federal income tax a year, up to the ceiling"),
        mark("filing status (W-4 of 2019 or earlier)"),
        mark("flat rate"),
        mark("gross tax of the year, whole dollars"),
        mark("head of household and blindness, off the tax"),
        mark("initial tax (Table B)"),
        mark("line 2, wages by the rate"),
        mark("line 3, base allowance"),
        mark("line 4, wages above the threshold"),
        mark("line 5, reduction of the allowance"),
        mark("line 6, allowance"),
        mark("local tax of"),
        mark("local tax of the year"),
        mark("low income exemption (Table 1)"),
        mark("low-income credit"),
        mark("minus"),
        mark("net annual wages"),
        mark("net income looked up"),
        mark("no tax under the low-income tables below annual wages of"),
        mark("nothing by the certificate"),
        mark("nothing is withheld from pay below"),
        mark("personal allowances"),
        mark("personal exemption"),
        mark("personal exemption (Table A)"),
        mark("personal tax credit (Table E)"),
        mark("phase-out add-back (Table C)"),
        mark("rate above the limit"),
        mark("rate of the formula"),
        mark("rate on supplemental wages"),
        mark("rate on the whole"),
        mark("rate without a Form CT-W4"),
        mark("rate without a certificate"),
        mark("recapture (Table D)"),
        mark("reduced withholding (CT-W4 line 3)"),
        mark("row of the rate table over"),
        mark("row of the schedule from"),
        mark("row of the schedule over"),
        mark("standard deduction (Table 3)"),
        mark("state tax of the year"),
        mark("supplemental wages above the yearly limit"),
        mark("supplemental wages at the flat rate"),
        mark("tax before line 7"),
        mark("tax on them"),
        mark("wages of the year above"),
        mark(
            "what the comptroller's online calculator would give: "
            "brackets and deduction of the return, the county's exact rate"
        ),
        mark("withholding code"),
        mark("withholding standard deduction"),
    }
)
"""The labels that only some methods of withholding use."""
VALUES: Final = frozenset(
    {
        mark("no tax"),
        mark("on the month's first payday"),
        mark("supplemental wages paid apart bear the flat rate alone"),
        mark("the certificate claims exemption"),
        mark("employee and household did not agree"),
        mark("it goes with the state's tax, which is not withheld"),
        mark("certificate of nonresidence (D-4A)"),
        mark("full-time student (M-4 box D)"),
        mark("none on file: one rate on the wages"),
        mark("the certificate of nonresidence is on file"),
    }
)
"""Values that are sentences."""

_ALLOWANCES: Final = mark("{number} allowances (1k)")
_WAGES_OF: Final = mark("wages that {line} taxes")
_OFF: Final = mark("the {name} liability is off or below its threshold")
_BELOW: Final = mark("the wages paid so far stay below the {name} threshold")
_RELATIVE: Final = mark("wages of {relationship} are not subject to it")
_YES_OR_NO: Final[Mapping[str, str]] = {"True": mark("yes"), "False": mark("no")}


def _relative(say: Say, relationship: str) -> str:
    words = say(RELATIONS.get(relationship, relationship))
    return say(_RELATIVE, relationship=words[:1].lower() + words[1:])


_LABELS: Final[tuple[tuple[re.Pattern[str], Callable[[Say, str], str]], ...]] = (
    (re.compile(r"(\d+) allowances \(1k\)"), lambda say, number: say(_ALLOWANCES, number=number)),
    (re.compile(r"wages that (\S+) taxes"), lambda say, line: say(_WAGES_OF, line=line)),
)
_VALUES: Final[tuple[tuple[re.Pattern[str], Callable[[Say, str], str]], ...]] = (
    (
        re.compile(r"the (\w+) liability is off or below its threshold"),
        lambda say, name: say(_OFF, name=name.upper()),
    ),
    (
        re.compile(r"the wages paid so far stay below the (\w+) threshold"),
        lambda say, name: say(_BELOW, name=name.upper()),
    ),
    (re.compile(r"wages of a (\w+) are not subject to it"), _relative),
)
_HOUSEHOLD_RULE: Final = re.compile(r"household rule: (?P<rule>\w+); ?(?P<note>.*)")


def step_label(say: Say, language: str, label: str) -> str:
    """Return the label of a step; English pages show the engine's own."""
    if language == "en" or label in STEPS or label in METHOD_STEPS:
        return say(label)
    for pattern, made in _LABELS:
        if found := pattern.fullmatch(label):
            return made(say, found[1])
    # A step can be an entry of the state's form: an exemption, an allowance.
    return say(STATE_ENTRY_NAMES.get(label.replace(" ", "_"), label))


def step_words(say: Say, language: str, value: str) -> str:
    """Return a step's value that is no number: yes or no, a sentence, or a filing status."""
    if value in _YES_OR_NO:
        return say(_YES_OR_NO[value])
    if language == "en" or value in VALUES:
        return say(value)
    for pattern, made in _VALUES:
        if found := pattern.fullmatch(value):
            return made(say, found[1])
    if found := _HOUSEHOLD_RULE.fullmatch(value):
        rule = say(HOUSEHOLD_RULES.get(found["rule"], found["rule"]))
        return f"{rule} {say(found['note'])}" if found["note"] else rule
    return column_text(language, value)


def column_text(language: str, column: str) -> str:
    """Return the name of a table of the law, which is often a filing status."""
    if language == "en":
        return column
    return choice_name(column.replace(" ", "_"), language)
