"""The declarative base of every table model: constraint names and the column types of plain annotations."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import DateTime, MetaData, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase

from hearthpay.database.types import Cents


class Base(DeclarativeBase):
    """Base of all models. The schema is written by hand in the migrations, never created from the models."""

    metadata = MetaData(
        naming_convention={
            "pk": "%(table_name)s_pkey",
            "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
            "uq": "%(table_name)s_%(column_0_N_name)s_key",
            "ix": "%(table_name)s_%(column_0_N_name)s_idx",
            "ck": "%(table_name)s_%(constraint_name)s_check",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text(),
        datetime.datetime: DateTime(timezone=True),
        Decimal: Cents(),
        dict[str, Any]: JSONB(),
        list[str]: ARRAY(Text()),
    }
