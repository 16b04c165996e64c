"""Makes the documents of a household's year: which figures and parties each shows, and how it is drawn. Pure; no I/O.

The drawing code is imported when the first document is drawn: a process that issues none never loads the compiler.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from hearthpay.documents.availability import not_available, wage_file_problems
from hearthpay.documents.commands import IssuePaystub, WageFileSubmitter
from hearthpay.documents.facts import facts_of
from hearthpay.documents.figures.figure import Remark
from hearthpay.documents.figures.schedule_h import ScheduleH
from hearthpay.documents.figures.stub import PayStub
from hearthpay.documents.figures.w2 import W2
from hearthpay.documents.figures.w3 import W3
from hearthpay.documents.identity import EmployeeIdentity, HouseholdIdentity, PaperMarks
from hearthpay.documents.issued_figures import employee_of_json, w2_of_json, w3_of_json
from hearthpay.documents.paper import Paper, PaperCorrection, file_name_of
from hearthpay.duties.office_days import office_day_on_or_after

_SSA: Final = "Social Security Administration, Business Services Online"


class Setting(NamedTuple):
    """What all documents of one request share: whose they are, how they are marked, and on which day they are made."""

    employer_id: UUID
    household: HouseholdIdentity
    today: datetime.date
    test: bool


class FormOfPerson(NamedTuple):
    """A person's Form W-2, with the parties on it."""

    form: W2
    employee: EmployeeIdentity


def paystub_paper(
    setting: Setting,
    work_out: Callable[[], PayStub],
    employee: EmployeeIdentity,
    employee_id: UUID,
    requested: IssuePaystub,
) -> Paper:
    """Return a pay stub in the requested language, or English.

    It is calculated for its facts, and again when it is drawn, so that a year's stubs, each with the figures of all
    earlier paychecks, are not in memory together. An issued stub stays as it is when a party moves: an address counts
    only if there was none before.
    """
    language = requested.language or "en"
    stub = work_out()

    def draw(marks: PaperMarks) -> bytes:
        from hearthpay.documents.papers import pay_stub

        return pay_stub(
            work_out(),
            household=setting.household,
            employee=employee,
            marks=marks,
            language=language,
            file_copy=requested.copy == "household",
            letterhead=requested.letterhead,
            note=requested.note,
        )

    facts = {
        "stub": stub,
        "names": (setting.household.name, employee.name),
        "addresses": (setting.household.address is not None, employee.address is not None),
        "number": employee.ssn,
        "letterhead": requested.letterhead,
        "note": requested.note,
    }
    return Paper(
        kind="paystub",
        subject_id=stub.paycheck_id,
        tax_year=stub.pay_date.year,
        variant=f"{requested.copy}-{language}",
        file_name=file_name_of(
            "pay-stub",
            stub.pay_date,
            stub.employee_name,
            "household" if requested.copy == "household" else "",
            "es" if language == "es" else "",
            test=setting.test,
        ),
        facts=facts_of(facts),
        draw=draw,
        title=f"Pay stub of {stub.employee_name}, {stub.pay_date}",
        employee_id=employee_id,
        payroll_id=stub.payroll_id,
    )


def with_remarks(form: W2, remarks: Sequence[Remark]) -> W2:
    """Return the form with further remarks about the year for its reader."""
    return replace(form, remarks=(*form.remarks, *remarks))


