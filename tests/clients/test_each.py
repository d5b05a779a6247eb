import shutil
import subprocess
from pathlib import Path

import pytest

EACH = Path(__file__).parents[2] / "client/each"


def each(folder: Path, languages: dict[str, str], *targets: str) -> "subprocess.CompletedProcess[str]":
    """Run client/each over languages of these Makefiles."""
    shutil.copy(EACH, folder / "each")
    for language, makefile in languages.items():
        (folder / language).mkdir()
        (folder / language / "Makefile").write_text(makefile)
    return subprocess.run([folder / "each", *targets], capture_output=True, text=True, timeout=60, check=False)


HERE = "toolchain:\n\t@true\n"
MISSING = "toolchain:\n\t@echo cobol is not installed; exit 1\n"
WORKS = "test:\n\t@echo tested >> said\nengine:\n\t@echo built >> said\n"
FAILS = "test:\n\t@false\nengine:\n\t@echo built >> said\n"


def test_each_language_makes_each_target_in_turn(tmp_path: Path) -> None:
    done = each(tmp_path, {"ada": HERE + WORKS, "basic": HERE + WORKS}, "test", "engine")
    assert done.returncode == 0, done.stderr
    for language in ("ada", "basic"):
        assert (tmp_path / language / "said").read_text() == "tested\nbuilt\n"
    assert "ok: client/ada: test engine\nok: client/basic: test engine\n" in done.stdout


def test_a_language_whose_toolchain_is_missing_is_named_as_skipped(tmp_path: Path) -> None:
    done = each(tmp_path, {"ada": HERE + WORKS, "cobol": MISSING + FAILS}, "test")
    assert done.returncode == 0, done.stderr
    assert "SKIPPED: client/cobol: cobol is not installed\n" in done.stdout
    assert "ok: client/cobol" not in done.stdout


def test_a_language_without_a_word_on_its_toolchain_is_named_too(tmp_path: Path) -> None:
    done = each(tmp_path, {"cobol": "toolchain:\n\t@false\n"}, "test")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "SKIPPED: client/cobol: its toolchain is missing\n"


@pytest.mark.parametrize("order", [("ada", "basic"), ("basic", "ada")])
def test_one_that_fails_is_named_and_the_others_have_their_turn(tmp_path: Path, order: tuple[str, str]) -> None:
    failing, working = order
    done = each(tmp_path, {failing: HERE + FAILS, working: HERE + WORKS}, "test", "engine")
    assert done.returncode == 1
    assert f"FAILED: client/{failing}: make -C client/{failing} test\n" in done.stdout
    assert f"ok: client/{working}: test engine\n" in done.stdout
    assert not (tmp_path / failing / "said").exists()


def test_a_target_that_a_language_lacks_is_a_failure(tmp_path: Path) -> None:
    done = each(tmp_path, {"ada": HERE}, "test")
    assert done.returncode == 1
    assert "FAILED: client/ada: make -C client/ada test\n" in done.stdout
