"""The wage file EFW2 that the Social Security Administration accepts instead of Forms W-2 on paper: writing and
reading it.

The layout follows Publication 42-007, as data (``layout.toml``); `Efw2Layout.status` says what is missing for a year.
"""

from hearthpay.documents.efw2.layout import Efw2Layout, efw2_layout
from hearthpay.documents.efw2.reader import Efw2File, read_efw2
from hearthpay.documents.efw2.record import Efw2Error, Efw2Record
from hearthpay.documents.efw2.submission import Submission, SubmissionError, SubmissionProblem, Submitter
from hearthpay.documents.efw2.writer import write_efw2

__all__ = [
    "Efw2Error",
    "Efw2File",
    "Efw2Layout",
    "Efw2Record",
    "Submission",
    "SubmissionError",
    "SubmissionProblem",
    "Submitter",
    "efw2_layout",
    "read_efw2",
    "write_efw2",
]
