import re

from lockstitch_migrations import expected_schema, files


def test_every_sql_file_has_a_number_of_its_own_and_a_phase() -> None:
    names = sorted(path.name for path in files.FOLDER.glob("*.sql"))
    assert names == [name for name in names if files.NAME.fullmatch(name)]
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))
    assert expected_schema() == names[-1].removesuffix(".sql")


def test_every_migration_says_why_and_what_it_locks() -> None:
    for migration in files.migrations():
        assert re.match(r"-- Why: .+\n(-- .*\n)*-- Locks: ", migration.sql), migration.name


def test_every_function_is_included_and_every_include_is_replaced() -> None:
    included = {name for path in files.FOLDER.glob("*.sql") for name in files.INCLUDE.findall(path.read_text())}
    assert included == {f"functions/{path.name}" for path in files.FOLDER.glob("functions/*.sql")}
    assert not any("-- include:" in migration.sql for migration in files.migrations())
