"""Looks whether a port that it names is free, and serves there; it closes the connection first."""

import socket
import sys

from common_openai import ask
from openai import OpenAI

port = int(sys.argv[1])


def is_free():
    with socket.socket() as looking:
        try:
            looking.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


print("free", is_free())
with socket.socket() as server:
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen()
    client = socket.create_connection(("127.0.0.1", port))
    accepted, _ = server.accept()
    print("taken", is_free())
    accepted.close()
    client.recv(1)
    client.close()
print(ask(OpenAI(), "done"))
