"""What is refused, and how that is said: a status, a sentence, and the field that it is about."""

LONGEST = 1000  # characters: a message may quote what was sent


class RefusedError(Exception):
    """A request that cannot be met. Nothing was changed."""

    def __init__(self, status: int, message: str, field: str | None = None, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.field, self.retry_after = status, field, retry_after
        self.message = message if len(message) <= LONGEST else f"{message[:LONGEST]}..."
