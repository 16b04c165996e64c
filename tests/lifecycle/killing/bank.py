"""The bank behind the folder: it reads what is delivered, and sends back what it was told to refuse."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import date, datetime

from hearthpay.banking.calendar import previous_banking_day
from hearthpay.banking.nacha.reader import parse_nacha
from hearthpay.banking.nacha.records import PAYROLL, RETRY, Entry, NachaFile
from hearthpay.banking.nacha.returns import Rejection, build_returns
from tests.lifecycle.killing.place import Place


@dataclass(frozen=True, slots=True)
class Answer:
    """A return file to come: its name, the file whose payments come back, and which of them."""

    name: str
    file: NachaFile
    refusals: list[Rejection]


@dataclass
class RefusingBank:
    """Refuses so many payments of each kind.

    On the day after a debit was to settle: for want of money, and of those that are presented again every second one;
    because the account is closed; because nobody authorized it. The last also once the debit counts as collected and
    before the wages leave. A credit, on the day after it was to settle.
    """

    place: Place
    chance: random.Random
    each: int
    #: The return code of each trace number.
    refused: dict[str, str] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)

    def files(self) -> dict[str, NachaFile]:
        """What has been delivered."""
        return {path.name: parse_nacha(path.read_bytes()) for path in sorted(self.place.outbox.glob("*"))}

    def answer(self, day: date, now: datetime) -> int:
        """Leave the return files of the day in the inbox; returns how many payments come back."""
        answers = self.answers(day, parts=1)
        for each in answers:
            self.leave(each, now)
        return sum(len(each.refusals) for each in answers)

    def answers(self, day: date, *, parts: int) -> list[Answer]:
        """What comes back on the day of each file, in at most so many return files for each."""
        refused = [(name, file, self._refusals(file, day)) for name, file in self.files().items()]
        return [
            Answer(f"returns-{day:%m%d}-{part}-of-{name}", file, refusals[part::parts])
            for name, file, refusals in refused
            for part in range(min(parts, len(refusals)))
        ]

    def leave(self, answer: Answer, now: datetime) -> None:
        """Leave a return file in the inbox."""
        self.refused |= {each.trace: each.code for each in answer.refusals}
        path = self.place.inbox / answer.name
        draft = path.with_suffix(".part")
        draft.write_bytes(build_returns(answer.file, answer.refusals, created_at=now))
        draft.rename(path)

    def _refusals(self, file: NachaFile, day: date) -> list[Rejection]:
        yesterday = previous_banking_day(day)
        third_day = previous_banking_day(previous_banking_day(yesterday))
        debits: list[Entry] = []
        again: list[Entry] = []
        credits_: list[Entry] = []
        late: list[Entry] = []
        for batch in file.batches:
            fresh = batch.effective_date == yesterday
            for entry in batch.entries:
                if entry.code.is_debit and batch.description == RETRY:
                    again += [entry] if fresh else []
                elif entry.code.is_debit:
                    debits += [entry] if fresh else []
                    late += [entry] if batch.effective_date == third_day else []
                elif fresh and batch.description == PAYROLL:
                    credits_.append(entry)
        refusals = [Rejection(entry.trace, "R01") for entry in again[::2]]
        for entries, codes in ((debits, ("R01", "R02", "R10")), (credits_, ("R03",))):
            chosen = self.chance.sample(entries, min(len(entries), self.each * len(codes)))
            refusals += [
                Rejection(entry.trace, codes[number % len(codes)]) for number, entry in enumerate(chosen)
            ]
        standing = [entry for entry in late if entry.trace not in self.refused]
        for entry in self.chance.sample(standing, min(len(standing), self.each)):
            self.late.add(entry.trace)
            refusals.append(Rejection(entry.trace, "R10"))
        return refusals
