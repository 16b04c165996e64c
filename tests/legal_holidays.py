"""Writes the table of legal holidays: `python -m tests.legal_holidays`, where the library knows of another day."""

from hearthpay.legal_holidays import CALENDARS, FIRST_YEAR, LAST_YEAR, TABLE, computed


def table() -> str:
    """The table as it must be."""
    lines = ["# What the library `holidays` says of these years. Made by `python -m tests.legal_holidays`."]
    for calendar in CALENDARS:
        lines.append(f"\n[{calendar}]")
        for year in range(FIRST_YEAR, LAST_YEAR + 1):
            days = ", ".join(day.isoformat() for day in sorted(computed(calendar, year)))
            lines.append(f"{year} = [{days}]")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table(), "utf-8")
