"""Somebody who keeps a household: chooses from lists, unfolds, downloads papers, and has the effort counted.

Labels are found by how they begin, since help and `(optional)` stand beside them.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Locator, expect

from tests.people.visitors import MARIA, PASSWORD
from tests.stories.readers import Reader

_WORDS_TO_READ = """() => {
    const main = document.querySelector("main"), texts = [];
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement, option = parent.closest("option");
        const box = option ? option.closest("select") : parent;
        if (option && !option.selected) continue;
        if (box.closest(".hidden, svg, script, style") || !box.checkVisibility({visibilityProperty: true})) continue;
        texts.push(walker.currentNode.data);
    }
    return texts.join(" ").split(/\\s+/).filter(each => /[\\p{L}\\p{N}]/u.test(each)).length;
}"""
"""Counts the visible words of a page's main part: of a list the chosen one, and nothing that is folded."""


@dataclass
class Tally:
    """How much somebody had to do since `began`: what was clicked (or reached and pressed), typed and read.

    A screen is a page whose heading the story waits for; `words` are those that can be seen on these pages.
    """

    clicks: int = 0
    fields: int = 0
    screens: int = 0
    words: int = 0
    pages: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def restart(self) -> None:
        """Begin to count anew."""
        self.clicks = self.fields = self.screens = self.words = 0
        self.pages.clear()
        self.began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def __str__(self) -> str:
        read = ", ".join(self.pages)
        return (
            f"{self.clicks} clicks, {self.fields} fields typed, {self.screens} screens, {self.words} words, "
            f"{self.seconds:.1f} s ({read})"
        )


