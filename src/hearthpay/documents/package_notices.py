"""The notice to the household that a package of a year's documents is ready."""

from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.documents.archive import ArchivedFile
from hearthpay.documents.models import DocumentPackage
from hearthpay.employers.models import Employer
from hearthpay.languages.catalogue import mark
from hearthpay.mail.letter import letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice
from hearthpay.mail.wording import name_in_mail
from hearthpay.people.recipients import NoticeReader, addressed, readers_of_households

_SUBJECT: Final = mark("Your {year} documents are ready")
_HAPPENED: Final = mark(
    "The file with all {year} documents of {household} is ready ({papers} in total). Sign in "
    "to Hearthpay and open “Documents for the year” to download it."
)
_HOUSEHOLD: Final = mark("Your household")
_NEVER: Final = mark("We never email these documents, because they contain tax numbers.")


async def package_notices(
    session: AsyncSession, package: DocumentPackage, kept: ArchivedFile
) -> list[Notice]:
    """Return the notices of a finished package to the household's readers, once for each version; the session is the
    worker's.
    """
    employer = await session.get_one(Employer, package.employer_id)
    name = (employer.first_name, employer.last_name)
    readers = await readers_of_households(session, [package.employer_id])
    notice = Notice(
        f"package:{kept.document.id}",
        "package_ready",
        "household",
        None,
        package.organization_id,
        package.employer_id,
        package.sandbox,
    )
    return addressed(
        notice,
        readers.get(package.employer_id, ()),
        lambda reader: package_ready_mail(reader, name, package.tax_year, package.papers),
        "documents",
    )


def package_ready_mail(to: NoticeReader, household: tuple[str, ...], year: int, papers: int) -> Mail:
    """The notice that the package is ready, and where to get it; ``household`` is its name, in one or more parts."""
    say = to.say
    name = name_in_mail(*household) or say(_HOUSEHOLD)
    lines = (say(_HAPPENED, household=name, year=year, papers=papers), say(_NEVER))
    return letter(to.address, to.language, say(_SUBJECT, year=year), "", lines, place=to.place)
