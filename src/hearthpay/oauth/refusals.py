"""Refusals in the words of OAuth: what programs that ask for a token switch on."""

from typing import Final

_BAD_REQUEST: Final = 400


class OAuthError(Exception):
    """A request for a token, or to be let in, that is refused. `error` is the code of the RFC that has it."""

    def __init__(self, error: str, description: str, *, status: int = _BAD_REQUEST) -> None:
        super().__init__(error, description)
        self.error = error
        self.description = description
        self.status = status

    @property
    def body(self) -> dict[str, str]:
        """What is answered (RFC 6749, section 5.2)."""
        return {"error": self.error, "error_description": self.description}
