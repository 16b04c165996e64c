"""Writes the wage file EFW2 of a household's year, and reads it back before anyone gets it."""

from typing import Final

from hearthpay.documents.efw2.layout import efw2_layout
from hearthpay.documents.efw2.reader import read_efw2
from hearthpay.documents.efw2.record import Efw2Value, write_record
from hearthpay.documents.efw2.records.employee import employee_record
from hearthpay.documents.efw2.records.employee_more import more_record
from hearthpay.documents.efw2.records.employer import employer_record
from hearthpay.documents.efw2.records.final import final_record
from hearthpay.documents.efw2.records.state import state_records
from hearthpay.documents.efw2.records.submitter import submitter_record
from hearthpay.documents.efw2.records.total import total_record
from hearthpay.documents.efw2.records.total_more import total_more_record
from hearthpay.documents.efw2.submission import Submission, check

LINE_END: Final = "\r\n"


def write_efw2(submission: Submission) -> bytes:
    """Return the file: ASCII, 512 characters per record and a line end after each.

    Raises `SubmissionError` for what is missing or doesn't fit, `FormNotKnownError` for a year without a layout, and
    `Efw2Error` if the SSA would refuse the figures.
    """
    layout = efw2_layout(submission.tax_year)
    check(submission, layout)
    records: list[tuple[str, dict[str, Efw2Value]]] = [
        ("RA", submitter_record(submission)),
        ("RE", employer_record(submission)),
    ]
    rows, more = [], []
    for form, employee in submission.forms:
        row = employee_record(form, employee, layout)
        rows.append(row)
        records.append(("RW", row))
        other = more_record(form, layout)
        if other is not None:
            more.append(other)
            records.append(("RO", other))
        accounts = submission.household.state_accounts
        records += [("RS", fields) for fields in state_records(form, employee, accounts, layout)]
    records.append(("RT", total_record(rows, layout)))
    if more:
        records.append(("RU", total_more_record(more, layout)))
    records.append(("RF", final_record(len(rows))))
    lines = [write_record(layout, kind, fields) + LINE_END for kind, fields in records]
    written = "".join(lines).encode("ascii")
    read_efw2(written)
    return written
