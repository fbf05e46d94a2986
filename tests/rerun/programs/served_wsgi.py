"""An application of plain WSGI, for whichever server: gunicorn, or Flask's and Django's that reload."""

import sys

from common_openai import ask
from openai import OpenAI

client = OpenAI()


def answer(name):
    said = ask(client, f"question {name}")
    said = ask(client, f"question {name}", said, "go on")
    print("asked for", name, flush=True)
    return said


def application(environ, start_response):
    said = answer(environ["PATH_INFO"]).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(said)))])
    return [said]


def by_flask(port):
    from flask import Flask

    app = Flask(__name__)
    app.get("/<name>")(answer)
    app.run(port=int(port), debug=True)


def by_django():
    from django.conf import settings
    from django.core.management import execute_from_command_line
    from django.http import HttpResponse
    from django.urls import path

    urls = [path("<str:name>", lambda request, name: HttpResponse(answer(name)))]
    settings.configure(DEBUG=True, SECRET_KEY="any", ROOT_URLCONF=tuple(urls), MIDDLEWARE=[])
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    by_django() if sys.argv[1] == "runserver" else by_flask(sys.argv[1])
