"""What is refused, and how that is said: a status, a sentence, and the field that it is about."""

LONGEST = 1000  # characters: a message may quote what was sent


class RefusedError(Exception):
    """A request that cannot be met. Nothing was changed. `closes`: what the client still sends is not read."""

    def __init__(
        self,
        status: int,
        message: str,
        field: str | None = None,
        retry_after: int | None = None,
        closes: bool = False,
    ) -> None:
        super().__init__(message)
        self.status, self.field, self.retry_after, self.closes = status, field, retry_after, closes
        self.message = message if len(message) <= LONGEST else f"{message[:LONGEST]}..."


class ElsewhereError(RefusedError):
    """Another server holds the model: the one at `url`; or it is not known which, while the model changes hands."""

    def __init__(self, name: str, url: str | None = None) -> None:
        super().__init__(503, f"the model {name!r} is on its way to another server; send again", retry_after=1)
        self.url = url
