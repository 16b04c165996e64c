"""What hypothesis draws paychecks from: every state that has rules, with the entries of its own certificate."""

import datetime
from decimal import Decimal

from hypothesis import reject, settings
from hypothesis import strategies as st

from hearthpay.taxes import (
    EmployerProfile,
    FederalCertificate,
    Paycheck,
    PaycheckInput,
    Pre2020Certificate,
    TaxInputError,
    calculate_paycheck,
    rulebook_for,
)
from hearthpay.taxes.certificates import CertificateField
from hearthpay.taxes.errors import RuleError

YEAR = 2026
RULEBOOK = rulebook_for(datetime.date(YEAR, 6, 1))
FREQUENCIES = ("weekly", "biweekly", "semimonthly", "monthly")
RELATIONSHIPS = (
    "none", "spouse", "parent", "parent_caring_for_grandchild", "child_under_18", "child_18_to_20",
    "child_under_21", "student_under_18",
)  # fmt: skip


def _loads(state: str) -> bool:
    try:
        RULEBOOK.state(state)
    except RuleError:
        return False  # `test_rule_files` reports it by name.
    return True


STATES = tuple(state for state in RULEBOOK.supported_states if _loads(state))


def steady(examples: int) -> settings:
    """Return settings under which a property draws the same examples on every run."""
    return settings(max_examples=examples, derandomize=True, deadline=None, database=None)


def dollars(most: int, least: int = 0) -> st.SearchStrategy[Decimal]:
    """Amounts from ``least`` to ``most`` whole dollars, to the cent."""
    return st.integers(least * 100, most * 100).map(lambda cents: Decimal(cents).scaleb(-2))


dates = st.dates(datetime.date(YEAR, 1, 1), datetime.date(YEAR, 12, 31))

federal_certificates = st.builds(
    FederalCertificate,
    elected=st.booleans(),
    filing_status=st.sampled_from(("single", "married", "head_of_household")),
    multiple_jobs=st.booleans(),
    dependents_credit=dollars(10_000),
    other_income=dollars(50_000),
    deductions=dollars(50_000),
    extra_withholding=st.one_of(st.just(Decimal(0)), dollars(300), dollars(999_999)),
    exempt=st.just(False),
    pre_2020=st.one_of(
        st.none(),
        st.builds(
            Pre2020Certificate,
            marital_status=st.sampled_from(("single", "married", "married_withhold_at_single_rate")),
            allowances=st.integers(0, 12),
        ),
    ),
)


def _entries(field: CertificateField) -> st.SearchStrategy[object]:
    match field.kind:
        case "choice":
            return st.sampled_from(sorted(field.choices))
        case "count":
            return st.integers(0, 12)
        case "money":
            return st.one_of(dollars(200), dollars(60_000))
        case "flag":
            return st.booleans()
        case _:
            return st.just("0101")


def state_certificates(state: str) -> st.SearchStrategy[dict[str, object]]:
    """Certificates of a state: any of its entries, save reciprocity, which needs a home state to match."""
    tax = RULEBOOK.state(state).income_tax
    if tax is None:
        return st.just({})
    fields = {
        name: _entries(field)
        for name, field in tax.form.fields.items()
        if name != "reciprocity_certificate_on_file"
    }
    return st.fixed_dictionaries({}, optional=fields)


@st.composite
def paychecks(draw: st.DrawFn, states: tuple[str, ...] = STATES) -> PaycheckInput:
    """A first paycheck of the year, with whatever a household may have entered."""
    state = draw(st.sampled_from(states))
    pay_date = draw(dates)
    localities = RULEBOOK.state(state).local_taxes
    chosen: tuple[str, ...] = ()
    certificate = draw(state_certificates(state))
    # A certificate that names cities has chosen already; another city of residence would contradict it.
    if localities and not certificate.keys() & {"city_resident", "city_work"} and draw(st.booleans()):
        chosen = (draw(st.sampled_from(sorted({tax.locality for tax in localities}))),)
    return PaycheckInput(
        pay_date=pay_date,
        period_start=pay_date - datetime.timedelta(days=draw(st.integers(7, 40))),
        period_end=pay_date - datetime.timedelta(days=draw(st.integers(0, 7))),
        pay_frequency=draw(st.sampled_from(FREQUENCIES)),
        regular_wages=draw(st.one_of(dollars(5_000), dollars(500_000))),
        supplemental_wages=draw(st.one_of(st.just(Decimal(0)), dollars(20_000))),
        supplemental_method=draw(st.sampled_from(("aggregate", "flat"))),
        work_state=state,
        localities=chosen,
        federal=draw(federal_certificates),
        state=certificate,
        employer=EmployerProfile(
            sui_rate=draw(
                st.one_of(st.none(), st.integers(0, 150_000).map(lambda rate: Decimal(rate).scaleb(-6)))
            ),
            futa_liable=draw(st.booleans()),
            sui_liable=draw(st.booleans()),
            fica_liable=draw(st.booleans()),
        ),
        relationship=draw(st.sampled_from(RELATIONSHIPS)),
    )


def calculated(request: PaycheckInput, *, explain: bool = False) -> Paycheck:
    """Return the paycheck; a certificate whose entries the state refuses together proves nothing and is left out."""
    try:
        return calculate_paycheck(request, explain=explain)
    except TaxInputError as error:
        if error.field.startswith("state."):
            reject()
        raise
