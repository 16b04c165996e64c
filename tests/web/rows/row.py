"""What one page answers, and the usual kinds of pages."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Row:
    """What visitors are answered: a stranger, a viewer, an admin, an owner, and the owner of another organization.

    `form` is what a rightly filled form holds; `{name}` in path and form is put in by the test. `stale`: what an owner
    is answered who proved who she is some time ago.
    """

    stranger: int
    viewer: int
    admin: int
    owner: int
    other: int
    stale: int
    form: dict[str, str] = field(default_factory=dict)


def at_household(status: int, /, *, fresh: bool = False, **form: str) -> Row:
    """A page of a household that whoever is a member sees."""
    return Row(303, status, status, status, 404, 303 if fresh else status, form)


def kept(status: int, /, *, fresh: bool = False, other: int = 404, **form: str) -> Row:
    """A page of a household for who keeps it: admins and owners."""
    return Row(303, 403, status, status, other, 303 if fresh else status, form)


def by_owners(status: int, /, *, fresh: bool = False, other: int = 404, **form: str) -> Row:
    """A page for owners alone."""
    return Row(303, 403, 403, status, other, 303 if fresh else status, form)
