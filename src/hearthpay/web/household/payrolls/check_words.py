"""An amount in words, as it is written on a check: "Nine hundred sixty-nine and 44/100". Checks are in English."""

from typing import Final

_ONES: Final = (
    *(
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    ),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES: Final = ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred"))
_TWENTY: Final = 20


def check_words(cents: int) -> str:
    """Return the amount in words. Raises ValueError for one below zero or of a billion dollars and more."""
    dollars, rest = divmod(cents, 100)
    if not 0 <= dollars < 1_000_000_000:
        raise ValueError(f"no check is written for {cents} cents")
    words = _whole(dollars)
    return f"{words[0].upper()}{words[1:]} and {rest:02d}/100"


def _whole(number: int) -> str:
    for size, name in _SCALES:
        if number >= size:
            rest = number % size
            return f"{_whole(number // size)} {name}" + (f" {_whole(rest)}" if rest else "")
    if number < _TWENTY:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
