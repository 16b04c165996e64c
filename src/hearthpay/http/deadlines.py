"""How long a client may take to send a request, and the service to answer it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds from the beginning of a request. What is late is ended, so that nobody holds capacity forever."""

    head: float = 10.0
    """For the request line and all headers; counted from connecting for a connection's first request."""
    body: float = 30.0
    """For the last byte of the body; after that, the request is refused with 408."""
    answer: float = 60.0
    """For the response to begin; after that, the work is rolled back and answered with 503."""
    idle: int = 30
    """Between two requests of one connection."""
    reading: float = 30.0
    """For the client to read what was sent; a connection with bytes waiting longer is cut."""
