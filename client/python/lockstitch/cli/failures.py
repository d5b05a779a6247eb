"""What went wrong, as one sentence and an exit code."""

from collections.abc import Iterator
from contextlib import contextmanager

from lockstitch import errors
from lockstitch.errors import LockstitchError

EXIT_FAILED = 1
EXIT_USAGE = 2


class Refused(Exception):
    """A command can't be done, or not whole. The message is one sentence for who typed it."""

    def __init__(self, sentence: str, *, exit_code: int = EXIT_FAILED) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


_SENTENCES: tuple[tuple[type[LockstitchError] | tuple[type[LockstitchError], ...], str], ...] = (
    (errors.TokenMissing, "there is no token: set LOCKSTITCH_TOKEN, or name a file with --token-file"),
    (errors.TokenExpired, "the token has expired: get a fresh one (`lockstitch doctor` tells when it did)"),
    (errors.TokenInvalid, "{target} does not take this token: it is malformed, or was signed for another server"),
    (
        (errors.CommitOutcomeUnknown, errors.Draining, errors.Overloaded, errors.DatabaseUnavailable),
        "{target} can't answer now: {words}",
    ),
    (errors.Unavailable, "no server answers at {target} (set LOCKSTITCH_TARGET or --target)"),
    (errors.DeadlineExceeded, "{target} did not answer in time"),
    (
        errors.Unimplemented,
        "{target} does not know this call: it is older than this client, or is no lockstitch server",
    ),
    (errors.LockstitchError, "{words}"),
)
"""By the error's class, the first that fits; the server's own words where they say it best."""


def sentence_of(error: LockstitchError, target: str) -> str:
    """Why a call failed."""
    sentence = next(sentence for kinds, sentence in _SENTENCES if isinstance(error, kinds))
    return sentence.format(target=target, words=_words(error))


def _words(error: LockstitchError) -> str:
    text = error.message.strip().removesuffix(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


@contextmanager
def about(session_id: str, target: str) -> Iterator[None]:
    """Names the session that a refusal is about."""
    try:
        yield
    except (errors.Unauthenticated, errors.PermissionDenied, errors.Unavailable, errors.DeadlineExceeded):
        raise
    except errors.SessionNotFound as error:
        raise Refused(f"there is no session {session_id!r}, or it is not yours") from error
    except LockstitchError as error:
        raise Refused(f"session {session_id!r}: {sentence_of(error, target)}") from error
