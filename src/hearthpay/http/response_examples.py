"""Examples of answers in the OpenAPI document: what the service answered to the story of the tests, once recorded.

They are data, by operation, status and media type, and read when the document is built. The tests compare them with
what the service answers now, and record them again by `make examples`.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_suffix(".json")


@cache
def read() -> Mapping[str, Any]:
    """Return the recorded answers; raises OSError if the file isn't there."""
    recorded: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return recorded


def add_response_examples(document: dict[str, Any]) -> None:
    """Add to each successful answer of `document` the one that was recorded."""
    recorded = read()
    for item in document["paths"].values():
        for operation in item.values():
            for status, by_type in recorded.get(operation["operationId"], {}).items():
                content = operation["responses"].get(status, {}).get("content", {})
                for media_type in content.keys() & by_type.keys():
                    content[media_type]["example"] = by_type[media_type]
