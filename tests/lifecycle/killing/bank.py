"""The bank behind the folder: it reads what is delivered, and sends back what it was told to refuse."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import date, datetime

from hearthpay.banking.calendar import previous_banking_day
from hearthpay.banking.nacha.reader import parse_nacha
from hearthpay.banking.nacha.records import PAYROLL, RETRY, Entry, NachaFile
from hearthpay.banking.returns import Rejection, build_returns
from tests.lifecycle.killing.place import Place


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
        count = 0
        for name, file in self.files().items():
            answers = self._refusals(file, day)
            if not answers:
                continue
            self.refused |= {each.trace: each.code for each in answers}
            count += len(answers)
            path = self.place.inbox / f"returns-{day:%m%d}-of-{name}"
            draft = path.with_suffix(".part")
            draft.write_bytes(build_returns(file, answers, created_at=now))
            draft.rename(path)
        return count

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
