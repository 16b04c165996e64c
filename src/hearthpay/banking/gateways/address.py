"""Opens the bank gateway for an address."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.banking.gateways.gateway import BankGateway, Directories

if TYPE_CHECKING:
    from hearthpay.banking.gateways.sftp import SftpServer

PASSWORD_VARIABLE: Final = "HEARTHPAY_BANK_PASSWORD"  # noqa: S105 - the name of a variable
PASSPHRASE_VARIABLE: Final = "HEARTHPAY_BANK_KEY_PASSPHRASE"  # noqa: S105 - the name of a variable

_DIRECTORIES: Final = tuple(field.name for field in fields(Directories))
_TRUST_ANY_HOST: Final = "none"


def open_gateway(url: str, environment: Mapping[str, str] = os.environ) -> BankGateway:
    """Return the gateway for an address; nothing is connected before it is used.

    `folder:///srv/bank` or `sftp://user@host:22/path?known_hosts=/etc/hearthpay/bank_hosts&key=/etc/hearthpay/key`.
    Both take `outbox`, `inbox`, `done` and `sent` as names of directories. An SFTP path that starts with `/~/` is
    relative to the login directory. The password is part of the address or in HEARTHPAY_BANK_PASSWORD, the key's
    passphrase in HEARTHPAY_BANK_KEY_PASSPHRASE. `known_hosts=none` trusts any server, for tests only. Raises
    ValueError, which never repeats the address, for an incomplete one.
    """
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    named = {name: options.pop(name) for name in _DIRECTORIES if name in options}
    directories = Directories(**{name: _directory(name, value) for name, value in named.items()})
    if len({getattr(directories, name) for name in _DIRECTORIES}) != len(_DIRECTORIES):
        raise ValueError("the bank gateway needs four different directories")
    if parts.scheme == "folder":
        _close(options)
        return folder_gateway(_folder(parts), directories)
    if parts.scheme == "sftp":
        # The SSH library is slow to load, and a folder doesn't need it.
        from hearthpay.banking.gateways.sftp import sftp_gateway

        return sftp_gateway(_sftp(parts, options, environment), directories)
    raise ValueError("the address of a bank gateway starts with folder:// or sftp://")


def _folder(parts: SplitResult) -> Path:
    path = Path(unquote(parts.path))
    if parts.netloc or not path.is_absolute() or path == Path("/"):
        raise ValueError("a folder gateway is written folder:///absolute/path")
    return path


def _sftp(parts: SplitResult, options: dict[str, str], environment: Mapping[str, str]) -> SftpServer:
    from hearthpay.banking.gateways.sftp import DEFAULT_PORT, SftpServer

    if not parts.hostname or not parts.username:
        raise ValueError("an SFTP gateway is written sftp://user@host/path")
    known_hosts = options.pop("known_hosts", "")
    if not known_hosts:
        raise ValueError("an SFTP gateway needs known_hosts, the file with the bank's host key")
    key = options.pop("key", "")
    _close(options)
    path = unquote(parts.path)
    return SftpServer(
        host=parts.hostname,
        port=parts.port or DEFAULT_PORT,
        user=unquote(parts.username),
        base=path.removeprefix("/~/") if path.startswith("/~/") else path or ".",
        known_hosts=None if known_hosts == _TRUST_ANY_HOST else Path(known_hosts),
        key=Path(key) if key else None,
        key_passphrase=environment.get(PASSPHRASE_VARIABLE),
        password=unquote(parts.password) if parts.password else environment.get(PASSWORD_VARIABLE),
    )


def _directory(option: str, value: str) -> str:
    if not value or value.startswith("/") or ".." in value.split("/"):
        raise ValueError(f"{option} must be a directory below the gateway's path")
    return value


def _close(options: Mapping[str, str]) -> None:
    if options:
        raise ValueError(f"{min(options)} is no option of this bank gateway")
