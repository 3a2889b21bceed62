"""Have a server run a command, and behave as its process: the ``python3`` that warm_commands.py writes.

It starts in some milliseconds, hands over what its process was started with, passes signals on, and ends as the command
does. Where it is killed, the server kills the command.
"""

import json
import os
import resource
import signal
import socket
import sys

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def main() -> None:
    """Run the words of the command line."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.connect(os.path.join(os.path.dirname(os.path.abspath(__file__)), "socket"))
    largest_file = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    request = {
        "words": sys.argv[1:],
        "environment": dict(os.environ),
        "directory": os.getcwd(),
        "own_session": False,
        "largest_file": None if largest_file == resource.RLIM_INFINITY else largest_file,
        "in_place_of": os.getpid(),
        "ignored": [number for number in SIGNALS if signal.getsignal(number) == signal.SIG_IGN],
    }
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until there is a command to pass them on to
    socket.send_fds(server, [json.dumps(request).encode()], [0, 1, 2])
    pid = int(server.recv(32))
    for number in SIGNALS:
        if number not in request["ignored"]:
            signal.signal(number, lambda received, _: os.kill(pid, received))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    code = int(server.recv(32))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main()
