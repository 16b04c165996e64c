"""The commands of a page of docs/, with what the page shows of their answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FENCED = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_TYPED = re.compile(r"\((?:yes/no|[Yy]/[Nn])\) (\w+)\n")
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_VARIABLE = (
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", r"[0-9T:-]{19}Z"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? UTC", r"[0-9-]{10} [0-9:]{5,8} UTC"),
    (r"hearthpay-\d{8}T\d{6}Z", r"hearthpay-\d{8}T\d{6}Z"),
    (r"(?<=/)[\w-]{43}(?=[\"\n])", r"[\w-]{43}"),
    (r"hp_(?:test|live)_\w+", r"hp_\w+"),
    (r"(?:localhost|127\.0\.0\.1):\d+", r"(?:localhost|127\.0\.0\.1):\d+"),
    (r"…\w{4}(?=  )", r"…\w{4}"),
    (r"^…\n", r"(?:[^\n]*\n)*?"),
    (r"…", r"[^\n]*?"),
)
_PARTS = re.compile("|".join(f"({shown})" for shown, _ in ((_UUID, ""), *_VARIABLE)), re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """A block of commands."""

    commands: str
    shown: str | None
    """What the page shows of all that they print; None where it shows nothing."""
    second_terminal: bool
    """Whether a second terminal begins here."""

    @property
    def answers(self) -> str:
        """What the reader types, as the page shows it."""
        return "".join(f"{word}\n" for word in _TYPED.findall(self.shown or ""))


def steps_of(page: Path, *, but: tuple[str, ...] = ()) -> list[Step]:
    """The page's blocks of commands, except those that begin with one of these words."""
    steps: list[Step] = []
    kind_before = ""
    for block in _FENCED.finditer(page.read_text(encoding="utf-8")):
        kind, _, rest = block["kind"].partition(" ")
        if kind in ("sh", "bash") and not block["text"].startswith(but or "\0"):
            steps.append(Step(block["text"], None, rest == "second-terminal"))
        elif kind == "" and kind_before in ("sh", "bash") and steps:
            steps[-1] = Step(steps[-1].commands, block["text"], steps[-1].second_terminal)
        kind_before = kind
    return steps


def matches(shown: str, printed: str) -> bool:
    """Whether this was printed, apart from ids, times, keys and links, and from what is left out at `…`.

    An id that is shown twice is the same one twice.
    """
    shown = _TYPED.sub(lambda typed: typed[0][: -len(typed[1]) - 1], shown)
    ids: dict[str, str] = {}
    pattern, end = "", 0
    for part in _PARTS.finditer(shown):
        pattern += re.escape(shown[end : part.start()])
        end = part.end()
        if part.lastindex == 1:
            name = ids.get(part[0])
            pattern += f"(?P={name})" if name else f"(?P<id{len(ids)}>{_UUID})"
            ids.setdefault(part[0], f"id{len(ids)}")
        else:
            assert part.lastindex is not None
            pattern += _VARIABLE[part.lastindex - 2][1]
    return re.fullmatch(pattern + re.escape(shown[end:]), printed) is not None
