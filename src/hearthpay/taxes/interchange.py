"""The JSON form of a paycheck, as scripts send and receive it (see ``hearthpay paycheck``)."""

import datetime
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from hearthpay.taxes.assumptions import Assumption, assumptions_of
from hearthpay.taxes.certificates import FederalCertificate, Pre2020Certificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.federal import PRE_2020_STATUSES
from hearthpay.taxes.messages import coded, message, texts
from hearthpay.taxes.pay_periods import check_period
from hearthpay.taxes.paycheck import EmployerProfile, LineExplanation, Paycheck, PaycheckInput

FEDERAL_STATUSES: Mapping[str, str] = {
    "single": "single",
    "married": "married",
    "head_of_household": "head_of_household",
    "single_or_married_filing_separately": "single",
    "married_filing_separately": "single",
    "married_filing_jointly": "married",
}
"""Spellings of the Form W-4's statuses that scripts use, and the engine's names for them."""

FREQUENCIES: Mapping[str, str] = {"annually": "annual", "semiannually": "semiannual"}
"""Names of Publication 15-T, Table 3, that differ from the engine's."""

_MISSING = object()
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class _Reader:
    """Reads entries of a JSON object by name and type, and refuses any that are left."""

    def __init__(self, data: object, path: str) -> None:
        if not isinstance(data, Mapping):
            raise TaxInputError(path or "body", "must be a JSON object")
        self._data = cast("Mapping[str, object]", data)
        self._path = path
        self._left = set(self._data)

    def name(self, key: str) -> str:
        """Return the full name of an entry."""
        return f"{self._path}.{key}" if self._path else key

    def take(self, key: str) -> object:
        """Return an entry, or `_MISSING`; null counts as missing."""
        self._left.discard(key)
        value = self._data.get(key, _MISSING)
        return _MISSING if value is None else value

    def close(self) -> None:
        """Refuse entries that were never read."""
        if self._left:
            raise TaxInputError(self.name(min(self._left)), "is not a known field")

    def money(self, key: str, default: Decimal | None) -> Decimal | None:
        """Return an amount; its range is checked where it is used."""
        value = self.take(key)
        if value is _MISSING:
            return default
        return _decimal(value, self.name(key))

    def required_money(self, key: str) -> Decimal:
        """Return a required amount."""
        value = self.money(key, None)
        if value is None:
            raise TaxInputError(self.name(key), message("required"))
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self.take(key)
        if value is _MISSING:
            return default
        if not isinstance(value, bool):
            raise TaxInputError(self.name(key), "must be true or false")
        return value

    def text(self, key: str, default: str | None = None) -> str | None:
        """Return a text."""
        value = self.take(key)
        if value is _MISSING:
            return default
        if not isinstance(value, str):
            raise TaxInputError(self.name(key), "must be a text")
        return value

    def required_text(self, key: str) -> str:
        """Return a required text."""
        value = self.text(key)
        if value is None:
            raise TaxInputError(self.name(key), message("required"))
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self.take(key)
        if value is _MISSING:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise TaxInputError(self.name(key), "must be a list of texts")
        return tuple(cast("list[str]", value))

    def date(self, key: str) -> datetime.date | None:
        """Return a date."""
        value = self.text(key)
        if value is None:
            return None
        try:
            if _DATE.fullmatch(value) is None:
                raise ValueError
            return datetime.date.fromisoformat(value)
        except ValueError:
            raise TaxInputError(self.name(key), "must be a date YYYY-MM-DD") from None

    def amounts(self, key: str) -> dict[str, Decimal]:
        """Return amounts by line code."""
        value = self.take(key)
        if value is _MISSING:
            return {}
        if not isinstance(value, Mapping):
            raise TaxInputError(self.name(key), "must be an object of amounts by line code")
        return {str(code): _decimal(amount, f"{self.name(key)}.{code}") for code, amount in value.items()}

    def reader(self, key: str) -> "_Reader | None":
        """Return a reader of a nested object."""
        value = self.take(key)
        return None if value is _MISSING else _Reader(value, self.name(key))

    def mapping(self, key: str) -> Mapping[str, object]:
        """Return a nested object with its numbers as they are."""
        value = self.take(key)
        if value is _MISSING:
            return {}
        if not isinstance(value, Mapping):
            raise TaxInputError(self.name(key), "must be a JSON object")
        return cast("Mapping[str, object]", value)


