"""The lines of one paycheck while it is calculated, and the one way to append another."""

from hearthpay.taxes.heading import Heading
from hearthpay.taxes.messages import Message
from hearthpay.taxes.paycheck.result import Correction, LineExplanation, PaycheckLine
from hearthpay.taxes.trace import Source, Trace

_new = tuple.__new__
"""Makes a line without the detour through its constructor, which would double what a line costs."""


class Lines:
    """The lines so far with their sums, and what is to be told about them. Amounts are cents."""

    __slots__ = (
        "arrears",
        "corrections",
        "employee",
        "employer",
        "entries",
        "explanations",
        "limitations",
    )

    def __init__(self, explain: bool) -> None:
        self.entries: list[PaycheckLine] = []
        self.employee = 0
        self.employer = 0
        self.limitations: list[Message] = []
        #: Employee's lines with what earlier wages of the year lack, or were charged too much: wages and tax.
        self.arrears: list[tuple[str, int, int]] = []
        self.corrections: list[Correction] = []
        self.explanations: list[LineExplanation] | None = [] if explain else None

    def add(self, heading: Heading, subject: int, taxable: int, rate: int | None, amount: int) -> None:
        """Append a line and count it in its payer's sum; ``rate`` in billionths, where the tax has one."""
        columns = heading + (subject, taxable, rate, amount)  # noqa: RUF005  # unpacking takes twice as long
        self.entries.append(_new(PaycheckLine, columns))
        if heading.payer == "employee":
            self.employee += amount
        else:
            self.employer += amount

    def positions(self) -> dict[str, int]:
        """Return where each line stands."""
        return {line.code: position for position, line in enumerate(self.entries)}

    def change(self, position: int, taxable: int, amount: int) -> None:
        """Add to the taxable wages and the amount of an employee's line, or take from them."""
        line = self.entries[position]
        self.entries[position] = line._replace(
            taxable_wages_cents=line.taxable_wages_cents + taxable, amount_cents=line.amount_cents + amount
        )
        self.employee += amount

    def move_to_end(self, start: int, end: int) -> int:
        """Put the lines from position ``start`` to before ``end`` behind all others; return where they begin then."""
        entries = self.entries
        if end < len(entries):
            entries[start:] = entries[end:] + entries[start:end]
        return len(entries) - (end - start)

    def trace(self) -> Trace | None:
        """Return what records the steps of a line; None where nobody asked for an explanation."""
        return None if self.explanations is None else Trace()

    def explain(
        self, code: str, trace: Trace | None, sources: tuple[Source, ...], confidence: str, note: str
    ) -> None:
        """Keep the explanation of a line, if one was asked for."""
        if trace is not None and self.explanations is not None:
            self.explanations.append(LineExplanation(code, tuple(trace.steps), sources, confidence, note))

    def explanations_by_line(self) -> tuple[LineExplanation, ...]:
        """Return the explanations in the order of the lines."""
        if not self.explanations:
            return ()
        by_code = {explanation.code: explanation for explanation in self.explanations}
        return tuple(by_code[line.code] for line in self.entries)
