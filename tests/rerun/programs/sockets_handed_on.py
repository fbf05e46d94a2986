"""Ends of connections to a server of the program's own, in the hands of those who ask for their very class."""

import copy
import multiprocessing
import pickle
import socket
import sys

LINE = b"GET / HTTP/1.1\r\n\r\n"


def answer(pipe):
    accepted = pipe.recv()
    accepted.sendall(b"child: " + accepted.recv(100))
    accepted.close()
    pipe.send("done")


def hand_on(made, accepted):
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    child = context.Process(target=answer, args=(there,))
    child.start()
    here.send(accepted)
    made.sendall(LINE)
    print(made.recv(100), here.recv())
    child.join()


def main():
    listening = socket.create_server(("127.0.0.1", 0))
    made = socket.create_connection(listening.getsockname())
    accepted, _ = listening.accept()
    hand_on(made, accepted)
    for refuse in (pickle.dumps, copy.copy):
        try:
            refuse(accepted)
        except TypeError as error:
            print(error)
    if "trio" in sys.argv:
        import trio

        async def wrap():
            for end in (made, accepted):
                print(trio.socket.from_stdlib_socket(end).family.name)

        trio.run(wrap)
    for end in (made, accepted, listening):
        end.close()


if __name__ == "__main__":
    main()
