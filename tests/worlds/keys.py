"""The key ring of an installation: one key, made for the test.

A test package takes the fixture by importing it in its `conftest.py`.
"""

import pytest

from hearthpay.security.key_ring import EncryptionKey, KeyRing


@pytest.fixture
def ring() -> KeyRing:
    return KeyRing((EncryptionKey.generate(),))