def w2_paper(setting: Setting, each: FormOfPerson, copy: str, state: str | None = None) -> Paper:
    """Return a copy of a Form W-2: the employee's three on a sheet, the household's, or a state's."""
    form, employee = each
    said = form if copy == "household" else replace(form, remarks=())  # its copy alone shows them
    place = {"employee": "employee", "household": "household", "state": f"state-{state}"}[copy]

    def draw(marks: PaperMarks) -> bytes:
        from hearthpay.documents.papers import w2_for_employee, w2_for_household, w2_for_state

        shown: dict[str, Any] = {"household": setting.household, "employee": employee, "marks": marks}
        if copy == "state":
            assert state is not None
            return w2_for_state(form, state=state, **shown)
        return (w2_for_employee if copy == "employee" else w2_for_household)(form, **shown)

    return Paper(
        kind="w2",
        subject_id=form.person_id,
        tax_year=form.tax_year,
        variant=place,
        file_name=file_name_of(
            "w2",
            form.tax_year,
            employee.name,
            "" if copy == "employee" else f"{place}-copy",
            test=setting.test,
        ),
        facts=facts_of({"form": said, "household": setting.household, "employee": employee}),
        draw=draw,
        title=f"Form W-2 of {employee.name}, {_COPIES[copy].format(state=state)}",
        employee_id=form.person_id,
        correction=_w2_correction(setting, each, copy) if copy != "state" else None,
    )


_COPIES = {"employee": "copies B, C and 2", "household": "copy D", "state": "copy 1 for {state}"}


def _w2_correction(setting: Setting, each: FormOfPerson, copy: str) -> PaperCorrection | None:
    """Return how to make a Form W-2c; None until the year ends, since nothing was filed for it yet."""
    form, employee = each
    if form.tax_year >= setting.today.year:
        return None

    def draw(before: Any, marks: PaperMarks) -> bytes | None:
        from hearthpay.documents.papers import w2c

        try:
            return w2c(
                w2_of_json(before["form"]),
                form,
                household=setting.household,
                employee=employee,
                marks=marks,
                employee_before=employee_of_json(before["employee"]),
                for_employee=copy == "employee",
            )
        except ValueError:  # nothing that the form shows has changed
            return None

    name = file_name_of(
        "w2c", form.tax_year, employee.name, "" if copy == "employee" else "household-copy", test=setting.test
    )
    return PaperCorrection("w2c", name, draw)


def w3_paper(setting: Setting, form: W3) -> Paper:
    """Return a Form W-3."""

    def draw(marks: PaperMarks) -> bytes:
        from hearthpay.documents.papers import w3

        return w3(form, household=setting.household, marks=marks)

    def correct(before: Any, marks: PaperMarks) -> bytes | None:
        from hearthpay.documents.papers import w3c

        try:
            return w3c(w3_of_json(before["form"]), form, household=setting.household, marks=marks)
        except ValueError:  # nothing that the form shows has changed
            return None

    over = form.tax_year < setting.today.year
    return Paper(
        kind="w3",
        subject_id=setting.employer_id,
        tax_year=form.tax_year,
        variant="household",
        file_name=file_name_of("w3", form.tax_year, test=setting.test),
        facts=facts_of({"form": form, "household": setting.household}),
        draw=draw,
        title="Form W-3",
        correction=PaperCorrection("w3c", file_name_of("w3c", form.tax_year, test=setting.test), correct)
        if over
        else None,
    )


def schedule_h_paper(setting: Setting, form: ScheduleH) -> Paper:
    """Return a Schedule H; refuses one that doesn't have to be filed."""
    if not form.required:
        raise not_available(
            "not_required",
            f"No Schedule H is due for {form.tax_year}: no wages reach a threshold, and no income tax was withheld.",
            tax_year=form.tax_year,
        )

    def draw(marks: PaperMarks) -> bytes:
        from hearthpay.documents.papers import schedule_h

        return schedule_h(form, household=setting.household, marks=marks)

    return Paper(
        kind="schedule_h",
        subject_id=setting.employer_id,
        tax_year=form.tax_year,
        variant="household",
        file_name=file_name_of("schedule-h", form.tax_year, test=setting.test),
        facts=facts_of({"form": form, "household": setting.household}, parts=True),
        draw=draw,
        title="Schedule H (Form 1040)",
    )


