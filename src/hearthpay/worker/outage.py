"""Tells a database or a bank that is out of reach, which passes, from a fault, which does not."""

from __future__ import annotations

import psycopg
from procrastinate.exceptions import ConnectorException
from sqlalchemy.exc import DBAPIError

from hearthpay.banking.gateways.gateway import GatewayUnavailableError
from hearthpay.database.outage import DatabaseUnavailable


def is_outage(error: BaseException) -> bool:
    """Return whether the same work may succeed later because only the way to the database or the bank failed.

    Procrastinate and SQLAlchemy wrap the driver's errors. A deadlock counts, and a pool without a free connection:
    they pass as well.
    """
    cause: BaseException | None = error
    if isinstance(error, ConnectorException | DBAPIError):
        cause = error.__cause__
    return isinstance(
        cause,
        DatabaseUnavailable
        | GatewayUnavailableError
        | psycopg.OperationalError
        | psycopg.InterfaceError
        | OSError,
    )
