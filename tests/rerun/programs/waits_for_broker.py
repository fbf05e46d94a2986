"""A worker that takes jobs from a broker, in a process of its own or not, and waits for that if it is gone."""

import multiprocessing
import os
import socket
import sys
import time

from common_openai import ask
from openai import OpenAI


def work(port):
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port)) as broker:
                job = broker.recv(100).decode()
        except OSError:
            time.sleep(0.5)
            continue
        if not job:
            return
        print(ask(OpenAI(), job), flush=True)


port = int(sys.argv[2])
if sys.argv[1] == "here":
    work(port)
elif sys.argv[1] == "process":
    process = multiprocessing.get_context("fork").Process(target=work, args=(port,))
    process.start()
    process.join()
else:
    while True:  # a worker that has failed is started again
        child = os.fork()
        if not child:
            work(port)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            break