def wage_file_paper(
    setting: Setting, tax_year: int, forms: Sequence[FormOfPerson], submitter: WageFileSubmitter
) -> Paper:
    """Return the file in which the SSA accepts the year's Forms W-2."""

    def draw(_: PaperMarks) -> bytes:
        from hearthpay.documents.efw2 import Submission, SubmissionError, Submitter, write_efw2

        sender = Submitter(
            user_id=submitter.user_id,
            contact_name=submitter.contact_name or setting.household.name,
            phone=submitter.phone,
            email=submitter.email or setting.household.email,
        )
        pairs = [(each.form, each.employee) for each in forms]
        try:
            return write_efw2(Submission(tax_year, setting.household, pairs, sender))
        except SubmissionError as error:
            raise wage_file_problems(error.problems, setting.employer_id) from None

    facts: Mapping[str, object] = {
        "forms": tuple((replace(each.form, remarks=()), each.employee) for each in forms),
        "household": setting.household,
        "submitter": asdict(submitter),
    }
    return Paper(
        kind="efw2",
        subject_id=setting.employer_id,
        tax_year=tax_year,
        variant="household",
        file_name=file_name_of("efw2", tax_year, end="txt", test=setting.test),
        facts=facts_of(facts),
        draw=draw,
        title="Wage file for the SSA (EFW2)",
    )


def cover_paper(setting: Setting, tax_year: int, papers: Sequence[Paper], remarks: Sequence[str]) -> Paper:
    """Return the cover sheet of a year's package: what is in it and what to do with each."""
    return Paper(
        kind="year_cover",
        subject_id=setting.employer_id,
        tax_year=tax_year,
        variant="household",
        file_name=file_name_of("cover", tax_year, test=setting.test),
        facts=facts_of(
            {
                "papers": [(paper.kind, paper.file_name, paper.title) for paper in papers],
                "uses": _uses(papers, tax_year),
                "remarks": remarks,
                "household": setting.household,
            }
        ),
        draw=partial(_draw_cover, setting, tax_year, papers, remarks),
        title="Cover sheet",
    )


def _draw_cover(
    setting: Setting, tax_year: int, papers: Sequence[Paper], remarks: Sequence[str], marks: PaperMarks
) -> bytes:
    from hearthpay.documents.papers import PackageItem, year_cover

    items = [PackageItem(**use) for use in _uses(papers, tax_year)]
    return year_cover(tax_year, items, household=setting.household, marks=marks, remarks=remarks)


def _uses(papers: Sequence[Paper], tax_year: int) -> list[dict[str, Any]]:
    """Return what to do with each document, and by when, as a cover sheet lists it.

    Forms W-2 go to the Social Security Administration whether or not the package has a file for them.
    """
    wages = office_day_on_or_after(datetime.date(tax_year + 1, 1, 31), "dc")
    uses = [_use_of(paper, tax_year, wages) for paper in papers]
    if any(paper.kind == "w2" for paper in papers) and all(paper.kind != "efw2" for paper in papers):
        uses.append(
            {
                "file_name": "",
                "title": "Forms W-2 and W-3, entered online",
                "use": "file",
                "to": _SSA,
                "due": wages,
            }
        )
    return uses


def _use_of(paper: Paper, tax_year: int, wages: datetime.date) -> dict[str, Any]:
    """Return what to do with a document; ``wages`` is when Forms W-2 are due. No copy here is scanned by an agency."""
    use: dict[str, Any] = {"file_name": paper.file_name, "title": paper.title, "use": "records"}
    if paper.kind == "w2" and paper.variant == "employee":
        use |= {
            "use": "hand_out",
            "to": paper.title.removeprefix("Form W-2 of ").split(",")[0],
            "due": wages,
        }
    elif paper.kind == "w2" and paper.variant.startswith("state-"):
        use |= {"use": "file", "to": paper.variant.removeprefix("state-")}
    elif paper.kind == "schedule_h":
        due = office_day_on_or_after(datetime.date(tax_year + 1, 4, 15), "dc")
        use |= {"use": "file", "to": "IRS, with Form 1040", "due": due}
    elif paper.kind == "efw2":
        use |= {"use": "upload", "to": _SSA, "due": wages}
    return use
