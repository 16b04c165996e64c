"""Readable browser names: `Firefox, Windows` rather than the whole User-Agent."""

import re
from typing import Final

# Most browsers also name their predecessors: the first match counts.
_BROWSERS: Final = (
    ("Edge", re.compile(r"\bEdg(?:e|A|iOS)?/")),
    ("Opera", re.compile(r"\bOPR/")),
    ("Samsung Internet", re.compile(r"\bSamsungBrowser/")),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/")),
    ("Chrome", re.compile(r"\b(?:Headless)?(?:Chrome|Chromium|CriOS)/")),
    ("Safari", re.compile(r"\bSafari/")),
)
_SYSTEMS: Final = (
    ("iPhone", re.compile(r"\biPhone\b")),
    ("iPad", re.compile(r"\biPad\b")),
    ("Android", re.compile(r"\bAndroid\b")),
    ("Windows", re.compile(r"\bWindows\b")),
    ("ChromeOS", re.compile(r"\bCrOS\b")),
    ("macOS", re.compile(r"\bMac OS X\b|\bMacintosh\b")),
    ("Linux", re.compile(r"\bLinux\b")),
)
_LONGEST: Final = 60


def device_name(agent: str | None) -> str | None:
    """Return browser and system; an unknown browser's own text, shortened; None if there was none."""
    text = (agent or "").strip()
    if not text:
        return None
    found = [
        name
        for known in (_BROWSERS, _SYSTEMS)
        for name in [next((name for name, sign in known if sign.search(text)), None)]
        if name is not None
    ]
    if found:
        return ", ".join(found)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