def _decimal(value: object, field: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise TaxInputError(field, "must be a number")
    return Decimal(value)


def read_federal_certificate(data: object, path: str = "federal") -> FederalCertificate:
    """Read the entries of a Form W-4; raises `TaxInputError` naming the entry below ``path``."""
    reader = _Reader(data, path)
    status = reader.text("filing_status", "single") or "single"
    if status not in FEDERAL_STATUSES:
        raise TaxInputError(f"{path}.filing_status", f"must be one of {', '.join(FEDERAL_STATUSES)}")
    old = reader.reader("pre_2020")
    pre_2020 = None
    if old is not None:
        marital_status = old.text("marital_status", "single")
        if marital_status not in PRE_2020_STATUSES:
            raise TaxInputError(
                f"{path}.pre_2020.marital_status", f"must be one of {', '.join(PRE_2020_STATUSES)}"
            )
        allowances = old.take("allowances")
        if allowances is _MISSING:
            allowances = 0
        if isinstance(allowances, bool) or not isinstance(allowances, int):
            raise TaxInputError(f"{path}.pre_2020.allowances", "must be a whole number")
        old.close()
        pre_2020 = Pre2020Certificate(cast("Any", marital_status), allowances)
    zero = Decimal(0)
    certificate = FederalCertificate(
        elected=reader.flag("elected", True),
        filing_status=cast("Any", FEDERAL_STATUSES[status]),
        multiple_jobs=reader.flag("multiple_jobs", False),
        dependents_credit=reader.money("dependents_credit", zero) or zero,
        other_income=reader.money("other_income", zero) or zero,
        deductions=reader.money("deductions", zero) or zero,
        extra_withholding=reader.money("extra_withholding", zero) or zero,
        exempt=reader.flag("exempt", False),
        pre_2020=pre_2020,
        nonresident_alien=reader.flag("nonresident_alien", False),
    )
    reader.close()
    return certificate


def _frequency(name: str) -> str:
    return FREQUENCIES.get(name, name)


def _read_employer(reader: _Reader | None) -> EmployerProfile:
    if reader is None:
        return EmployerProfile()
    profile = EmployerProfile(
        sui_rate=reader.money("sui_rate", None),
        futa_liable=reader.flag("futa_liable", True),
        sui_liable=reader.flag("sui_liable", True),
        fica_liable=reader.flag("fica_liable", True),
        waived_lines=frozenset(reader.texts("waived_lines")),
    )
    reader.close()
    return profile


def read_paycheck_input(data: object) -> PaycheckInput:
    """Read a paycheck's JSON object; numbers must be ints or Decimals (``json.loads(parse_float=Decimal)``).

    Raises `TaxInputError` naming the field for anything missing, unknown, or of the wrong type.
    """
    reader = _Reader(data, "")
    pay_date = reader.date("pay_date")
    if pay_date is None:
        raise TaxInputError("pay_date", message("required"))
    method = reader.text("supplemental_method", "aggregate")
    if method not in ("aggregate", "flat"):
        raise TaxInputError("supplemental_method", "must be aggregate or flat")
    federal = reader.take("federal")
    request = PaycheckInput(
        pay_date=pay_date,
        period_start=reader.date("period_start"),
        period_end=reader.date("period_end"),
        pay_frequency=_frequency(reader.required_text("pay_frequency")),
        regular_wages=reader.required_money("regular_wages"),
        supplemental_wages=reader.money("supplemental_wages", Decimal(0)) or Decimal(0),
        supplemental_method=cast("Any", method),
        work_state=reader.required_text("work_state"),
        residence_state=reader.text("residence_state"),
        residence=reader.mapping("residence"),
        localities=reader.texts("localities"),
        annual_wages_expected=reader.money("annual_wages_expected", None),
        federal=FederalCertificate() if federal is _MISSING else read_federal_certificate(federal),
        state=reader.mapping("state"),
        employer=_read_employer(reader.reader("employer")),
        relationship=reader.text("relationship", "none") or "none",
        ytd=reader.amounts("ytd"),
        ytd_tax=reader.amounts("ytd_tax"),
        ytd_subject=reader.amounts("ytd_subject"),
    )
    reader.close()
    return request


def assumed(request: PaycheckInput) -> tuple[Assumption, ...]:
    """Return what is assumed about a paycheck that can be calculated, its period's length included.

    Raises `TaxInputError` naming ``period_end`` for a length that no period of the pay frequency can have.
    """
    start, end = request.period_start, request.period_end
    odd = check_period(start, end, request.pay_frequency, "period_end") if start and end else None
    return assumptions_of(request) if odd is None else (*assumptions_of(request), odd)


def write_paycheck(paycheck: Paycheck, assumptions: tuple[Assumption, ...] = ()) -> dict[str, object]:
    """Return a calculated paycheck as a JSON object; amounts and rates are Decimals.

    Assumptions are listed among its limitations.
    """
    messages = (*paycheck.messages, *(each.coded_message for each in assumptions))
    data: dict[str, object] = {
        "gross_pay": paycheck.gross_pay,
        "lines": [
            {
                "code": line.code,
                "name": line.name,
                "payer": line.payer,
                "agency": line.agency,
                "subject_wages": line.subject_wages,
                "taxable_wages": line.taxable_wages,
                "rate": line.rate,
                "amount": line.amount,
            }
            for line in paycheck.lines
        ],
        "employee_taxes": paycheck.employee_taxes,
        "employer_taxes": paycheck.employer_taxes,
        "net_pay": paycheck.net_pay,
        "total_cost": paycheck.total_cost,
        "rulebook": {"version": paycheck.rulebook.version, "tax_year": paycheck.rulebook.tax_year},
        "limitations": list(texts(messages)),
        "limitation_codes": list(map(coded, messages)),
    }
    if paycheck.provisional:
        data["provisional"] = list(paycheck.provisional)
    if paycheck.unknown:
        data["unknown"] = [each.code for each in paycheck.unknown]
    if paycheck.corrections:
        data["corrections"] = [
            {"code": each.code, "amount": each.amount, "carried": each.carried}
            for each in paycheck.corrections
        ]
    if paycheck.explanations:
        data["explanations"] = [_write_explanation(explanation) for explanation in paycheck.explanations]
    return data


def _write_explanation(explanation: LineExplanation) -> dict[str, object]:
    return {
        "code": explanation.code,
        "steps": [{"label": step.label, "value": step.value} for step in explanation.steps],
        "sources": [source._asdict() for source in explanation.sources],
        "confidence": explanation.confidence,
        "note": explanation.note,
    }
