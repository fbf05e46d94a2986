"""A library (`sessions`, in a folder of installed ones) names each session that it asks an own server in by chance."""

import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.environ["INSTALLED"])
import sessions
from common_openai import ask
from openai import OpenAI

client = OpenAI()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        said = ask(client, f"question {self.path.rpartition('/')[2]}").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever).start()
for n in range(3):
    print(sessions.ask(f"http://127.0.0.1:{server.server_port}", n))
server.shutdown()
server.server_close()
