"""Refusals in OAuth's terms, which programs that request a token rely on."""

from typing import Final

_BAD_REQUEST: Final = 400


class OAuthError(Exception):
    """A refused request for a token or an authorization. `error` is the code from the relevant RFC."""

    def __init__(self, error: str, description: str, *, status: int = _BAD_REQUEST) -> None:
        super().__init__(error, description)
        self.error = error
        self.description = description
        self.status = status

    @property
    def body(self) -> dict[str, str]:
        """The response body (RFC 6749, section 5.2)."""
        return {"error": self.error, "error_description": self.description}
