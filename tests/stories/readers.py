"""People at a browser: one reads English and has a mouse, one reads Spanish, one has a telephone and a keyboard alone.

A story is told once, by the English words of what is on the pages; each reader finds them in his own way.
"""

from __future__ import annotations

from dataclasses import dataclass

from playwright.async_api import Locator, Page, expect

from hearthpay.languages.catalogue import say_in

_MOST_STOPS = 120
_WIDE = 960
_BEHIND_MORE = (
    "Profile",
    "Members",
    "API keys",
    "Connected apps",
    "History",
    "Calendar",
    "Autopilot",
    "Bank",
)
_HAS_FOCUS = "e => e === document.activeElement"
_SHOWS_FOCUS = (
    "e => [null, '::before'].some(part => { const s = getComputedStyle(e, part);"
    " return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 })"
)
"""A link that covers a whole row shows its focus around the row, which is drawn before it."""

_WIDTH = "document.documentElement.scrollWidth"


@dataclass(frozen=True, slots=True)
class Way:
    """How somebody uses the pages."""

    language: str = "en"
    keyboard: bool = False
    width: int = 1280

    def __str__(self) -> str:
        return f"{self.language}, {self.width} px, {'keyboard' if self.keyboard else 'mouse'}"


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who looks at a page."""

    page: Page
    way: Way

    def words(self, sentence: str, **gaps: object) -> str:
        """What the page says for these English words."""
        return say_in(self.way.language)(sentence, **gaps)

    async def open(self, path: str) -> None:
        await self.page.goto(path)

    async def reads(self, heading: str, **gaps: object) -> None:
        """Wait until the page with this heading is there; it is in his language, and fits."""
        found = self.page.get_by_role("heading", name=self.words(heading, **gaps), exact=True, level=1)
        await found.wait_for()
        assert await self.page.locator("html").get_attribute("lang") == self.way.language
        assert await self.page.evaluate(_WIDTH) <= self.way.width, f"{heading} is too wide"

    async def sees(self, sentence: str, **gaps: object) -> None:
        await expect(
            self.page.get_by_text(self.words(sentence, **gaps)).filter(visible=True).first
        ).to_be_visible()

    async def misses(self, role: str, name: str) -> None:
        await expect(self.page.get_by_role(role, name=self.words(name))).to_have_count(0)  # type: ignore[arg-type]

    async def fill(self, label: str, text: str) -> None:
        field = self.page.get_by_label(self.words(label), exact=True)
        if not self.way.keyboard:
            await field.fill(text)
            return
        await self._reach(field)
        await self.page.keyboard.press("ControlOrMeta+a")
        await self.page.keyboard.type(text)

    async def check(self, label: str) -> None:
        box = self.page.get_by_label(self.words(label), exact=True)
        if self.way.keyboard:
            await self._reach(box)
            await self.page.keyboard.press("Space")
        else:
            await box.check()

    async def press(self, button: str) -> None:
        await self._activate(self.page.get_by_role("button", name=self.words(button), exact=True))

    async def follow(self, link: str, *, begins: bool = False) -> None:
        target = self.page.get_by_role("link", name=self.words(link), exact=not begins).first
        if link in _BEHIND_MORE and self.way.width < _WIDE and not await target.count():
            await self._activate(self.page.get_by_role("link", name=self.words("More"), exact=True))
        await self._activate(target)

    async def sign_in(self, email: str, password: str) -> None:
        await self.open("/sign-in")
        await self.fill("Email address", email)
        await self.fill("Password", password)
        await self.press("Sign in")

    async def _activate(self, target: Locator) -> None:
        if self.way.keyboard:
            await self._reach(target)
            await self.page.keyboard.press("Enter")
        else:
            await target.click()

    async def _reach(self, target: Locator) -> None:
        """Press Tab until it has the focus, and shows so, where nothing covers it."""
        await target.wait_for()
        for _ in range(_MOST_STOPS):
            await self.page.keyboard.press("Tab")
            if await target.evaluate(_HAS_FOCUS):
                assert await target.evaluate(_SHOWS_FOCUS), "the focus is not to be seen"
                return
        raise AssertionError(f"no way to it by keyboard: {target}")
