"""The lines of one paycheck during its calculation, and the one way to append another."""

from hearthpay.taxes.heading import Heading
from hearthpay.taxes.messages import Message
from hearthpay.taxes.paycheck.result import Correction, LineExplanation, PaycheckLine
from hearthpay.taxes.trace import Source, Step, Trace

_new = tuple.__new__
"""Creates a line without its constructor, which would double the cost of a line."""


class Lines:
    """The lines so far with their totals, and the messages about them. Amounts are cents."""

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
        #: Employee's lines with what earlier wages of the year lack, or were overcharged: wages and tax.
        self.arrears: list[tuple[str, int, int]] = []
        self.corrections: list[Correction] = []
        self.explanations: list[LineExplanation] | None = [] if explain else None

    def add(self, heading: Heading, subject: int, taxable: int, rate: int | None, amount: int) -> None:
        """Append a line and add it to its payer's total; ``rate`` in billionths, if the tax has one."""
        columns = heading + (subject, taxable, rate, amount)  # noqa: RUF005  # unpacking takes twice as long
        self.entries.append(_new(PaycheckLine, columns))
        if heading.payer == "employee":
            self.employee += amount
        else:
            self.employer += amount

    def positions(self) -> dict[str, int]:
        """Return the position of each line."""
        return {line.code: position for position, line in enumerate(self.entries)}

    def change(self, position: int, taxable: int, amount: int) -> None:
        """Add to, or subtract from, the taxable wages and the amount of an employee's line."""
        line = self.entries[position]
        self.entries[position] = line._replace(
            taxable_wages_cents=line.taxable_wages_cents + taxable, amount_cents=line.amount_cents + amount
        )
        self.employee += amount

    def reduce(self, position: int, wages: int, amount: int) -> None:
        """Subtract wages and tax of other paychecks from a line that was calculated together with them."""
        line = self.entries[position]
        self.entries[position] = line._replace(
            subject_wages_cents=line.subject_wages_cents - wages,
            taxable_wages_cents=line.taxable_wages_cents - wages if line.taxable_wages_cents else 0,
            amount_cents=line.amount_cents - amount,
        )
        if line.payer == "employee":
            self.employee -= amount
        else:
            self.employer -= amount

    def move_to_end(self, start: int, end: int) -> int:
        """Move the lines from position ``start`` to before ``end`` after all others; return where they begin then."""
        entries = self.entries
        others = entries[end:]
        if others:
            del entries[end:]
            entries[start:start] = others
        return start + len(others)

    def trace(self) -> Trace | None:
        """Return a recorder for the steps of a line; None if no explanation was requested."""
        return None if self.explanations is None else Trace()

    def explain(
        self, code: str, trace: Trace | None, sources: tuple[Source, ...], confidence: str, note: str
    ) -> None:
        """Keep the explanation of a line, if one was requested."""
        if trace is not None and self.explanations is not None:
            self.explanations.append(LineExplanation(code, tuple(trace.steps), sources, confidence, note))

    def add_steps(self, code: str, steps: tuple[Step, ...]) -> None:
        """Add last steps to the explanation of a line, if one was requested."""
        if self.explanations is not None:
            self.explanations = [
                each._replace(steps=each.steps + steps) if each.code == code else each
                for each in self.explanations
            ]

    def explanations_by_line(self) -> tuple[LineExplanation, ...]:
        """Return the explanations in the order of the lines."""
        if not self.explanations:
            return ()
        by_code = {explanation.code: explanation for explanation in self.explanations}
        return tuple(by_code[line.code] for line in self.entries)
