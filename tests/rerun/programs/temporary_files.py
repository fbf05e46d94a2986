"""Temporary files whose names are in prompts, in what tools are asked and say, and in what is printed."""

import os
import shutil
import tempfile
import traceback

from openai import OpenAI

import lctl

client = OpenAI()


def ask(question):
    messages = [{"role": "user", "content": question}]
    return client.chat.completions.create(model="gpt-4.1", messages=messages).choices[0].message.content


@lctl.tool
def measure(path):
    return {"path": path, "size": os.path.getsize(path)}


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "generated.py")
    with open(path, "w") as file:
        file.write("print(1/0)\n")
    try:
        exec(compile("print(1/0)", path, "exec"))
    except ZeroDivisionError:
        print(ask(traceback.format_exc()))
    print(folder, measure(path), "in", tempfile.gettempdir())

work = tempfile.mkdtemp(prefix="work-")
print(work, ask("look into " + work))
with tempfile.NamedTemporaryFile(delete=False, suffix=".log", dir=work) as log:
    log.write(b"hello")
print(ask(f"read {log.name}"), measure(log.name), os.listdir(work))
shutil.rmtree(work)
