"""Write the catalog of the schema, as the migrations make it: `python -m tools.schema_catalog`.

Run it after you added a migration. It migrates an empty database step by step and writes
`src/hearthpay/database/catalog/schema.txt`, and in `changes/` what each migration changed. Review both: they list each
table, policy and right.
"""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

from hearthpay.database.catalog.expected import CHANGES, FIRST, SCHEMA, format_change, format_facts
from hearthpay.database.catalog.facts import read_catalog_of
from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.migrations import migrate, migrating, revisions


def main() -> None:
    """Write the files, and remove those of migrations that are gone."""
    with tempfile.TemporaryDirectory(prefix="hearthpay-catalog-") as folder:
        Path(folder).chmod(0o755)
        server = EmbeddedServer(Path(folder) / "data")
        server.start()
        try:
            catalogs = {each: _catalog(server, each) for each in revisions() if each >= FIRST}
        finally:
            server.stop()
    CHANGES.mkdir(exist_ok=True)
    for old in CHANGES.glob("*.txt"):
        old.unlink()
    steps = list(catalogs.items())
    for (_, before), (revision, after) in pairwise(steps):
        _write(CHANGES / f"{revision}.txt", format_change(before, after))
    newest, lines = steps[-1]
    _write(SCHEMA, lines)
    print(f"{newest}: {len(lines)} lines")


def _catalog(server: EmbeddedServer, revision: str) -> list[str]:
    migrate(server.owner_url(), revision=revision)
    with migrating(server.owner_url()) as migration:
        return format_facts(read_catalog_of(migration.connection, migration.roles).facts)


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
