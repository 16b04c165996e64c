"""From gross pay to net pay: the one path that every calculator, preview and payroll takes."""

import datetime
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Literal, NamedTuple

from hearthpay.taxes.certificates import FEDERAL_TAX_TOLD, FederalCertificate, StateCertificate
from hearthpay.taxes.contribution import RELATIONSHIPS, Contribution, Payer
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.local import LocalPay, LocalTax
from hearthpay.taxes.money import RATE_SCALE, from_cents, rate_of, scaled_rate, to_cents
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rulebook import Rulebook, rulebook_for
from hearthpay.taxes.state import Reciprocity, StateIncomeTax, StateRules
from hearthpay.taxes.thresholds import liability_thresholds
from hearthpay.taxes.trace import Source, Step, Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.year import Standing, ToldYear, Year, YearSoFar, arrears, fresh_charge, lines_in_force

PAY_FREQUENCIES = ("weekly", "biweekly", "semimonthly", "monthly")

ZERO = Decimal(0)

_NOTHING: Mapping[str, object] = MappingProxyType({})
_NO_YTD: Mapping[str, Decimal] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class EmployerProfile:
    """What the household knows about its own liabilities.

    ``sui_rate`` is the unemployment rate the state assigned to the household (0.027, without separate
    surcharges); left out, the new-employer rate applies. The flags switch a liability off, for a household that
    stays below its threshold. ``waived_lines`` are codes of waivable lines to leave out, such as ``NY-DBL-EE``
    for a worker under 20 hours a week.
    """

    sui_rate: Decimal | None = None
    futa_liable: bool = True
    sui_liable: bool = True
    fica_liable: bool = True
    waived_lines: frozenset[str] = frozenset()


#: What the law assumes of an employee without a Form W-4: single, no other entries.
NO_CERTIFICATE = FederalCertificate()

#: A household that pays every tax at the new-employer rates.
NEW_EMPLOYER = EmployerProfile()


@dataclass(frozen=True, slots=True)
class PaycheckInput:
    """Everything a paycheck depends on. Amounts are dollars with at most two decimals.

    ``state`` holds the entries of the work state's certificate by the names of that state's form; ``residence`` those
    of the residence state's, which counts where a reciprocity agreement moves the income tax home.
    ``ytd`` gives the taxable wages of the year before this paycheck by line code, ``ytd_tax`` (optional) the
    amounts: with it, a capped line ends on exactly the year's maximum. ``ytd_subject`` (optional) gives the wages that
    were subject to a line, whether below its cap or not: with it, what earlier paychecks taxed too little or too much
    of them is corrected; for a line that is left out, nothing is taken to be missing. ``year`` gives all of it at
    once in cents, and takes the place of the three. ``annual_wages_expected`` below a threshold switches off what
    that threshold guards. ``not_due`` are codes of lines whose threshold the wages paid so far do not reach: this
    paycheck's wages are subject to them and bear nothing; what ``year`` says is owed of them is corrected all the same.
    """

    pay_date: datetime.date
    pay_frequency: str
    regular_wages: Decimal
    work_state: str
    supplemental_wages: Decimal = ZERO
    supplemental_method: Literal["aggregate", "flat"] = "aggregate"
    period_start: datetime.date | None = None
    period_end: datetime.date | None = None
    residence_state: str | None = None
    residence: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    localities: tuple[str, ...] = ()
    annual_wages_expected: Decimal | None = None
    federal: FederalCertificate = NO_CERTIFICATE
    state: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    employer: EmployerProfile = NEW_EMPLOYER
    relationship: str = "none"
    ytd: Mapping[str, Decimal] = field(default_factory=lambda: _NO_YTD)
    ytd_tax: Mapping[str, Decimal] = field(default_factory=lambda: _NO_YTD)
    ytd_subject: Mapping[str, Decimal] = field(default_factory=lambda: _NO_YTD)
    year: YearSoFar | None = None
    not_due: frozenset[str] = frozenset()


