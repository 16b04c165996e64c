"""Laws of the schema itself: it is the one that the migrations make, with its rights and guards."""

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.catalog.inspection import inspect_schema
from hearthpay.database.catalog.words import ToldDifference
from hearthpay.doctor.difference import Difference
from hearthpay.security.key_ring import KeyRing


async def schema(session: AsyncSession, _ring: KeyRing | None) -> list[Difference]:
    """Tables, policies, functions, rights and roles are those that the migrations make."""
    report = await inspect_schema(session)
    told = [report.describe(each) for each in report.wrong]
    return [Difference(each.subject, None, each.what, each.recorded, _with_remedy(each)) for each in told]


async def schema_additions(session: AsyncSession) -> list[str]:
    """Return what an administrator has added beside the schema, each in one line: it is no difference."""
    report = await inspect_schema(session)
    return [report.describe(each).subject for each in report.additions]


def _with_remedy(told: ToldDifference) -> str:
    return f"{told.expected} ({told.remedy})" if told.remedy else told.expected
