"""Becomes a command as another account: run by path, in a process of its own; nothing is imported but Python's own.

`as_account.py PARENT UID GID COMMAND…`. What it does could be done between fork and exec of the server itself, were it
not for gRPC's threads there: Python code that runs beside what they held when the fork came crashes, or waits for ever.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Change the account, ask to be told when the parent dies by whatever death, and become the command."""
    parent, uid, gid = (int(word) for word in sys.argv[1:4])
    if uid != os.geteuid():
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    # Elsewhere a postmaster that outlives its server stops the next one from starting, by its own lock.
    if sys.platform == "linux":
        # After the change of the account, which clears the wish.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)
        if os.getppid() != parent:
            os._exit(1)  # it died in between
    os.execv(sys.argv[4], sys.argv[4:])  # noqa: S606 - there is no shell


if __name__ == "__main__":
    main()
