"""What keeps a backup or a restore from happening."""


class BackupError(Exception):
    """Nothing was done, or all of it was undone; the message says why, plainly."""


class RefusedError(BackupError):
    """It was not even begun: what was asked for makes no sense, or would do harm."""
