"""`python -m tests.missing`: every row that a new endpoint, table, page, mail, state or duty still lacks.

It runs the tests that know what is complete, and those alone, and prints what they miss, by what is new. Arguments go
to pytest: a folder, such as `tests/web`, asks there alone.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Final

_NEW: Final[Mapping[str, str]] = {
    "access": "service function",
    "alerts": "sensitive action",
    "boundary": "function of the database",
    "contract": "endpoint",
    "database": "table",
    "doctor": "law of the doctor",
    "documents": "paper",
    "duties": "duty of households",
    "endpoints": "endpoint",
    "http": "code or limit",
    "insurance": "policy",
    "languages": "sentence",
    "notices": "mail",
    "registrations": "state",
    "rights": "table",
    "taxes": "agency",
    "web": "page",
    "worker": "duty of the worker",
}
"""What is new, by the folder whose tests miss something."""


def findings(report: Iterable[str]) -> list[str]:
    """Return what the tests miss, a line each, from pytest's report with short tracebacks."""
    found, test, new = [], "", "row"
    for line in report:
        if line.startswith("____"):
            test = line.strip("_ ")
        elif place := re.match(r"tests/(\w+)/", line):
            new = _NEW.get(place[1], "row")
        elif line.startswith("E  ") and test:
            found.append(f"{new}: {test}: {line[1:].strip()}")
    return found


def main() -> None:
    """Run the tests of completeness; exit with 1 where one of them misses something."""
    options = ("-m", "completeness", "--tb=short", "--no-header", "-p", "no:randomly")
    command = (sys.executable, "-m", "pytest", *options, *sys.argv[1:])
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in findings(ran.stdout.splitlines()):
        print(line)
    if ran.returncode not in (0, 1):
        print(ran.stdout[-2000:], ran.stderr[-2000:], file=sys.stderr)
    elif ran.returncode == 0:
        print("Nothing is missing.")
    sys.exit(ran.returncode)


if __name__ == "__main__":
    main()