class PaycheckLine(NamedTuple):
    """One tax on one paycheck. Amounts are whole cents; the properties give them in dollars."""

    code: str
    name: str
    payer: Payer
    agency: str
    category: str
    subject_wages_cents: int
    taxable_wages_cents: int
    #: Billionths, where the tax has one rate.
    rate_scaled: int | None
    amount_cents: int

    @property
    def subject_wages(self) -> Decimal:
        """Wages of this paycheck that the tax is about."""
        return from_cents(self.subject_wages_cents)

    @property
    def taxable_wages(self) -> Decimal:
        """Wages of this paycheck that are taxed after caps and thresholds of the year."""
        return from_cents(self.taxable_wages_cents)

    @property
    def rate(self) -> Decimal | None:
        """The rate, such as ``Decimal('0.062')``; None for income tax by table."""
        return None if self.rate_scaled is None else rate_of(self.rate_scaled)

    @property
    def amount(self) -> Decimal:
        """The tax."""
        return from_cents(self.amount_cents)


class Correction(NamedTuple):
    """What a paycheck charges, or gives back, for earlier wages of the year; it is part of its line. Cents."""

    code: str
    name: str
    payer: Payer
    taxable_wages_cents: int
    amount_cents: int
    #: What the net pay does not reach for: it is left to the next paycheck.
    carried_cents: int

    @property
    def amount(self) -> Decimal:
        """The tax, negative where it is given back."""
        return from_cents(self.amount_cents)

    @property
    def carried(self) -> Decimal:
        """The tax that is left to the next paycheck."""
        return from_cents(self.carried_cents)


class LineExplanation(NamedTuple):
    """How a line came about, and the law behind it."""

    code: str
    steps: tuple[Step, ...]
    sources: tuple[Source, ...]
    confidence: str
    note: str


@dataclass(frozen=True, slots=True)
class Paycheck:
    """A calculated paycheck: its lines, and totals that are sums of them (cents)."""

    gross_pay_cents: int
    lines: tuple[PaycheckLine, ...]
    employee_taxes_cents: int
    employer_taxes_cents: int
    rulebook: Rulebook
    limitations: tuple[str, ...]
    explanations: tuple[LineExplanation, ...]
    reciprocity: Reciprocity | None
    #: Codes of lines calculated with last year's figures because the pay date's year is not final.
    projected: tuple[str, ...] = ()
    #: What of the lines is for earlier wages of the year, or could not be charged yet.
    corrections: tuple[Correction, ...] = ()

    @property
    def net_pay_cents(self) -> int:
        """Gross pay less the employee's lines."""
        return self.gross_pay_cents - self.employee_taxes_cents

    @property
    def total_cost_cents(self) -> int:
        """Gross pay and the employer's lines."""
        return self.gross_pay_cents + self.employer_taxes_cents

    @property
    def gross_pay(self) -> Decimal:
        """Regular and supplemental wages."""
        return from_cents(self.gross_pay_cents)

    @property
    def employee_taxes(self) -> Decimal:
        """What is withheld from the employee."""
        return from_cents(self.employee_taxes_cents)

    @property
    def employer_taxes(self) -> Decimal:
        """What the household owes on top."""
        return from_cents(self.employer_taxes_cents)

    @property
    def net_pay(self) -> Decimal:
        """What the employee receives."""
        return from_cents(self.net_pay_cents)

    @property
    def total_cost(self) -> Decimal:
        """What the paycheck costs the household."""
        return from_cents(self.total_cost_cents)


