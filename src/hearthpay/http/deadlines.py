"""How long a client may take to send a request, and we to answer it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds from a request's beginning. What is late is given up: nobody holds the service's places for ever."""

    head: float = 10.0
    """For the request line and all headers; from the moment of connecting for a connection's first request."""
    body: float = 30.0
    """For the last byte of the body; later than that, the request is refused with 408."""
    answer: float = 60.0
    """For the answer to begin; later than that, the work is undone and answered with 503."""
    idle: int = 30
    """Between two requests of one connection."""
    reading: float = 30.0
    """For the client to read what was sent; a connection that keeps bytes waiting longer is cut."""
