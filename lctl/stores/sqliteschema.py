"""The tables of a SQLite store, and how an older one becomes the newest; its version is `user_version`."""

from __future__ import annotations

import sqlite3

from lctl.errors import UnsupportedVersion

#: Each step goes from the version that is its place in the list to the next.
STEPS = (
    """
    CREATE TABLE chains (
        num INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        origin TEXT,
        header TEXT NOT NULL,
        first_seq INTEGER NOT NULL DEFAULT 0,
        last_seq INTEGER NOT NULL DEFAULT 0,
        packed INTEGER NOT NULL DEFAULT 0,
        bytes INTEGER NOT NULL DEFAULT 0,
        started TEXT NOT NULL DEFAULT '',
        updated TEXT NOT NULL DEFAULT '',
        closed INTEGER NOT NULL DEFAULT 0,
        tail TEXT,
        summary TEXT
    );
    CREATE INDEX chains_origin ON chains (origin);
    CREATE INDEX chains_started ON chains (started, num);
    CREATE TABLE chunks (
        chain INTEGER NOT NULL REFERENCES chains (num),
        first_seq INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        form INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (chain, first_seq)
    );
    """,
    """
    CREATE TABLE sessions (
        chain INTEGER NOT NULL REFERENCES chains (num),
        session_id TEXT NOT NULL,
        conversation_id TEXT NOT NULL,
        parent_conversation_id TEXT,
        trigger_type TEXT,
        trigger_id TEXT,
        model_id TEXT,
        model_context_window INTEGER,
        status TEXT NOT NULL,
        policy TEXT,
        state TEXT,
        tool_names TEXT,
        seed_message_count INTEGER NOT NULL DEFAULT 0,
        to_message_number INTEGER NOT NULL DEFAULT 0,
        total_turns INTEGER NOT NULL DEFAULT 0,
        total_input_tokens INTEGER NOT NULL DEFAULT 0,
        total_output_tokens INTEGER NOT NULL DEFAULT 0,
        total_cached_tokens INTEGER NOT NULL DEFAULT 0,
        total_cost REAL,
        started_at TEXT NOT NULL,
        completed_at TEXT,
        error TEXT,
        last_seq INTEGER NOT NULL,
        PRIMARY KEY (chain, session_id)
    );
    CREATE INDEX sessions_id ON sessions (session_id);
    CREATE INDEX sessions_conversation ON sessions (conversation_id);
    CREATE TABLE seed_messages (
        chain INTEGER NOT NULL REFERENCES chains (num),
        session_id TEXT NOT NULL,
        ordinal INTEGER NOT NULL,
        role TEXT NOT NULL,
        content TEXT NOT NULL,
        is_new INTEGER NOT NULL DEFAULT 0,
        timestamp TEXT,
        details TEXT,
        PRIMARY KEY (chain, session_id, ordinal)
    );
    """,
    """
    ALTER TABLE chains ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
    CREATE VIRTUAL TABLE texts USING fts5 (chain UNINDEXED, seq UNINDEXED, kind UNINDEXED, words);
    """,
    """
    DROP TABLE texts;
    CREATE VIRTUAL TABLE texts USING fts5 (chain UNINDEXED, seq UNINDEXED, kind UNINDEXED,
        words UNINDEXED, terms);
    UPDATE chains SET indexed = 0;
    """,
)


def migrate(connection: sqlite3.Connection, name: str) -> int:
    """Bring the tables to the newest version; the version they had. Those who come at once take turns.

    Raises:
        UnsupportedVersion: a newer lctl made them.
    """
    version = _version(connection)
    if version == len(STEPS):
        return version
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        if version > len(STEPS):
            raise UnsupportedVersion(
                f"{name}: its tables are version {version}, this lctl knows {len(STEPS)}; "
                "upgrade it with: pip install -U lctl"
            )
        for step in STEPS[version:]:
            for statement in step.split(";"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return version


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
