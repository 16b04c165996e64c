"""One form for every mail: a letter in paragraphs, as text and as HTML with the same content.

The HTML contains its own style, loads nothing, tells nobody that it was opened, and uses the colors of the
reader's mail program, so that it is readable in light and dark modes; only the button has its own.
"""

from dataclasses import dataclass
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from hearthpay.languages.catalogue import mark, say_in
from hearthpay.mail.mailer import Mail
from hearthpay.mail.places import OURS, MailPlace
from hearthpay.mail.wording import name_in_mail

_HELLO: Final = mark("Hello,")
_HELLO_NAME: Final = mark("Hello {name},")
_ABOUT: Final = mark("This is about the household {household}.")
_TEMPLATES: Final = Environment(
    loader=PackageLoader("hearthpay.mail"),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


@dataclass(frozen=True, slots=True)
class Link:
    """A link in a letter: an address of ours, and its text."""

    address: str
    name: str


def letter(
    to: str,
    language: str,
    subject: str,
    name: str,
    paragraphs: tuple[str, ...],
    *,
    link: Link | None = None,
    place: MailPlace | None = None,
    closing: tuple[str, ...] = (),
) -> Mail:
    """Return the mail to someone with this `name` (as typed; empty for none), all of it already in `language`.

    What people chose must appear in subject and paragraphs as `name_in_mail` formats it. `closing` is the text below:
    why the reader gets it, and what to do if they didn't ask for it. `place` is our page that the letter leads to; its
    link is complete once the letter is queued.
    """
    say, known = say_in(language), name_in_mail(name)
    if place is not None:
        link = link or Link(OURS + place.path, say(place.label))
        household = name_in_mail(*place.household)
        closing = (say(_ABOUT, household=household), *closing) if household else closing
    facts = {
        "language": language,
        "subject": subject,
        "greeting": say(_HELLO_NAME, name=known) if known else say(_HELLO),
        "paragraphs": paragraphs,
        "link": link,
        "closing": closing,
    }
    return Mail(
        to=to,
        subject=subject,
        text=_TEMPLATES.get_template("letter.txt").render(facts),
        html=_TEMPLATES.get_template("letter.html").render(facts),
    )
