from datetime import timedelta

import pytest

from lockstitch_server.auth.certificates import Certificates
from lockstitch_server.errors import TokenExpired
from lockstitch_server.model import CallerRole, Principal
from support.certificates import Certified, certified

AUTHORITY = certified("authority")
ENGINE = Principal("t", "e", CallerRole.ENGINE)
SPIFFE, OTHER = "spiffe://example/engine", "spiffe://example/other"


def stands_for(made: Certified, now: float | None = None) -> Principal | None:
    by = Certificates({SPIFFE: ENGINE, "cn:engine-7": ENGINE}, *([] if now is None else [lambda: now]))
    first, again = (by.principal({"x509_pem_cert": [made.pem]}) for _ in range(2))
    assert first == again
    return first and first[0]


@pytest.mark.parametrize(
    ("made", "is_engine"),
    [
        (certified("engine-7", AUTHORITY), True),
        (certified("engine-8", AUTHORITY), False),
        (certified("x", AUTHORITY, uris=(SPIFFE,)), True),
        (certified("x", AUTHORITY, uris=("https://example", SPIFFE)), True),
        (certified("x", AUTHORITY, uris=(OTHER,)), False),
        # Who has a SPIFFE id is that, whatever else it is called; who has two is nobody.
        (certified("engine-7", AUTHORITY, uris=(OTHER,)), False),
        (certified("x", AUTHORITY, uris=(SPIFFE, OTHER)), False),
        (certified("x", AUTHORITY, uris=(SPIFFE + "/sub",)), False),
        # A host's name is no URI, however it is spelled.
        (certified("x", AUTHORITY, hosts=(SPIFFE,)), False),
        (certified("cn:engine-7", AUTHORITY), False),
    ],
)
def test_a_certificate_stands_for_whom_its_identity_names(made: Certified, *, is_engine: bool) -> None:
    assert stands_for(made) == (ENGINE if is_engine else None)


def test_without_a_certificate_there_is_nobody() -> None:
    by = Certificates({SPIFFE: ENGINE})
    assert by.principal({}) is None
    assert by.principal({"x509_pem_cert": [b"nonsense"]}) is None
    assert Certificates({}).principal({"x509_pem_cert": [certified("engine-7", AUTHORITY).pem]}) is None


def test_a_certificate_ends_also_on_a_connection_that_lasts() -> None:
    made = certified("engine-7", AUTHORITY, life=timedelta(hours=1))
    ends = made.certificate.not_valid_after_utc.timestamp()
    assert stands_for(made, ends - 1) == ENGINE
    with pytest.raises(TokenExpired):
        stands_for(made, ends)