class _Builder:
    """Collects the lines of one paycheck."""

    __slots__ = (
        "arrears",
        "corrections",
        "employee",
        "employer",
        "explanations",
        "limitations",
        "lines",
        "withheld",
    )

    def __init__(self, explain: bool) -> None:
        self.lines: list[PaycheckLine] = []
        self.limitations: list[str] = []
        #: Codes of the income tax lines, which give way where pay does not reach.
        self.withheld: list[str] = []
        #: Employee's lines with what earlier wages of the year lack, or were charged too much: wages and tax.
        self.arrears: list[tuple[str, int, int]] = []
        self.corrections: list[Correction] = []
        self.explanations: list[LineExplanation] | None = [] if explain else None
        self.employee = 0
        self.employer = 0

    def explanations_by_line(self) -> tuple[LineExplanation, ...]:
        """Return the explanations in the order of the lines."""
        if not self.explanations:
            return ()
        by_code = {explanation.code: explanation for explanation in self.explanations}
        return tuple(by_code[line.code] for line in self.lines)

    def explain(
        self, code: str, trace: Trace | None, sources: tuple[Source, ...], confidence: str, note: str
    ) -> None:
        if trace is not None and self.explanations is not None:
            self.explanations.append(LineExplanation(code, tuple(trace.steps), sources, confidence, note))


def calculate_paycheck(request: PaycheckInput, *, explain: bool = False) -> Paycheck:
    """Calculate every line of one paycheck under the law in force on its pay date.

    With ``explain`` the result says for each line which steps led to it, with which figures, from which source.
    Raises `TaxInputError` naming the field for an unknown jurisdiction, a year without rules, or a value that
    cannot be.
    """
    rulebook = rulebook_for(request.pay_date)
    rules = rulebook.state(request.work_state)
    frequency = request.pay_frequency
    if frequency not in rulebook.pay_periods:
        raise TaxInputError("pay_frequency", f"must be one of {', '.join(rulebook.pay_periods)}")
    if request.relationship not in RELATIONSHIPS:
        raise TaxInputError("relationship", f"must be one of {', '.join(RELATIONSHIPS)}")
    year: Year | None = request.year
    if year is None and (request.ytd or request.ytd_tax or request.ytd_subject):
        _check_codes(request, rules)
        year = ToldYear(request.ytd, request.ytd_subject, request.ytd_tax)
    start, end = request.period_start, request.period_end
    if start is not None and end is not None and end < start:
        raise TaxInputError("period_end", "must not be before period_start")
    regular = to_cents(request.regular_wages, "regular_wages")
    supplemental = to_cents(request.supplemental_wages, "supplemental_wages")
    build = _Builder(explain)

    _federal_income_tax(build, request, rulebook, year, regular, supplemental)
    federal_tax = build.employee
    after_federal = len(build.lines)
    _contributions(build, request, rules, year, regular + supplemental)
    if year is not None:
        _lines_of_other_states(build, request, rulebook, rules, year)
    fica = fica_before = 0
    for line in build.lines:
        if line.payer == "employee" and line.category in ("social_security", "medicare"):
            fica += line.amount_cents
            if year is not None:
                fica_before += _tax_before(year, line)
    pay = PeriodPay(regular + supplemental, frequency, federal_tax, fica, fica_before)
    after_contributions = len(build.lines)
    contributions = build.lines[after_federal:after_contributions]
    reciprocity = _state_income_tax(build, request, rulebook, rules, year, pay, supplemental)

    # A pay stub lists income taxes first; they were calculated last because some states look at the rest.
    build.lines[after_federal:after_contributions] = []
    build.lines.extend(contributions)
    if build.employee > regular + supplemental:
        _limit_to_pay(build, regular + supplemental)
    if build.arrears:
        _settle_arrears(build, regular + supplemental)

    if rules.limitations:
        build.limitations.extend(rules.limitations)
    projected: tuple[str, ...] = ()
    if rules.projected:
        projected = tuple(line.code for line in build.lines if line.code in rules.projected)
        build.limitations.append(
            f"The figures of {rulebook.tax_year} for {', '.join(projected)} are not published yet: "
            f"those of the year before stand in."
        )
    return Paycheck(
        gross_pay_cents=regular + supplemental,
        lines=tuple(build.lines),
        employee_taxes_cents=build.employee,
        employer_taxes_cents=build.employer,
        rulebook=rulebook,
        limitations=tuple(dict.fromkeys(build.limitations)),
        explanations=build.explanations_by_line(),
        reciprocity=reciprocity,
        projected=projected,
        corrections=tuple(build.corrections),
    )


