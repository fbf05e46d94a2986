"""Looks for a free port, starts a model server there in a process of its own, and asks it."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

from openai import OpenAI


class Model(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": os.urandom(8).hex()}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.answer({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    def answer(self, body):
        body = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Pong(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"pong")

    def log_message(self, *args):
        pass


def free_port(family=socket.AF_INET, host="127.0.0.1"):
    with socket.socket(family) as drawn:
        drawn.bind((host, 0))
        return drawn.getsockname()[1]


def asked_elsewhere():
    port = free_port()
    server = subprocess.Popen([sys.executable, __file__, "serve", str(port)])
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                urllib.request.urlopen(f"{url}/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        client = OpenAI(api_key="k", base_url=f"{url}/v1")
        asked = [{"role": "user", "content": f"at {port}"}]
        print(port, client.chat.completions.create(model="m", messages=asked).choices[0].message.content)
    finally:
        server.terminate()
        server.wait()


def asked_here():
    """At its own server, which is at the port that it has."""
    with HTTPServer(("127.0.0.1", 0), Pong) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        print(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").read())
        server.shutdown()
        thread.join()


if "serve" in sys.argv:
    HTTPServer(("127.0.0.1", int(sys.argv[2])), Model).serve_forever()
elif "here" in sys.argv:
    client = OpenAI()
    asked = [{"role": "user", "content": "ping"}]
    print(client.chat.completions.create(model="m", messages=asked).choices[0].message.content)
    asked_here()
else:
    asked_elsewhere()
    print(free_port(), free_port() == free_port())
