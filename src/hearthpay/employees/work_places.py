"""Where an employee works, as far as addresses tell: the names by which labor law of a city or county is found."""

from collections.abc import Mapping, Sequence
from typing import Protocol

_ZIP_DIGITS = 5


class EmployeeAtWork(Protocol):
    """What of an employee's record tells where the work is done."""

    @property
    def work_state(self) -> str:
        """The state of work, two letters."""
        ...

    @property
    def localities(self) -> Sequence[str]:
        """The codes of the local taxes chosen."""
        ...

    @property
    def city(self) -> str | None:
        """Where the employee lives, as entered."""
        ...

    @property
    def address(self) -> Mapping[str, str] | None:
        """The employee's mailing address, as stored."""
        ...


def work_places(worker: EmployeeAtWork, household_address: Mapping[str, str] | None) -> tuple[str, ...]:
    """Return the names and ZIP codes of the places where an employee's work is done; empty if no address tells.

    That is the household's home, where household work is done. If its address isn't on file or in another state than
    the work, it is the employee's own address and city. Places of local taxes are added as chosen.
    """
    places = dict.fromkeys(worker.localities)
    home = _in_state(household_address, worker.work_state)
    if home is not None:
        places |= dict.fromkeys(home)
    else:
        own = _in_state(worker.address, worker.work_state) or ()
        places |= dict.fromkeys([*own, *([worker.city] if worker.city else [])])
    return tuple(places)


def _in_state(address: Mapping[str, str] | None, state: str) -> tuple[str, str] | None:
    """Return the city and ZIP code of an address in a state; None without one."""
    if address is None or address["state"] != state:
        return None
    return address["city"], address["zip"][:_ZIP_DIGITS]