def _check_codes(request: PaycheckInput, rules: StateRules) -> None:
    """Refuse year-to-date codes that no line of the year has: a typing mistake would lose a cap.

    Codes of other states are let through: an employee may have worked elsewhere earlier in the year.
    """
    known = rules.known_codes
    told = (("ytd", request.ytd), ("ytd_tax", request.ytd_tax), ("ytd_subject", request.ytd_subject))
    for field_name, amounts in told:
        for code in amounts:
            if code not in known and (code[:2] in ("US", rules.state) or code[:2] not in STATES):
                raise TaxInputError(
                    f"{field_name}.{code}", f"is not a line of federal law or of {rules.name}"
                )


def _limit_to_pay(build: _Builder, gross: int) -> None:
    """Cut income tax withholding to what the pay leaves: net pay is never negative.

    Local and state tax give way first, then the federal tax by certificate, last the flat tax on supplemental pay.

    Extra withholding or other income on a certificate can ask for more than a short period's pay; contributions
    come first, and what cannot be withheld stays the employee's to settle with the return.
    """
    positions = {line.code: position for position, line in enumerate(build.lines)}
    federal = [code for code in build.withheld if code.startswith("US-")]
    elsewhere = [code for code in build.withheld if not code.startswith("US-")]
    for code in (*reversed(elsewhere), *federal):
        line = build.lines[positions[code]]
        cut = max(0, min(line.amount_cents, build.employee - gross))
        build.lines[positions[code]] = line._replace(amount_cents=line.amount_cents - cut)
        build.employee -= cut
    build.limitations.append(
        "Income tax withholding was limited to the pay that was left after other deductions."
    )


def _federal_income_tax(
    build: _Builder,
    request: PaycheckInput,
    rulebook: Rulebook,
    year: Year | None,
    regular: int,
    supplemental: int,
) -> None:
    tax = rulebook.income_tax
    certificate = request.federal
    trace = Trace() if build.explanations is not None else None
    gross = regular + supplemental
    amount = taxable = 0
    flat = over_limit = 0
    withheld = certificate.elected and not certificate.exempt
    if withheld:
        if supplemental:
            earlier = year.taxable(tax.supplemental_code) if year is not None else 0
            over_limit = min(supplemental, max(0, earlier + supplemental - tax.supplemental_limit))
            flat = supplemental if request.supplemental_method == "flat" else over_limit
        taxable = gross - flat
        # What the certificate asks for in step 4, it asks for each pay period: it is taken from regular wages.
        # Supplemental wages paid apart bear the flat rate alone (Publication 15, section 7).
        apart = flat and not taxable
        if not apart:
            amount = tax.withhold(taxable, request.pay_frequency, certificate, trace)
        elif trace is not None:
            trace.text("nothing by the certificate", "supplemental wages paid apart bear the flat rate alone")
        if certificate.extra_withholding and not apart:
            extra = to_cents(certificate.extra_withholding, "federal.extra_withholding")
            if trace is not None:
                trace.cents("extra withholding (4a)", extra)
            amount += extra
    elif trace is not None:
        reason = (
            "the certificate claims exemption"
            if certificate.exempt
            else "employee and household did not agree"
        )
        trace.text("nothing is withheld", reason)
    build.lines.append(
        PaycheckLine(
            tax.code,
            tax.name,
            "employee",
            tax.agency,
            "federal_income_tax",
            gross - flat,
            taxable,
            None,
            amount,
        )
    )
    build.employee += amount
    build.withheld.append(tax.code)
    if trace is not None:
        trace.cents("tax of the period", amount)
    build.explain(tax.code, trace, tax.sources, tax.confidence, "Publication 15-T, Worksheet 1A")
    if flat:
        amount = tax.supplemental(flat, over_limit)
        build.lines.append(
            PaycheckLine(
                tax.supplemental_code,
                f"{tax.name} on supplemental wages",
                "employee",
                tax.agency,
                "federal_income_tax",
                flat,
                flat,
                None if over_limit else tax.supplemental_rate,
                amount,
            )
        )
        build.employee += amount
        build.withheld.append(tax.supplemental_code)
        if trace is not None:
            trace = Trace()
            trace.cents("supplemental wages at the flat rate", flat - over_limit)
            trace.rate("flat rate", tax.supplemental_rate)
            trace.cents("supplemental wages above the yearly limit", over_limit)
            trace.rate("rate above the limit", tax.supplemental_rate_over_limit)
        build.explain(
            tax.supplemental_code, trace, tax.sources, tax.confidence, "Publication 15-T, supplemental wages"
        )


