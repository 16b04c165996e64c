"""The doctor's laws, asked in the middle of a life."""

from hearthpay.clock import Clock
from hearthpay.database.session import Database
from hearthpay.doctor.checks import CHECKS
from hearthpay.doctor.examination import examine
from hearthpay.doctor.proofs import PROOFS

_ASKED = ("autopilot_", "entries_", "histories", "overdue", "payroll_totals", "traces", "debits", "arrivals")
LAWS = tuple(law for law in (*CHECKS, *PROOFS) if law.__name__.startswith(_ASKED))


async def proved(
    owner: Database, clock: Clock, *, whole: bool = False, punctual: bool = True, settled: bool = True
) -> None:
    """Raise AssertionError for what breaks a law about payrolls, or with `whole` any law at all.

    Without `punctual` the worker may not have come yet; without `settled` money may wait for a person's decision.
    """
    laws = (*CHECKS, *PROOFS) if whole else LAWS
    laws = tuple(law for law in laws if punctual or not law.__name__.endswith("overdue"))
    laws = tuple(law for law in laws if settled or law.__name__ != "open_money")
    async with owner.transaction(None) as session:
        results = await examine(session, clock.now(), lambda *_: None, laws)
    broken = {result.name: result.differences for result in results if result.found}
    assert broken == {}, broken
