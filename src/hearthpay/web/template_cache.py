"""Compiled templates, kept next to them, as Python keeps compiled modules: compiling all takes a process two seconds.

They are in `__pycache__`, or below `PYTHONPYCACHEPREFIX`, and trusted as much as compiled modules there are. Where
that folder can't be written, each process compiles the templates itself.
"""

import contextlib
import hashlib
import importlib.util
import marshal
import os
import sys
from pathlib import Path
from typing import Final

import jinja2
from jinja2.bccache import Bucket, BytecodeCache

_DIGEST: Final = 32


class TemplateCache(BytecodeCache):
    """The compiled templates of one environment.

    ``options`` names what else the compiled code depends on. Filters of constants are calculated when a template is
    compiled, so templates must not apply filters that can change to constants.
    """

    def __init__(self, options: str) -> None:
        self._made_by = f"{jinja2.__version__} {options}\n".encode() + importlib.util.MAGIC_NUMBER

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002 - Jinja's signature
        """Return the path of the compiled template; empty for a template that isn't a file."""
        if filename is None:
            return ""
        module = Path(importlib.util.cache_from_source(filename))
        return str(module.with_name(f"{Path(filename).name}.{sys.implementation.cache_tag}.jinja"))

    def get_source_checksum(self, source: str) -> str:
        """Return a digest of the source and of what compiles it."""
        return hashlib.sha256(self._made_by + source.encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the template if it was compiled from this source by this version."""
        if not bucket.key:
            return
        with contextlib.suppress(OSError, EOFError, ValueError, TypeError):
            content = Path(bucket.key).read_bytes()
            if content[:_DIGEST] == bytes.fromhex(bucket.checksum):
                bucket.code = marshal.loads(content[_DIGEST:])  # noqa: S302 - trusted as compiled modules are

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template that was just compiled, unless Python keeps no compiled modules either."""
        if not bucket.key or bucket.code is None or sys.dont_write_bytecode:
            return
        path = Path(bucket.key)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(bytes.fromhex(bucket.checksum) + marshal.dumps(bucket.code))
            unfinished.replace(path)
