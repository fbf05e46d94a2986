"""Reads of every kind from the surroundings, all of them in the prompt and in the output."""

import os
import random
import resource
import secrets
import shutil
import tempfile
import time
import uuid
from datetime import UTC, date, datetime

from common_openai import ask
from openai import OpenAI

client = OpenAI()
read = {
    "time": time.time(),
    "time_ns": time.time_ns(),
    "monotonic": time.monotonic(),
    "perf": time.perf_counter(),
    "local": time.localtime().tm_sec,
    "now": datetime.now().isoformat(),
    "utc": datetime.now(UTC).isoformat(),
    "today": date.today().isoformat(),
    "random": random.random(),
    "choice": random.choice(range(1000)),
    "own": random.Random().random(),
    "system": random.SystemRandom().random(),
    "uuid1": str(uuid.uuid1()),
    "uuid4": str(uuid.uuid4()),
    "urandom": os.urandom(8).hex(),
    "getrandom": os.getrandom(8).hex() if hasattr(os, "getrandom") else "",
    "load": os.getloadavg(),
    "times": os.times(),
    "usage": resource.getrusage(resource.RUSAGE_SELF).ru_utime,
    "free": shutil.disk_usage("/").free,
    "processors": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [],
    "token": secrets.token_hex(8),
    "below": secrets.randbelow(10**9),
    "environment": os.environ.get("WEATHER", "none"),
    "getenv": os.getenv("WEATHER_2"),
    "folder": os.path.basename(tempfile.mkdtemp()),
    "set": list({"apple", "pear", "plum", "fig", "quince", "medlar"}),
    "hash": hash("apple"),
    "input": input("Your name? "),
}
print(read)
print(ask(client, f"Consider {read}"))
start = time.perf_counter()
print(ask(client, "And again."), time.perf_counter() - start)
