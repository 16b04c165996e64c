"""The secrets of agents: codes, access tokens and refresh tokens. The database stores their SHA-256.

Each kind has its own prefix, so that none is mistaken for another or for an API key, and one found in a log or a
repository can be recognized.
"""

import datetime
from dataclasses import dataclass
from typing import Final, Literal

from hearthpay.security.portal_tokens import PortalToken, generate_token, parse_token

SecretKind = Literal["code", "access", "refresh"]

PREFIXES: Final[dict[SecretKind, str]] = {"code": "hpac_", "access": "hpat_", "refresh": "hprt_"}
LASTS: Final[dict[SecretKind, datetime.timedelta]] = {
    "code": datetime.timedelta(seconds=60),
    "access": datetime.timedelta(minutes=10),
    "refresh": datetime.timedelta(days=30),
}


@dataclass(frozen=True, slots=True)
class AgentSecret:
    """A secret of one kind; `text` is what the agent holds."""

    kind: SecretKind
    token: PortalToken

    @property
    def text(self) -> str:
        """The secret itself."""
        return PREFIXES[self.kind] + self.token.text

    @property
    def hash(self) -> bytes:
        """The form in which it is stored."""
        return self.token.hash

    def __repr__(self) -> str:
        return f"AgentSecret({self.kind}, …)"


def new_secret(kind: SecretKind) -> AgentSecret:
    """Return a new random secret."""
    return AgentSecret(kind, generate_token())


def read_secret(kind: SecretKind, text: str) -> AgentSecret | None:
    """Return the secret of this kind that the text contains, or None if it can't be one."""
    token = parse_token(text.removeprefix(PREFIXES[kind])) if text.startswith(PREFIXES[kind]) else None
    return None if token is None else AgentSecret(kind, token)


def looks_like_access(text: str) -> bool:
    """Return whether the text looks like an access token."""
    return text.startswith(PREFIXES["access"])