def _state_income_tax(
    build: _Builder,
    request: PaycheckInput,
    rulebook: Rulebook,
    rules: StateRules,
    year: Year | None,
    pay: PeriodPay,
    supplemental: int,
) -> Reciprocity | None:
    """Append the state's and the localities' income tax; return the reciprocity agreement if one applies."""
    tax = rules.income_tax
    residence = rules.state
    if request.residence_state:
        residence = request.residence_state.strip().upper()
    certificate: StateCertificate = {}
    agreement: Reciprocity | None = None
    if tax is not None:
        certificate = tax.form.read(request.state)
    elif request.state:
        _refuse_entries(request.state, rules)
    local: list[LocalTax] = []
    if request.localities or (request.state and rules.local_taxes.on_certificate):
        certificate, local = rules.local_taxes.choose(request.localities, certificate, request.pay_date)
    own_certificate = certificate
    if residence != rules.state:
        home = rulebook.state(residence, "residence_state")
        if certificate.get("reciprocity_certificate_on_file"):
            agreement = rules.reciprocity.get(residence)
            if agreement is None:
                raise TaxInputError(
                    "state.reciprocity_certificate_on_file",
                    f"{rules.state} has no reciprocity agreement with {residence}",
                )
        if agreement is not None and home.income_tax is not None:
            tax, certificate = home.income_tax, home.income_tax.form.read(request.residence, "residence")
        elif home.income_tax is not None:
            build.limitations.append(
                f"The employee lives in {home.name}: only {rules.name} income tax is withheld; "
                f"what {home.name} may ask beyond it is not."
            )
    if tax is None:
        _local_taxes(build, request, year, local, own_certificate, pay, supplemental, None)
        return agreement
    version = tax.version(request.pay_date, request.period_start, request.period_end)
    trace = Trace() if build.explanations is not None else None
    withheld = is_withheld(tax, request.federal, certificate)
    gross = pay.wages
    told = certificate.get(FEDERAL_TAX_TOLD)
    if told is not None:
        pay = pay._replace(federal_income_tax=int(told))
    amount = taxable = state_tax = regular_state_tax = 0
    # As with the federal tax: what the certificate asks for each pay period is not taken once more.
    apart = request.supplemental_method == "flat" and gross == supplemental
    flat_rate = version.supplemental_rate if request.supplemental_method == "flat" else None
    flat = supplemental if flat_rate is not None else 0
    if withheld:
        taxable = gross
        if flat:
            # Each on its own: regular pay meets the federal tax on regular pay, the bonus its flat rate.
            federal_tax = build.lines[0].amount_cents if told is None else int(told)
            regular_pay = pay._replace(wages=gross - flat, federal_income_tax=federal_tax)
            if not apart:
                state_tax = regular_state_tax = version.method.withhold(regular_pay, certificate, trace)
        else:
            state_tax = regular_state_tax = version.method.withhold(pay, certificate, trace)
        if flat and flat_rate is not None:
            state_tax += half_up(flat * flat_rate, RATE_SCALE)
            if trace is not None:
                trace.cents("supplemental wages at the flat rate", flat)
                trace.rate("flat supplemental rate", flat_rate)
        extra = 0 if apart else int(certificate.get("additional_withholding") or 0)
        if trace is not None and extra:
            trace.cents("additional withholding", extra)
        amount = state_tax + extra
    elif trace is not None:
        trace.text("nothing is withheld", f"household rule: {tax.household}; {tax.household_note}")
    build.lines.append(
        PaycheckLine(
            tax.code, tax.name, "employee", tax.agency, "state_income_tax", gross, taxable, None, amount
        )
    )
    build.employee += amount
    build.withheld.append(tax.code)
    if version.confidence == "low":
        build.limitations.append(
            f"{tax.code}: the figures of {version.effective_from} could not be fully verified."
        )
    if trace is not None:
        trace.text("version in force from", version.effective_from)
        trace.cents("tax of the period", amount)
    build.explain(tax.code, trace, version.sources, version.confidence, version.note)
    if local:
        local_basis = regular_state_tax if withheld else None
        if rules.income_tax is not None and tax is not rules.income_tax:
            # A reciprocity agreement lifts the work state's own tax only, not what is levied with it locally.
            agreed = is_withheld(rules.income_tax, request.federal, own_certificate)
            local_basis = 0 if agreed else None
        _local_taxes(build, request, year, local, own_certificate, pay, supplemental, local_basis)
    return agreement


