"""Runs the suite on a server that is started for it; what stands on the command line is the suite's."""

import shlex
import subprocess
import sys

from lockstitch_server.server_process import ServerProcess
from support.folders import open_folder


def main() -> int:
    """Give the suite's exit code."""
    with open_folder() as folder:
        server = ServerProcess.start(folder / "data")
        sign = [sys.executable, "-m", "lockstitch_server", "token", "--data-dir", str(server.data_dir)]
        token_command = shlex.join(sign) + " --tenant {tenant} --user {user} --role {role}"
        suite = [sys.executable, "-m", "lockstitch_conformance", *sys.argv[1:]]
        try:
            asked = [*suite, "--target", server.target, "--token-command", token_command]
            return subprocess.run(asked, check=False).returncode
        finally:
            server.stop()


if __name__ == "__main__":
    sys.exit(main())
