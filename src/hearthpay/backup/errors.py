"""Errors that stop a backup or a restore."""


class BackupError(Exception):
    """Nothing was done, or all of it was undone; the message says why, in plain words."""


class RefusedError(BackupError):
    """Refused before it began: the request makes no sense, or would do harm."""