def is_withheld(tax: StateIncomeTax, federal: FederalCertificate, certificate: Mapping[str, object]) -> bool:
    """Tell whether the state's tax is withheld: its household rule first, then what was agreed."""
    if certificate.get("exempt"):
        return False
    match tax.household:
        case "required":
            return True
        case "prohibited":
            return False
        case "follows_federal" if federal.elected:
            return True
        case _:
            elected = certificate.get("elected")
            return federal.elected if elected is None else bool(elected)


def _local_taxes(
    build: _Builder,
    request: PaycheckInput,
    year: Year | None,
    taxes: list[LocalTax],
    certificate: StateCertificate,
    pay: PeriodPay,
    supplemental: int,
    state_tax: int | None,
) -> None:
    """Append the local taxes of the work state; ``state_tax`` is None where no state tax was agreed on."""
    flat = supplemental if request.supplemental_method == "flat" else 0
    for tax in taxes:
        trace = Trace() if build.explanations is not None else None
        amount = taxable = 0
        if state_tax is not None or tax.household != "follows_state":
            before = year.tax(tax.code) if year is not None else None
            local = LocalPay(pay, request.pay_date, flat, state_tax or 0, before)
            amount = tax.withhold(local, certificate, trace)
            taxable = pay.wages
        elif trace is not None:
            trace.text("nothing is withheld", "it goes with the state's tax, which is not withheld")
        build.lines.append(
            PaycheckLine(tax.code, tax.name, tax.payer, tax.agency, "other", pay.wages, taxable, None, amount)
        )
        if tax.payer == "employee":
            build.employee += amount
            build.withheld.append(tax.code)
        else:
            build.employer += amount
        if tax.confidence == "low":
            build.limitations.append(f"{tax.code}: {tax.note or 'the figures could not be fully verified.'}")
        if trace is not None:
            trace.cents("tax of the period", amount)
        build.explain(tax.code, trace, tax.sources, tax.confidence, tax.note)


