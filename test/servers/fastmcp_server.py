"""A server on FastMCP, of any version from 2 on.

    python fastmcp_server.py http <port>     serves streamable HTTP at /mcp
    python fastmcp_server.py fork <socket>   serves stdio to each connection, in a process of its own

Importing FastMCP takes seconds. A fork has it imported already, so that a server can be started for every iteration.
"""

import os
import signal
import socket
import sys

from fastmcp import FastMCP


def create_server() -> FastMCP:
    server = FastMCP("notes")

    @server.tool
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    def greet(name: str) -> str:
        return f"Hello {name}"

    @server.tool
    def count_words(text: str) -> dict[str, int]:
        return {"words": len(text.split())}

    return server


def serve_connections(path: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            os.dup2(connection.fileno(), 0)
            os.dup2(connection.fileno(), 1)
            connection.close()
            # The streams of the parent remember what they were opened on.
            sys.stdin, sys.stdout = open(0), open(1, "w")
            create_server().run(show_banner=False)
            os._exit(0)
        connection.close()


if __name__ == "__main__":
    mode, place = sys.argv[1:]
    if mode == "http":
        create_server().run(transport="http", host="127.0.0.1", port=int(place), show_banner=False)
    else:
        serve_connections(place)
