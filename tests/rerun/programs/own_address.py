"""Asks at which address this machine is found, as many libraries do; and may send something there."""

import os
import socket


def connected() -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.connect(("192.0.2.1", 9))  # of addresses for documentation: nobody is there
    return found


with socket.create_server(("127.0.0.1", 0)), connected() as served:  # beside a server of its own
    print(served.getsockname())
with connected() as one:
    print(one.getsockname(), one.getpeername())
with connected() as other:
    print(other.getsockname())
    if os.environ.get("SENDS"):
        print(other.send(b"hello"))
