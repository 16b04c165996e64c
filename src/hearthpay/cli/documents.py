"""`hearthpay documents`: pay stubs and the year's documents, written to files that only their owner can read."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

import typer

from hearthpay.cli.household_clock import clock_for_changing
from hearthpay.cli.operator import DataDir, refuse, run_with_keys

if TYPE_CHECKING:
    from hearthpay.access.refusal import Refusal
    from hearthpay.documents.archive import ArchivedFile
    from hearthpay.documents.commands import IssueCommand
    from hearthpay.documents.paper import Paper
    from hearthpay.security.key_ring import KeyRing

_MODE: Final = 0o600

documents = typer.Typer(
    help="Issuing pay stubs and the year's papers, and writing them to files.", no_args_is_help=True
)

_Household = Annotated[str, typer.Argument(help="The household's id.")]
_Year = Annotated[int, typer.Option("--year", help="The tax year.")]
_Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="The file, or the directory, to write to; default: its own name, here."
    ),
]
_Yes = Annotated[bool, typer.Option("--yes", help="Replace a file that is there without asking.")]
_UserId = Annotated[
    str | None, typer.Option(help="The user id that the SSA's Business Services Online assigned.")
]
_Phone = Annotated[str | None, typer.Option(help="Where the SSA may ask.")]


@documents.command("paystub")
def paystub(
    employer: _Household,
    payroll: Annotated[str, typer.Option(help="The payroll's id.")],
    employee: Annotated[
        str | None, typer.Option(help="The employee's id; needed where it paid several.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="en or es; left out, the employee's.")] = None,
    copy: Annotated[str, typer.Option(help="employee or household.")] = "employee",
    output: _Output = None,
    yes: _Yes = False,
    data_dir: DataDir = None,
) -> None:
    """Write the pay stub of a completed payroll."""
    request = {"payroll_id": payroll, "employee_id": employee, "language": language, "copy": copy}
    _write("PaystubRequest", employer, request, output, data_dir, yes=yes)


@documents.command("w2")
def w2(
    employer: _Household,
    employee: Annotated[str, typer.Option(help="The employee's id.")],
    year: _Year,
    copy: Annotated[
        str, typer.Option(help="employee (B, C and 2), household (D) or state (1).")
    ] = "employee",
    state: Annotated[
        str | None, typer.Option(help="Of the state's copy, where the form names several.")
    ] = None,
    output: _Output = None,
    yes: _Yes = False,
    data_dir: DataDir = None,
) -> None:
    """Write a Form W-2."""
    request = {"employee_id": employee, "tax_year": year, "copy": copy, "state": state}
    _write("W2Request", employer, request, output, data_dir, yes=yes)


@documents.command("w3")
def w3(
    employer: _Household, year: _Year, output: _Output = None, yes: _Yes = False, data_dir: DataDir = None
) -> None:
    """Write the Form W-3 of a year."""
    _write("W3Request", employer, {"tax_year": year}, output, data_dir, yes=yes)


@documents.command("schedule-h")
def schedule_h(
    employer: _Household, year: _Year, output: _Output = None, yes: _Yes = False, data_dir: DataDir = None
) -> None:
    """Write the Schedule H of a year."""
    _write("ScheduleHRequest", employer, {"tax_year": year}, output, data_dir, yes=yes)


@documents.command("efw2")
def efw2(
    employer: _Household,
    year: _Year,
    user_id: _UserId = None,
    phone: _Phone = None,
    output: _Output = None,
    yes: _Yes = False,
    data_dir: DataDir = None,
) -> None:
    """Write the wage file of a year for the SSA."""
    request = {"tax_year": year, "submitter": _submitter(user_id, phone)}
    _write("Efw2Request", employer, request, output, data_dir, yes=yes)


@documents.command("year")
def year_package(
    employer: _Household,
    year: _Year,
    user_id: _UserId = None,
    phone: _Phone = None,
    output: _Output = None,
    yes: _Yes = False,
    data_dir: DataDir = None,
) -> None:
    """Write everything of a year in one ZIP; with the SSA's user id and a phone number the wage file too."""
    submitter = _submitter(user_id, phone) if user_id or phone else None
    request = {"tax_year": year, "submitter": submitter}
    _write("YearPackageRequest", employer, request, output, data_dir, yes=yes)


def _submitter(user_id: str | None, phone: str | None) -> dict[str, str | None]:
    if user_id is None or phone is None:
        refuse("--user-id and --phone are needed: the SSA takes no file without them")
    return {"user_id": user_id, "phone": phone}


