import re
from pathlib import Path

from lockstitch_server.auth.policy import Claim
from lockstitch_server.model import CallerRole

PAGE = Path(__file__).parents[2] / "docs/security.md"
ROLES = (CallerRole.USER, CallerRole.ENGINE, CallerRole.ADMIN)


def test_the_security_page_has_the_table_of_roles_as_it_is_in_the_code() -> None:
    rows = re.findall(r"^\| (.+) \| (yes|no) \| (yes|no) \| (yes|no) \|$", PAGE.read_text(), re.MULTILINE)
    table = [(claim.what, *("yes" if role in claim.roles else "no" for role in ROLES)) for claim in Claim]
    assert rows == table


def test_who_may_more_may_no_less() -> None:
    for claim in Claim:
        for lower, higher in ((CallerRole.USER, CallerRole.ENGINE), (CallerRole.ENGINE, CallerRole.ADMIN)):
            assert lower not in claim.roles or higher in claim.roles, claim
