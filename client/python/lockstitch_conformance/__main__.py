"""The command line of `lockstitch-conformance`."""

import argparse
import asyncio
import sys
from pathlib import Path
from typing import NoReturn

from grpc import aio

from lockstitch_conformance.categories import CATEGORIES
from lockstitch_conformance.report import json_of, text_of
from lockstitch_conformance.runner import AT_A_TIME, run_suite
from lockstitch_conformance.suite import Check
from lockstitch_conformance.target import NoToken, Target, tokens_of_a_command

KEPT, BROKEN, NOT_RUN = 0, 1, 2


def main() -> None:
    """Run the suite; exits with 0 where all promises are kept, 1 where some are broken, 2 where it could not run."""
    asked = _parser().parse_args()
    checks = _chosen(asked.category, asked.check)
    if not checks:
        _fail("there is no such check")
    if asked.list:
        sys.stdout.write("".join(f"{check.full_name}: {check.promise}\n" for check in checks))
        sys.exit(KEPT)
    if not asked.target or not asked.token_command:
        _fail("--target and --token-command are needed")
    target = Target(
        asked.target,
        tokens_of_a_command(asked.token_command),
        tenants=tuple(asked.tenants),
        certificates=asked.certificates,
        plain_text=asked.plain_text,
    )
    try:
        run = asyncio.run(run_suite(target, checks, at_a_time=asked.at_a_time))
    except NoToken as error:
        _fail(str(error))
    except aio.AioRpcError as error:
        _fail(f"{asked.target} does not answer GetServerInfo: {error.code().name}: {error.details()}")
    if asked.report:
        asked.report.write_text(json_of(run))
    sys.stdout.write(text_of(run, CATEGORIES))
    sys.exit(BROKEN if run.broken else KEPT)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lockstitch-conformance", description="Checks whether a server keeps lockstitch's wire contract."
    )
    parser.add_argument("--target", metavar="HOST:PORT", help="the server")
    parser.add_argument(
        "--token-command",
        metavar="COMMAND",
        help="prints a token and nothing else; {tenant}, {user} and {role} in it are put in",
    )
    parser.add_argument(
        "--tenants",
        nargs=2,
        metavar=("ONE", "OTHER"),
        default=["conformance-1", "conformance-2"],
        help="two tenants that the suite may write to; sessions stay there (default: conformance-1 conformance-2)",
    )
    parser.add_argument(
        "--category",
        action="append",
        choices=[category.name for category in CATEGORIES],
        help="check this category alone; may be given again",
    )
    parser.add_argument(
        "--check", action="append", metavar="CATEGORY/NAME", help="make this check alone; may be given again"
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a report in JSON, too")
    parser.add_argument("--certificates", type=Path, metavar="FILE", help="root certificates to trust, in PEM")
    parser.add_argument("--plain-text", action="store_true", help="speak plain text although it leaves this machine")
    parser.add_argument(
        "--at-a-time", type=int, default=AT_A_TIME, metavar="N", help=f"checks at the same time (default: {AT_A_TIME})"
    )
    parser.add_argument("--list", action="store_true", help="print the checks and make none")
    return parser


def _chosen(categories: list[str] | None, names: list[str] | None) -> list[Check]:
    return [
        check
        for category in CATEGORIES
        for check in category.checks
        if (not categories or category.name in categories) and (not names or check.full_name in names)
    ]


def _fail(what: str) -> NoReturn:
    sys.stderr.write(f"lockstitch-conformance: {what}\n")
    sys.exit(NOT_RUN)


if __name__ == "__main__":
    main()