@dataclass(frozen=True, slots=True)
class Housekeeper(Reader):
    """A reader at a household's pages."""

    tally: Tally = field(default_factory=Tally)

    async def reads(self, heading: str, **gaps: object) -> None:
        """Wait until the page with this heading is there, and count what there is to read on it."""
        await Reader.reads(self, heading, **gaps)
        await self._count(heading)

    async def looks_at(self, sentence: str, **gaps: object) -> None:
        """The same for a page whose heading has amounts in it: by other words on it."""
        await self.sees(sentence, **gaps)
        await self._count(sentence)

    async def _count(self, page: str) -> None:
        words = int(await self.page.evaluate(_WORDS_TO_READ))
        self.tally.screens += 1
        self.tally.words += words
        self.tally.pages.append(f"{page}: {words}")

    async def sees(self, sentence: str, **gaps: object) -> None:
        """Wait until these words can be seen: a list to choose from may hold them, too."""
        found = self.page.get_by_text(self.words(sentence, **gaps)).locator("visible=true")
        await expect(found.first).to_be_visible()

    async def fill(self, label: str, text: str) -> None:
        await self.type_into(self._labelled(label), text)

    async def type_into(self, target: Locator, text: str) -> None:
        """Fill in a field; a day as `2026-11-20`."""
        self.tally.fields += 1
        if self.way.keyboard and await target.get_attribute("type") != "date":
            await self._reach(target)
            await self.page.keyboard.press("ControlOrMeta+a")
            await self.page.keyboard.type(text)
        elif self.way.keyboard:
            await self._reach(target)
            year, month, day = text.split("-")
            await self.page.keyboard.type(month + day + year)
        else:
            await target.fill(text)

    async def choose(self, label: str, option: str, *, said: bool = True) -> None:
        """Choose from a list by the words shown; `said` where they are translated."""
        self.tally.clicks += 1
        words = self.words(option) if said else option
        target = self._labelled(label)
        if self.way.keyboard:
            await self._reach(target)
            await self.page.keyboard.type(words)
            chosen = await target.evaluate("e => e.selectedOptions[0].text")
            assert chosen == words, f"{label}: {chosen}"
        else:
            await target.select_option(label=words)

    async def check(self, label: str) -> None:
        """Tick, or choose one of a few: of those the arrow keys lead on."""
        self.tally.clicks += 1
        target = self._labelled(label)
        if not self.way.keyboard:
            await target.check()
            return
        if await target.get_attribute("type") == "radio":
            name = await target.get_attribute("name")
            group = self.page.locator(f"input[type=radio][name={name}]")
            await self._reach_one_of(group)
            for _ in range(await group.count()):
                if await target.evaluate("e => e === document.activeElement"):
                    break
                await self.page.keyboard.press("ArrowDown")
        else:
            await self._reach(target)
        if not await target.is_checked():
            await self.page.keyboard.press("Space")
        await expect(target).to_be_checked()

    async def activate(self, target: Locator) -> None:
        """Click, or reach and press, what has no name of its own."""
        self.tally.clicks += 1
        await self._activate(target)

    async def press(self, button: str, *, begins: bool = False, **gaps: object) -> None:
        self.tally.clicks += 1
        words = self.words(button, **gaps)
        name = re.compile(f"^{re.escape(words)}") if begins else words
        await self._activate(self.page.get_by_role("button", name=name, exact=not begins).first)

    async def follow(self, link: str, *, begins: bool = False, **gaps: object) -> None:
        self.tally.clicks += 1
        words = self.words(link, **gaps)
        name = re.compile(f"^{re.escape(words)}") if begins else words
        await self._activate(self.page.get_by_role("link", name=name, exact=not begins).first)

    async def unfold(self, summary: str, *, said: bool = True) -> None:
        """Open what is folded under these words."""
        self.tally.clicks += 1
        words = self.words(summary) if said else summary
        await self._activate(self.page.locator("summary").filter(has_text=words).first)

    async def save(self, link: str) -> tuple[str, bytes]:
        """Download what a link of this name gives: the file's name and what is in it."""
        return await self.save_by(self.page.get_by_role("link", name=self.words(link), exact=True))

    async def save_by(self, target: Locator) -> tuple[str, bytes]:
        """Download what a link or button gives."""
        async with self.page.expect_download() as coming:
            await self.activate(target)
        got = await coming.value
        return got.suggested_filename, await asyncio.to_thread(Path(await got.path()).read_bytes)

    async def go(self, part: str) -> None:
        """Go to a part of the household by the navigation; on a telephone the rest stands under More."""
        link = self.page.get_by_role("navigation").get_by_role("link", name=self.words(part), exact=True)
        if not await link.first.is_visible():
            await self.follow("More")
        await self.follow(part)

    async def set_up_household(self, **answers: str) -> None:
        """Answer the five questions of setup: a household in Oakland, and Ana, who is paid by check every week.

        `answers` replace what is typed or chosen, by the name of the field.
        """
        told = {
            "start_date": "2026-11-02",
            "pay": "28.50",
            "pay_frequency": "Every week",
            "payment_method": "Check",
        } | answers
        await self.reads("Who are you, and in which state?")
        for label, text in (("Street address", "1 Elm Street"), ("City", "Oakland"), ("ZIP code", "94610")):
            await self.fill(label, text)
        await self.choose("State", "California", said=False)
        await self.press("Continue")
        await self.reads("Who works for you?")
        for label, text in (
            ("First name", "Ana"),
            ("Last name", "López"),
            ("First day of work", told["start_date"]),
        ):
            await self.fill(label, text)
        await self.press("Continue")
        await self.reads("How much do you pay {name}?", name="Ana")
        await self.fill("Pay in dollars", told["pay"])
        await self.fill("Usual hours a week", "20")
        await self.press("Continue")
        await self.reads("How often do you pay {name}?", name="Ana")
        await self.check(told["pay_frequency"])
        await self.press("Continue")
        await self.reads("How do you pay {name}?", name="Ana")
        await self.check(told["payment_method"])
        await self.press("Continue")

    async def prove(self) -> None:
        """Prove once more who she is, where that is asked."""
        await self.reads("Confirm it's you")
        await self.fill("Password", PASSWORD)
        await self.press("Continue")

    async def is_home(self) -> None:
        """Wait for the home page of a household, whose heading says what is to be done."""
        await self.page.get_by_role("link", name=self.words("View calendar")).first.wait_for()

    async def come_back(self, path: str) -> None:
        """Open a page after days: whose session was left for a week signs in again."""
        await self.open(path)
        if await self.page.get_by_label(self.words("Password"), exact=True).count():
            await self.fill("Email address", MARIA)
            await self.fill("Password", PASSWORD)
            await self.press("Sign in")
            await self.page.wait_for_url(re.compile("^https?://[^/]+/app/"))
            await self.open(path)

    def _labelled(self, label: str) -> Locator:
        return self.page.get_by_label(re.compile(f"^{re.escape(self.words(label))}")).first

    async def _reach_one_of(self, group: Locator) -> None:
        await group.first.wait_for()
        for _ in range(150):
            await self.page.keyboard.press("Tab")
            for each in await group.all():
                if await each.evaluate("e => e === document.activeElement"):
                    return
        raise AssertionError(f"no way to any of {group} by keyboard")
