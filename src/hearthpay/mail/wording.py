"""Text that people chose themselves, made safe for a mail: no control character, no encoded word, no address.

A mail is sent under the operator's name. A person who may choose a household's name must not control what the mail
says, where it leads or which headers it has. Such a text gets into a mail only through `name_in_mail`, and
`header_problem` checks every header again, whatever made it: Python's own header classes decode an encoded word (RFC
2047) before they check for line breaks, in the 3.11 and 3.12 series until late patch releases.
"""

import re
import unicodedata
from typing import Final

LONGEST_NAME: Final = 80
"""The most characters of a name that a mail repeats."""

_LINE_ENDS: Final = frozenset("\u2028\u2029")
# Direction marks and overrides: they make a text read differently than it is.
_BIDIRECTIONAL: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Fillers that count as letters or marks, and show nothing.
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Zero-width joiners, and the selectors of a character's variants.
_JOINING: Final = frozenset("\u200c\u200d\u180b\u180c\u180d\u180f") | frozenset(
    map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
_NEVER_JOINED: Final = ("LATIN", "GREEK", "CYRILLIC", "DIGIT", "SPACE")
_ENCODED_WORD: Final = re.compile(r"=\?|\?=")

# A dot of any script between letters or digits, as in `example.com` or `192.0.2.1`; a name has a space after its dot.
_DOTS: Final = ".\u2024\u3002\uff0e\uff61"
_DOMAIN: Final = re.compile(rf"\w[{_DOTS}]+\w{{2}}|\d[{_DOTS}]+\d")
_ADDRESS: Final = re.compile(r"://|\bwww\b|\bhttps?\b|\bmailto\b|[@\uff20\ufe6b]|[/\\]{2}", re.IGNORECASE)

# What a name in a mail consists of: letters, their marks, digits, spaces and these.
_PUNCTUATION: Final = frozenset(" '’‘ʼ-‐‑–.,&()·")
_KEPT: Final = ("L", "M", "Nd")
_BROKEN_DOT: Final = re.compile(r"\.+(?=\w)")
_SPACES: Final = re.compile(r" {2,}")
# Nobody's name contains a phone number.
_LONG_NUMBER: Final = re.compile(r"\d(?:[ .,()'’‘ʼ‐‑–-]*\d){4,}")
_LINK_WORD: Final = re.compile(r"\b(?:www|https?|mailto)\b", re.IGNORECASE)


def is_control(character: str) -> bool:
    """Return whether the character is a control character (U+0085 is one), a line or paragraph separator, a lone
    surrogate, or one that changes the direction of the text after it.
    """
    return (
        unicodedata.category(character) in ("Cc", "Cs")
        or character in _LINE_ENDS
        or character in _BIDIRECTIONAL
    )


def holds_invisible(text: str) -> bool:
    """Return whether the text has a character that shows nothing, not even a space.

    Two names that differ by one look the same, and a name of nothing else looks like none. Joiners and selectors are
    kept where they change how the character before them looks: in emoji, and in scripts that need them.
    """
    before = " "
    for character in text:
        if character in _JOINING:
            if before.isspace() or unicodedata.name(before, "LATIN").startswith(_NEVER_JOINED):
                return True
        elif unicodedata.category(character) == "Cf" or character in _BLANK:
            return True
        else:
            before = character
    return text.endswith(("\u200c", "\u200d"))


def holds_encoded_word(text: str) -> bool:
    """Return whether the text has a mark of RFC 2047's encoded words, `=?` or `?=`."""
    return _ENCODED_WORD.search(text) is not None


def holds_address(text: str) -> bool:
    """Return whether a mail program could turn a part of the text into a link: a web or mail address, a domain."""
    shown = unicodedata.normalize(
        "NFKC", "".join(each for each in text if unicodedata.category(each) != "Cf")
    )
    return any(pattern.search(each) for pattern in (_ADDRESS, _DOMAIN) for each in (text, shown))


def name_in_mail(*parts: str) -> str:
    """Return a name, of one or more parts, as a mail may repeat it: letters, digits and the usual punctuation of
    names.

    Everything else becomes a space, dots get a space after them, long numbers and the beginnings of web addresses are
    removed, and what is too long is cut. Never raises; the name may be empty.
    """
    text = unicodedata.normalize("NFKC", " ".join(parts))
    allowed = "".join(
        each if each in _PUNCTUATION or unicodedata.category(each).startswith(_KEPT) else " "
        for each in text
        if unicodedata.category(each) != "Cf"
    )
    for pattern, put in ((_LONG_NUMBER, " "), (_LINK_WORD, " "), (_BROKEN_DOT, ". "), (_SPACES, " ")):
        allowed = pattern.sub(put, allowed)
    return allowed.lstrip(" .,&)-")[:LONGEST_NAME].rstrip()


def header_problem(value: str) -> str | None:
    """Return why the text may not be in a header; None if it may."""
    if any(is_control(each) for each in value):
        return "holds a control character"
    if holds_encoded_word(value):
        return "holds an encoded word"
    return None
