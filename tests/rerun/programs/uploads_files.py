"""Files sent in parts, whose boundary is another one in each run: of bytes, of a text, of more than a log keeps."""

import io
import os

import openai
from openai import OpenAI

client = OpenAI()
for file in (io.BytesIO(os.urandom(300)), ("a.txt", b"a text"), ("big.bin", b"x" * 1_200_000)):
    try:
        client.files.create(file=file, purpose="user_data")
    except openai.NotFoundError as error:  # the server of the tests keeps no files
        print(error.status_code, error.request_id)
