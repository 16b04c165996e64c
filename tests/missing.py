"""`python -m tests.missing`: every row that a new endpoint, table, page, mail, state or duty still lacks.

It runs the tests that know what is complete, and those alone, and prints what they miss. Arguments go to pytest: a
folder, such as `tests/web`, asks there alone.
"""

import subprocess
import sys


def main() -> None:
    """Run the tests of completeness; exit with 1 where one of them misses something."""
    command = (
        sys.executable,
        "-m",
        "pytest",
        "-m",
        "completeness",
        "--tb=short",
        "--no-header",
        "-p",
        "no:randomly",
    )
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    test = ""
    for line in ran.stdout.splitlines():
        if line.startswith("____"):
            test = line.strip("_ ")
        elif line.startswith("E  ") and test:
            print(f"{test}: {line[1:].strip()}")
    if ran.returncode not in (0, 1):
        print(ran.stdout[-2000:], ran.stderr[-2000:], file=sys.stderr)
    elif ran.returncode == 0:
        print("Nothing is missing.")
    sys.exit(ran.returncode)


if __name__ == "__main__":
    main()
