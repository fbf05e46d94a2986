"""The program under review: a small shop with the mistakes such programs have. It is data."""

from __future__ import annotations

USERS = """\
import hashlib


def find_user(db, name):
    return db.execute("SELECT id, name FROM users WHERE name = '" + name + "'").fetchall()


def set_password(db, user_id, password):
    digest = hashlib.md5(password.encode()).hexdigest()
    db.execute("UPDATE users SET digest = ? WHERE id = ?", (digest, user_id))
"""

REPORTS = """\
import pickle
import subprocess


def render(name):
    return subprocess.run("report " + name, shell=True, capture_output=True).stdout


def load_draft(blob):
    return pickle.loads(blob)
"""

SETTINGS = """\
DEBUG = True
ALLOWED_HOSTS = ["*"]
DATABASE = "postgres://shop@db.internal/shop"
SESSION_COOKIE_SECURE = False
"""

#: File name -> source, as the agents' tools see it.
FILES = {"users.py": USERS, "reports.py": REPORTS, "settings.py": SETTINGS}