def _contributions(
    build: _Builder, request: PaycheckInput, rules: StateRules, year: Year | None, gross: int
) -> None:
    """Append the flat-rate lines of federal and state law."""
    employer = request.employer
    relationship = request.relationship
    off = _switched_off(request, rules.state)
    waived = employer.waived_lines
    if waived:
        _check_waived(waived, rules)
    not_due = request.not_due
    owing: Container[str] = () if year is None else year.owing
    for line in rules.contributions_on(request.pay_date):
        code = line.code
        if code in waived:
            continue
        rate = line.rate
        if line.assigned_rate and employer.sui_rate is not None:
            rate = _assigned(employer.sui_rate)
        standing = None
        missing = owed = 0
        if line.liability in off or relationship in line.exempt_relationships:
            subject = taxable = 0
        else:
            subject = taxable = gross
        counted = 0 if code in not_due else subject
        capped = line.wage_base is not None or line.wage_floor
        if (capped or code in owing) and line.liability not in off:
            if year is None:
                taxable = line.due(counted)
                amount = (2 * taxable * rate + RATE_SCALE) // (2 * RATE_SCALE)
            else:
                standing = year.standing(line)
                before = standing.tax
                if standing.owed is not None or standing.taxable != line.due(standing.subject):
                    missing, owed = arrears(line, rate, standing)
                    before = None if before is None else before + owed
                taxable, amount = fresh_charge(line, rate, standing.subject, before, counted)
        else:
            taxable = min(taxable, counted)
            amount = (2 * taxable * rate + RATE_SCALE) // (2 * RATE_SCALE)
        if line.period_maximum is not None:
            amount, taxable = _within_period_maximum(line, request.pay_frequency, amount, taxable)
        if missing or owed:
            if line.payer == "employee":
                build.arrears.append((code, missing, owed))
            else:
                build.corrections.append(Correction(code, line.name, line.payer, missing, owed, 0))
                taxable += missing
                amount += owed
        elif not (taxable or line.always_shown):
            continue
        build.lines.append(
            PaycheckLine(
                code, line.name, line.payer, line.agency, line.category, subject, taxable, rate, amount
            )
        )
        if line.payer == "employee":
            build.employee += amount
        else:
            build.employer += amount
        if line.confidence == "low" and amount:
            build.limitations.append(f"{code}: {line.note or 'the figure could not be fully verified.'}")
        if build.explanations is not None:
            shown = (subject, taxable, amount, missing, owed)
            _explain_contribution(build, line, request, rate, standing, shown, off)


def _lines_of_other_states(
    build: _Builder, request: PaycheckInput, rulebook: Rulebook, rules: StateRules, year: Year
) -> None:
    """Append capped lines of states where the employee worked earlier in the year, where they still lack something."""
    known = rules.known_codes
    elsewhere = [code for code in year.codes if code not in known]
    if not elsewhere:
        return
    for code, line in lines_in_force(rulebook, elsewhere, request.pay_date, year.owing).items():
        if code in known:
            continue
        missing, owed = arrears(line, line.rate, year.standing(line))
        if not (missing or owed):
            continue
        if line.payer == "employee":
            taxable = amount = 0
            build.arrears.append((code, missing, owed))
        else:
            taxable, amount = missing, owed
            build.corrections.append(Correction(code, line.name, line.payer, missing, owed, 0))
            build.employer += owed
        build.lines.append(
            PaycheckLine(
                code, line.name, line.payer, line.agency, line.category, 0, taxable, line.rate, amount
            )
        )
        if build.explanations is not None:
            shown = (0, taxable, amount, missing, owed)
            _explain_contribution(build, line, request, line.rate, year.standing(line), shown, frozenset())


def _settle_arrears(build: _Builder, gross: int) -> None:
    """Correct the employee's lines: what was withheld too much is paid back, what is missing taken from net pay.

    An overcollection that is repaid before the year's return is filed is not reported, section 31.6413(a)-1(a)(1) of
    the Treasury Regulations; an undercollection is the household's to correct, section 31.6205-1, and what a reached
    threshold makes due is collected from the employee, section 31.3102-1(c). Income tax and the paycheck's own
    contributions come first, and net pay is never negative: the rest is carried to the next paycheck.
    """
    positions = {line.code: position for position, line in enumerate(build.lines)}
    for code, missing, owed in sorted(build.arrears, key=lambda entry: entry[2] > 0):
        line = build.lines[positions[code]]
        charged, taxed = owed, missing
        left = max(0, gross - build.employee)
        if owed > left:
            charged = left
            taxed = missing * left // owed
        build.lines[positions[code]] = line._replace(
            taxable_wages_cents=line.taxable_wages_cents + taxed, amount_cents=line.amount_cents + charged
        )
        build.employee += charged
        build.corrections.append(Correction(code, line.name, line.payer, taxed, charged, owed - charged))


