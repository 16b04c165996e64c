"""A full paycheck in process: federal and state tax, unemployment and programs, state by state."""

import datetime
import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from statistics import median

from benchmarks.report import Aim, Row, in_columns, spread
from hearthpay.taxes import COMPILED, FederalCertificate, PaycheckInput, calculate_paycheck, rulebook_for
from hearthpay.taxes.certificates import CertificateForm

ROUNDS = 9
CALLS = 300
EARLIER_PAYCHECKS = 20
PAY_DATE = datetime.date(2026, 11, 20)
WEEKLY_WAGES = Decimal("1080.55")
AIM = Aim(15 if COMPILED else 20, at_least=False)
"""Microseconds in the median state."""


def measure() -> list[Row]:
    """Time `calculate_paycheck` for every state; the states take turns, so that noise hits them alike."""
    print(f"Paychecks: every supported state, {ROUNDS} rounds of {CALLS} calls …", flush=True)
    requests = {state: typical_request(state) for state in rulebook_for(PAY_DATE).supported_states}
    plain = {state: _calculation(replace(request, ytd_tax={})) for state, request in requests.items()}
    payroll = {state: _as_a_payroll(request) for state, request in requests.items()}
    samples = _in_turns(plain)
    medians = {state: median(values) for state, values in samples.items()}
    whole = median(median(values) for values in _in_turns(payroll).values())
    typical = median(medians.values())
    slowest = max(medians, key=lambda state: medians[state])
    print(in_columns([f"{state} {value:5.1f}" for state, value in medians.items()]))
    noise = median(spread(values) for values in samples.values())
    print(f"  µs a paycheck; the middle half of a state's rounds lies within {noise:.0%}")
    return [
        Row(f"Paycheck, median of {len(medians)} states", f"{typical:.1f} µs", aim=AIM, judged=typical),
        Row(
            f"Paycheck, slowest state ({slowest})",
            f"{medians[slowest]:.1f} µs",
            "median state",
            medians[slowest] / typical,
        ),
        Row(
            "Paycheck as a payroll does it (input built, ytd_tax given)",
            f"{whole:.1f} µs",
            "median state",
            whole / typical,
        ),
    ]


def _in_turns(calls: Mapping[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Microseconds of CPU a call, in each round; what else the machine does is not counted."""
    timers = {name: timeit.Timer(call, timer=time.process_time) for name, call in calls.items()}
    for timer in timers.values():
        timer.timeit(CALLS)  # warm
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, timer in timers.items():
            samples[name].append(timer.timeit(CALLS) / CALLS * 1e6)
    return samples


def typical_request(state: str) -> PaycheckInput:
    """A weekly paycheck with a Form W-4, the state's certificate, and the year's earlier wages."""
    tax = rulebook_for(PAY_DATE).state(state).income_tax
    request = PaycheckInput(
        pay_date=PAY_DATE,
        period_start=PAY_DATE - datetime.timedelta(days=11),
        period_end=PAY_DATE - datetime.timedelta(days=5),
        pay_frequency="weekly",
        regular_wages=WEEKLY_WAGES,
        work_state=state,
        residence_state=state,
        federal=FederalCertificate(filing_status="single", dependents_credit=Decimal(2200)),
        state={} if tax is None else _typical_certificate(tax.form),
    )
    ytd: dict[str, Decimal] = {}
    ytd_tax: dict[str, Decimal] = {}
    for _ in range(EARLIER_PAYCHECKS):
        for line in calculate_paycheck(replace(request, ytd=ytd, ytd_tax=ytd_tax)).lines:
            ytd[line.code] = ytd.get(line.code, Decimal(0)) + line.taxable_wages
            ytd_tax[line.code] = ytd_tax.get(line.code, Decimal(0)) + line.amount
    return replace(request, ytd=ytd, ytd_tax=ytd_tax)


def _typical_certificate(form: CertificateForm) -> Mapping[str, object]:
    """Single, and one of whatever the state's form counts: allowances, dependents, exemptions."""
    entries: dict[str, object] = {name: 1 for name, field in form.fields.items() if field.kind == "count"}
    if form.status_field is not None:
        entries[form.status_field] = form.from_federal["single"]
    return entries


def _calculation(request: PaycheckInput) -> Callable[[], object]:
    return lambda: calculate_paycheck(request)


def _as_a_payroll(request: PaycheckInput) -> Callable[[], object]:
    """What each employee of a payroll costs: the input is put together, then calculated."""
    return lambda: calculate_paycheck(
        PaycheckInput(
            pay_date=request.pay_date,
            period_start=request.period_start,
            period_end=request.period_end,
            pay_frequency=request.pay_frequency,
            regular_wages=request.regular_wages,
            supplemental_wages=request.supplemental_wages,
            work_state=request.work_state,
            residence_state=request.residence_state,
            localities=request.localities,
            federal=request.federal,
            state=request.state,
            relationship=request.relationship,
            ytd=request.ytd,
            ytd_tax=request.ytd_tax,
        )
    )