def _write(
    request: str,
    employer: str,
    told: dict[str, Any],
    output: Path | None,
    data_dir: Path | None,
    *,
    yes: bool,
) -> None:
    """Issue the paper and write it; an existing file is replaced only when asked for."""
    requested = _parsed(request, {"employer_id": employer, **told})
    kept, notes = run_with_keys(data_dir, lambda opened, ring: _issue(opened, ring, requested))
    name = kept.document.file_name
    path = Path(name) if output is None else (output / name if output.is_dir() else output)
    if path.exists() and not yes:
        typer.confirm(f"{path} is there already. Replace it?", abort=True, err=True)
    save(path, kept.content)
    typer.echo(f"{path}  version {kept.document.version}")
    for note in notes:
        typer.echo(f"hearthpay: {note}", err=True)


def save(path: Path, content: bytes) -> None:
    """Write a file that its owner alone may read, whole or not at all; one that is there is replaced."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _parsed(request: str, told: dict[str, Any]) -> "IssueCommand":
    from pydantic import ValidationError

    from hearthpay.documents import schemas
    from hearthpay.wire.problems import problems_of

    try:
        model = getattr(schemas, request).model_validate(
            {name: value for name, value in told.items() if value is not None}
        )
    except ValidationError as error:
        findings = error.errors(include_url=False, include_input=False)
        refuse("; ".join(f"{each.field}: {each.message}" for each in problems_of(findings)))
    requested: IssueCommand = model.to_command()
    return requested


async def _issue(opened: Any, ring: "KeyRing", requested: "IssueCommand") -> "tuple[ArchivedFile, list[str]]":
    """Issue the paper; return it, and what it lacks although it can be issued. Refuses with how to supply the rest."""
    from uuid_utils.compat import uuid7

    from hearthpay.access.actor import Actor
    from hearthpay.access.refusal import Refusal
    from hearthpay.documents.issuing import issue
    from hearthpay.documents.packing import package_file
    from hearthpay.documents.service import Prepared, prepare_documents
    from hearthpay.employers.models import Employer

    async with opened.as_operator() as operator:
        transaction: Callable[[], Any] = partial(operator.transaction, None)
        household = requested.employer_id
        assert isinstance(household, UUID)
        async with transaction() as session:
            employer = await session.get(Employer, household)
            if employer is None:
                refuse("there is no such household")
            clock = await clock_for_changing(session, household)
        actor = Actor.operator(
            employer.organization_id, sandbox=employer.sandbox, request_id=f"cli-{uuid7()}"
        )

        notes: list[str] = []

        async def prepare(session: Any) -> Prepared:
            prepared = await prepare_documents(session, ring, actor, clock, requested)
            notes[:] = _left_out(household, prepared.papers)
            return prepared

        try:
            kept = await issue(transaction, ring, clock, actor, prepare)
            if kept.document.kind == "year_package":
                parts = [part async for part in package_file(transaction, ring, kept)]
                kept = replace(kept, content=b"".join(parts))
            return kept, notes
        except Refusal as refusal:
            refuse("\n  ".join([refusal.message, *_how_to_supply(refusal)]))


def _left_out(household: UUID, papers: "Sequence[Paper]") -> list[str]:
    """Return what papers that can be issued say nothing of, and how each is supplied."""
    from hearthpay.documents.facts import read_facts

    notes: dict[str, None] = {}  # in their order, each once: a person's form has several copies
    kinds = {paper.kind for paper in papers}
    for paper in papers:
        facts = read_facts(paper.facts) if paper.kind in ("w2", "year_cover") else {}
        if paper.kind == "w2" and facts["employee"]["ssn"] is None:
            notes[
                f"{facts['employee']['first_name']} {facts['employee']['last_name']}'s Social Security number is not "
                'on file, and the Form W-2 says "Applied For". The employee types it behind a link, which '
                f"/app/{household}/employees/{paper.employee_id}/invitations sends "
                f"(POST /api/v1/employees/{paper.employee_id}/invite with `tax_info`)."
            ] = None
        notes |= dict.fromkeys(facts.get("remarks", ()))
    if "year_cover" in kinds and "efw2" not in kinds:
        notes[
            "For the wage file, give --user-id and --phone; the EIN is kept by "
            f"`hearthpay households ein {household}`."
        ] = None
    return list(notes)


def _how_to_supply(refusal: "Refusal") -> "Iterator[str]":
    """Yield, for each fact that a document lacks, a line that says how to supply it."""
    details = refusal.details if isinstance(refusal.details, dict) else {}
    for each in details.get("missing", ()):
        yield f"{each['field']}: {each['how']}"
