"""Bring a released version of Swagger UI into the package: `python -m tests.openapi.refresh_swagger_ui 5.35.0`.

The archive is fetched by the npm client, which holds it against the registry's checksum; what is kept of it is noted in
`release.toml` with checksums of its own, which a test holds the files against.
"""

import json
import subprocess
import sys
import tarfile
import tempfile
from base64 import b64encode
from hashlib import sha256, sha512
from pathlib import Path
from typing import Final

PACKAGE: Final = "swagger-ui-dist"
KEPT: Final = (
    "LICENSE",
    "NOTICE",
    "swagger-ui-bundle.js",
    "swagger-ui-bundle.js.LICENSE.txt",
    "swagger-ui.css",
)
HERE: Final = Path(__file__).parents[2] / "src/hearthpay/http/reference/swagger_ui"
LICENSE: Final = "Apache-2.0"


def refresh(version: str, into: Path) -> None:
    """Replace the files in `into` by those of `version`.

    Raises RuntimeError where the archive is not what npm says of it or comes under another license, and
    subprocess.CalledProcessError where npm cannot fetch it.
    """
    with tempfile.TemporaryDirectory() as directory:
        command = ("npm", "pack", f"{PACKAGE}@{version}", "--json", "--pack-destination", directory)
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        release = (told if isinstance(told, list) else list(told.values()))[0]
        archive = Path(directory) / release["filename"]
        integrity = "sha512-" + b64encode(sha512(archive.read_bytes()).digest()).decode("ascii")
        if integrity != release["integrity"]:
            raise RuntimeError(f"{archive.name} is not what npm says of it")
        with tarfile.open(archive) as packed:
            files = {name: _content(packed, name) for name in KEPT}
            license_name = json.loads(_content(packed, "package.json"))["license"]
    if license_name != LICENSE:
        raise RuntimeError(f"{PACKAGE} {version} is licensed under {license_name}")
    for name, content in files.items():
        (into / name).write_bytes(content)
    sums = "".join(f'"{name}" = "{sha256(content).hexdigest()}"\n' for name, content in files.items())
    (into / "release.toml").write_text(
        "# Swagger UI as it was released: `python -m tests.openapi.refresh_swagger_ui VERSION` writes this file.\n"
        f'package = "{PACKAGE}"\nversion = "{version}"\nlicense = "{LICENSE}"\n'
        f'# Of the released archive, as the npm client names it.\nintegrity = "{integrity}"\n\n[sha256]\n{sums}',
        encoding="utf-8",
    )


def _content(packed: tarfile.TarFile, name: str) -> bytes:
    member = packed.extractfile(f"package/{name}")
    if member is None:
        raise RuntimeError(f"the archive has no file {name}")
    return member.read()


if __name__ == "__main__":
    refresh(sys.argv[1], HERE)
