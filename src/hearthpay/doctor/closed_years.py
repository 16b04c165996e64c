"""What a household files if tax of a closed year is still open: no paycheck of a later year may charge it."""

from typing import Final

_FICA: Final = (
    "file Form W-2c with W-3c, and a corrected Schedule H (Form 1040): with Form 1040-X where it was filed with the "
    "return, by itself where it was filed by itself; Form 941-X or 944-X where the wages were reported on Form 941 "
    "or 944"
)
_FUTA: Final = (
    "file a corrected Schedule H (Form 1040): with Form 1040-X where it was filed with the return, by itself where it "
    "was filed by itself; an amended Form 940 where the wages were reported on Form 940"
)
_INCOME_TAX: Final = (
    "income tax that was not withheld is settled by the employee's own return; "
    "file Form W-2c if a box of it changes"
)
_STATE: Final = (
    "file an amended return or wage report of the year with the state; Form W-2c if a box of it changes"
)


def to_file(code: str) -> str:
    """Return what corrects a line of a closed year, as part of a sentence (General Instructions for Forms W-2 and W-3,
    W-2c; Instructions for Schedule H; Instructions for Forms 941-X, 944-X and 940).
    """
    if not code.startswith("US-"):
        return _STATE
    if code.startswith("US-FUTA"):
        return _FUTA
    return _INCOME_TAX if code.startswith("US-FIT") else _FICA
