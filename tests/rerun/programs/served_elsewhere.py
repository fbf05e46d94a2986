"""Servers whose requests a rerun cannot ask again (of another protocol), or has to ask in another process than
the first."""

import os
import signal
import socket
import subprocess
import sys
import tempfile

from common_openai import ask
from openai import OpenAI


def by_worker(port):
    """Its parent listens, a forked child answers, and says by a file of its parent's that it lives."""
    beats = tempfile.TemporaryFile()
    listening = socket.create_server(("127.0.0.1", port))
    child = os.fork()
    if not child:
        client = OpenAI()
        while True:
            os.utime(beats.fileno())
            connection, _ = listening.accept()
            with connection:
                if connection.recv(1000):
                    said = ask(client, "question").encode()
                    connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + said)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    os.waitpid(child, 0)


def by_child(port):
    """As servers that reload themselves: another Python runs this, and answers."""
    if "IS_CHILD" in os.environ:
        with socket.create_server(("127.0.0.1", port)) as listening:
            while True:
                connection, _ = listening.accept()
                with connection:
                    if connection.recv(1000):
                        connection.sendall(ask(OpenAI(), "question").encode())
    child = subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "IS_CHILD": "1"})
    signal.signal(signal.SIGTERM, lambda *_: child.kill())
    child.wait()


{"worker": by_worker, "child": by_child}[sys.argv[1]](int(sys.argv[2]))
