"""Reads the rule file of a state's local taxes."""

from collections.abc import Mapping
from typing import cast

from hearthpay.taxes.agencies import read_agency
from hearthpay.taxes.finality import read_finality
from hearthpay.taxes.local.choice import LocalTaxes
from hearthpay.taxes.local.methods import (
    ExclusionBands,
    Fee,
    FlatRate,
    LocalMethod,
    MonthlyFee,
    OwnTables,
    StateTaxSurcharge,
)
from hearthpay.taxes.local.places import CITIES, GOES_WITH, CertificatePlace, NotOwed, Unchosen
from hearthpay.taxes.local.tax import APPLIES_TO, LOCAL_HOUSEHOLD_RULES, LocalTax
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.vocabulary import LocalHouseholdRule, Payer
from hearthpay.taxes.withholding.per_period import read_per_period


def _read_bands(figures: RuleTable, periods: Mapping[str, int]) -> ExclusionBands:
    table = figures.table("bands")
    bands: dict[str, tuple[tuple[int, int | None], ...]] = {}
    for frequency in table:
        rows: list[tuple[int, int | None]] = []
        for row in table.tables(frequency):
            rows.append((row.cents("from"), row.optional_cents("exclusion")))
            row.close()
        bands[frequency] = tuple(reversed(rows))
    return ExclusionBands(figures.rate("rate"), bands, periods)


def _read_fee(figures: RuleTable, periods: Mapping[str, int]) -> Fee:
    weekly = figures.optional_cents("weekly")
    annual = figures.cents("annual") if weekly is None else weekly * periods["weekly"]
    return Fee(annual, weekly, figures.flag("rounded_down", default=False), periods)


def _read_method(kind: str, figures: RuleTable, periods: Mapping[str, int]) -> LocalMethod:
    method: LocalMethod
    match kind:
        case "per_period":
            return OwnTables(read_per_period(figures, periods))
        case "state_tax_surcharge":
            method = StateTaxSurcharge(figures.rate("rate"))
        case "exclusion_bands":
            method = _read_bands(figures, periods)
        case "fee":
            method = _read_fee(figures, periods)
        case "monthly_fee":
            method = MonthlyFee(figures.cents("amount"), figures.cents("minimum"), periods)
        case _:
            exemptions = figures.cents_by_key("exemptions") if "exemptions" in figures else {}
            each_rounded = figures.flag("each_exemption_rounded", default=False)
            method = FlatRate(figures.rate("rate"), exemptions, each_rounded, periods)
    figures.close()
    return method


METHODS = ("flat_rate", "fee", "monthly_fee", "per_period", "state_tax_surcharge", "exclusion_bands")


def _read_supplemental_rate(table: RuleTable, method: LocalMethod) -> int | None:
    """Return ``supplemental_rate``; without it, with ``supplemental_at_own_rate``, the rate of all wages."""
    own_rate = table.flag("supplemental_at_own_rate", default=False)
    rate = table.optional_rate("supplemental_rate")
    if rate is not None or not own_rate:
        return rate
    if not isinstance(method, FlatRate):
        raise table.error("supplemental_at_own_rate", "only a flat rate is the same for supplemental wages")
    return method.rate


def read_local_tax(state: str, table: RuleTable, periods: Mapping[str, int]) -> LocalTax:
    """Compile one ``[[local]]`` of a local rule file; raises `RuleError` naming what is wrong."""
    method = _read_method(table.choice("method", METHODS), table.table("figures"), periods)
    by_flag = "certificate_flag" in table
    single_field = table.optional_text("certificate_flag" if by_flag else "certificate_field")
    tax = LocalTax(
        state=state,
        locality=table.text("locality"),
        aliases=table.texts("aliases"),
        code=table.text("code"),
        name=table.text("name"),
        agency=read_agency(table, state),
        payer=cast("Payer", table.choice("payer", ("employee", "employer"), default="employee")),
        household=cast(
            "LocalHouseholdRule", table.choice("household", LOCAL_HOUSEHOLD_RULES, default="follows_state")
        ),
        applies_to=table.choice("applies_to", APPLIES_TO, default=""),
        group=table.optional_text("group"),
        note=table.text("note", default=""),
        certificate_fields=(single_field,) if single_field else table.texts("certificate_fields"),
        certificate_value=True if by_flag else table.optional_text("certificate_value"),
        less_city_of_work=table.flag("less_city_of_work", default=False),
        additional_field=table.optional_text("additional_field"),
        supplemental_rate=_read_supplemental_rate(table, method),
        year_maximum=table.optional_cents("year_maximum"),
        effective_from=table.effective_from(),
        effective_to=table.optional_date("effective_to"),
        sources=table.sources(),
        confidence=table.confidence(),
        method=method,
    )
    table.close()
    if tax.less_city_of_work and not isinstance(method, FlatRate):
        raise table.error("less_city_of_work", "only a flat rate can be lowered by another")
    return tax


def _read_unchosen(table: RuleTable) -> Unchosen:
    unchosen = Unchosen(
        table.text("code"),
        table.text("message"),
        table.texts("certificate_fields"),
        table.texts("groups"),
        table.choice("goes_with", GOES_WITH),
        table.optional_text("only_if"),
        table.choice("cities", CITIES, default=""),
    )
    table.close()
    return unchosen


def _read_place(table: RuleTable) -> CertificatePlace:
    place = CertificatePlace(
        table.text("locality"), table.texts("aliases"), table.text("field"), table.text("value")
    )
    table.close()
    return place


def _read_not_owed(table: RuleTable) -> NotOwed:
    tax = NotOwed(
        table.text("locality"),
        table.texts("aliases"),
        table.text("name"),
        table.text("reason"),
        table.sources(),
    )
    table.close()
    return tax


def read_local_taxes(
    state: str, table: RuleTable, periods: Mapping[str, int], kept: frozenset[str] = frozenset()
) -> LocalTaxes:
    """Compile a local rule file; raises `RuleError` naming what is wrong.

    ``kept`` are the codes of taxes whose figures are from the year before.
    """
    if table.text("state") != state:
        raise table.error("state", f"must be {state}, as the file is named")
    own = tuple(read_local_tax(state, entry, periods) for entry in table.tables("local"))
    taxes = LocalTaxes(
        state,
        own,
        tuple(_read_place(entry) for entry in table.tables("certificate_place")),
        tuple(_read_not_owed(entry) for entry in table.tables("not_owed")),
        tuple(_read_unchosen(entry) for entry in table.tables("unchosen")),
        read_finality(table, state, (tax.code for tax in own), kept),
    )
    table.close()
    return taxes