def _switched_off(request: PaycheckInput, state: str) -> frozenset[str] | set[str]:
    """Return the liabilities that do not apply: switched off, or below their threshold by expected wages."""
    employer = request.employer
    expected = request.annual_wages_expected
    if expected is None and employer.fica_liable and employer.futa_liable and employer.sui_liable:
        return frozenset()
    off = set()
    if not employer.fica_liable:
        off.add("fica")
    if not employer.futa_liable:
        off.add("futa")
    if not employer.sui_liable:
        off.add("sui")
    if expected is not None:
        annual = to_cents(expected, "annual_wages_expected")
        for threshold in liability_thresholds(state, request.pay_date.year):
            if threshold.annualized_cents > annual:
                off.add(threshold.liability)
    return off


def _check_waived(waived: frozenset[str], rules: StateRules) -> None:
    waivable = {line.code for line in rules.contributions if line.waivable}
    for code in waived:
        if code not in waivable:
            known = ", ".join(sorted(waivable)) or "none"
            raise TaxInputError(
                "employer.waived_lines", f"{code} cannot be left out in {rules.state}; only: {known}"
            )


def _within_period_maximum(line: Contribution, frequency: str, amount: int, taxable: int) -> tuple[int, int]:
    """Return amount and taxable wages held to the most that a pay period may bear."""
    maximum = line.period_maximum[frequency] if line.period_maximum is not None else amount
    if amount <= maximum:
        return amount, taxable
    return maximum, min(taxable, half_up(maximum * RATE_SCALE, line.rate))


def _explain_contribution(
    build: _Builder,
    line: Contribution,
    request: PaycheckInput,
    rate: int,
    standing: Standing | None,
    shown: tuple[int, int, int, int, int],
    off: frozenset[str] | set[str],
) -> None:
    subject, taxable, amount, missing, owed = shown
    trace = Trace()
    if line.liability in off:
        trace.text("not liable", f"the {line.liability} liability is off or below its threshold")
    elif request.relationship in line.exempt_relationships:
        trace.text("exempt", f"wages of a {request.relationship} are not subject to it")
    elif line.code in request.not_due:
        trace.text("not due yet", f"the wages paid so far stay below the {line.liability} threshold")
    trace.cents("subject wages", subject)
    if line.wage_base is not None:
        trace.cents("wage base of the year", line.wage_base)
    if line.wage_floor:
        trace.cents("wages of the year above", line.wage_floor)
    if line.is_capped:
        trace.cents("wages earlier in the year", 0 if standing is None else standing.subject)
    if missing or owed:
        trace.cents("earlier wages of the year taxed too little (negative: too much)", missing)
        trace.cents("tax on them", owed)
    trace.cents("taxable wages", taxable)
    trace.rate("rate", rate)
    if line.period_maximum is not None:
        trace.cents("at most in the pay period", line.period_maximum[request.pay_frequency])
    trace.cents("tax", amount)
    build.explain(line.code, trace, line.sources, line.confidence, line.note)


def _assigned(value: Decimal) -> int:
    """Return the household's assigned unemployment rate in billionths."""
    if not value.is_finite() or not ZERO <= value < 1:
        raise TaxInputError("employer.sui_rate", "must be a rate between 0 and 1, such as 0.027")
    try:
        return scaled_rate(value)
    except ValueError:
        raise TaxInputError("employer.sui_rate", "must have at most nine decimals") from None


def _tax_before(year: Year, line: PaycheckLine) -> int:
    """Return a line's tax on earlier pay of the year: as told, or the rate of the wages told."""
    tax = year.tax(line.code)
    if tax is not None:
        return tax
    return half_up(year.taxable(line.code) * (line.rate_scaled or 0), RATE_SCALE)


def _refuse_entries(entries: Mapping[str, object], rules: StateRules) -> None:
    """Refuse certificate entries in a state without income tax, save those that ask for nothing."""
    for name, value in entries.items():
        if name in ("elected", "exempt", "reciprocity_certificate_on_file") and isinstance(value, bool):
            continue
        raise TaxInputError(f"state.{name}", f"{rules.name} has no income tax and no certificate")
