import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PROTOS = REPOSITORY / "protos"
FILES = sorted(PROTOS.glob("lockstitch/v1/*.proto"))
IN_DEBIAN = "Debian has it in protobuf-compiler, libprotobuf-dev and protobuf-compiler-grpc"

pytestmark = pytest.mark.skipif(shutil.which("protoc") is None, reason=f"protoc is not installed; {IN_DEBIAN}")


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def protoc(*arguments: str) -> None:
    run("protoc", f"--proto_path={PROTOS}", *arguments, *map(str, FILES))


def generate(language: str, folder: Path) -> list[Path]:
    """Make a language's messages, and give the files."""
    protoc(f"--{language}_out={folder}")
    return sorted(path for path in folder.rglob("*") if path.is_file())


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def test_csharp_has_a_file_for_each_of_the_protos(tmp_path: Path) -> None:
    made = generate("csharp", tmp_path)
    assert [path.name for path in made] == [f"{camel(path.stem)}.cs" for path in FILES]
    for path in made:
        assert "namespace Lockstitch.V1 {" in path.read_text(), path.name


def test_php_has_a_class_for_each_message_and_enum(tmp_path: Path) -> None:
    made = {path.relative_to(tmp_path).as_posix() for path in generate("php", tmp_path)}
    for name in ("Message", "AppendRequest", "SubscribeResponse", "ErrorReason", "WorkingMemory", "StartRunRequest"):
        assert f"Lockstitch/V1/{name}.php" in made


def test_ruby_has_a_file_for_each_of_the_protos(tmp_path: Path) -> None:
    made = [path.relative_to(tmp_path).as_posix() for path in generate("ruby", tmp_path)]
    assert made == [f"lockstitch/v1/{path.stem}_pb.rb" for path in FILES]


@pytest.mark.skipif(shutil.which("php") is None, reason="php is not installed")
def test_php_takes_what_was_made(tmp_path: Path) -> None:
    for path in generate("php", tmp_path):
        run("php", "-l", str(path))


@pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is not installed")
def test_ruby_takes_what_was_made(tmp_path: Path) -> None:
    for path in generate("ruby", tmp_path):
        run("ruby", "-wc", str(path))


# Debian has no plugin for C#: .NET's own tools bring it along.
@pytest.mark.parametrize("language", ["php", "ruby"])
def test_the_stubs_are_made_too(tmp_path: Path, language: str) -> None:
    plugin = shutil.which(f"grpc_{language}_plugin")
    if plugin is None:
        pytest.skip(f"grpc_{language}_plugin is not installed; {IN_DEBIAN}")
    protoc(f"--plugin=protoc-gen-grpc={plugin}", f"--grpc_out={tmp_path}")
    made = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    for service in ("SessionService", "RunService", "CheckpointService", "AdminService"):
        assert f"lockstitch.v1.{service}" in made
