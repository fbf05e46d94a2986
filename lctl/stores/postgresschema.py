"""The tables of a PostgreSQL store, and how an older one becomes the newest.

Chunks are partitioned by a hash of their chain: plain partitions spread them over tablespaces, and Citus
distributes the same table by the same column. Every table has the tenant, and row-level security lets a
role see that of its own tenant alone. The owner of the schema is trusted: it says by the setting
`lctl.tenant` which tenant it works for.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import StoreError, UnsupportedVersion

_PARTITIONS = 16

_TENANTS = """
CREATE TABLE {s}.members (role name PRIMARY KEY, tenant text NOT NULL);
CREATE FUNCTION {s}.tenant() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT tenant FROM {s}.members WHERE role = current_user),
    CASE WHEN pg_has_role(current_user, (SELECT nspowner FROM pg_namespace WHERE nspname = '{s}'), 'MEMBER')
         THEN coalesce(current_setting('lctl.tenant', true), '') END)
$$;
"""

_CHAINS = """
CREATE TABLE {s}.chains (
    num bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL DEFAULT {s}.tenant(),
    id text NOT NULL,
    origin text,
    header json NOT NULL,
    first_seq bigint NOT NULL DEFAULT 0,
    last_seq bigint NOT NULL DEFAULT 0,
    packed bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    started text COLLATE "C" NOT NULL DEFAULT '',
    updated text COLLATE "C" NOT NULL DEFAULT '',
    closed smallint NOT NULL DEFAULT 0,
    tail json,
    summary json,
    UNIQUE (tenant, id)
);
CREATE INDEX ON {s}.chains (tenant, origin);
CREATE INDEX ON {s}.chains (tenant, started, num);
CREATE TABLE {s}.chunks (
    chain bigint NOT NULL,
    tenant text NOT NULL DEFAULT {s}.tenant(),
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    form smallint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (chain, first_seq)
) PARTITION BY HASH (chain);
"""

_SESSIONS = """
CREATE TABLE {s}.sessions (
    chain bigint NOT NULL REFERENCES {s}.chains (num),
    tenant text NOT NULL DEFAULT {s}.tenant(),
    session_id text NOT NULL,
    conversation_id text NOT NULL,
    parent_conversation_id text,
    trigger_type text,
    trigger_id text,
    model_id text,
    model_context_window bigint,
    status text NOT NULL,
    policy jsonb,
    state jsonb,
    tool_names jsonb,
    seed_message_count integer NOT NULL DEFAULT 0,
    to_message_number bigint NOT NULL DEFAULT 0,
    total_turns bigint NOT NULL DEFAULT 0,
    total_input_tokens bigint NOT NULL DEFAULT 0,
    total_output_tokens bigint NOT NULL DEFAULT 0,
    total_cached_tokens bigint NOT NULL DEFAULT 0,
    total_cost double precision,
    started_at text COLLATE "C" NOT NULL,
    completed_at text,
    error jsonb,
    last_seq bigint NOT NULL,
    PRIMARY KEY (chain, session_id)
);
CREATE INDEX ON {s}.sessions (tenant, session_id);
CREATE INDEX ON {s}.sessions (tenant, conversation_id);
CREATE TABLE {s}.seed_messages (
    chain bigint NOT NULL REFERENCES {s}.chains (num),
    tenant text NOT NULL DEFAULT {s}.tenant(),
    session_id text NOT NULL,
    ordinal integer NOT NULL,
    role text NOT NULL,
    content text NOT NULL,
    is_new boolean NOT NULL DEFAULT false,
    timestamp text,
    details jsonb,
    PRIMARY KEY (chain, session_id, ordinal)
);
"""

_TEXTS = """
ALTER TABLE {s}.chains ADD COLUMN indexed bigint NOT NULL DEFAULT 0;
CREATE TABLE {s}.texts (
    chain bigint NOT NULL REFERENCES {s}.chains (num),
    tenant text NOT NULL DEFAULT {s}.tenant(),
    seq bigint NOT NULL,
    kind text NOT NULL,
    words text NOT NULL,
    vector tsvector GENERATED ALWAYS AS (to_tsvector('simple', words)) STORED,
    PRIMARY KEY (chain, seq)
);
CREATE INDEX ON {s}.texts USING gin (vector);
"""

#: PostgreSQL's own idea of a word takes an address or a path for one: it is given ours, one by one.
_TERMS = """
TRUNCATE {s}.texts;
ALTER TABLE {s}.texts DROP COLUMN vector;
ALTER TABLE {s}.texts ADD COLUMN terms text NOT NULL DEFAULT '';
ALTER TABLE {s}.texts ADD COLUMN vector tsvector GENERATED ALWAYS AS (to_tsvector('simple', terms)) STORED;
CREATE INDEX ON {s}.texts USING gin (vector);
UPDATE {s}.chains SET indexed = 0;
"""

#: Tables a member of a tenant works with.
TABLES = ("chains", "chunks", "sessions", "seed_messages", "texts")


def steps(schema: str) -> list[list[str]]:
    """Each step goes from the version that is its place in the list to the next."""
    parts = [
        f"CREATE TABLE {schema}.chunks_{n} PARTITION OF {schema}.chunks "
        f"FOR VALUES WITH (MODULUS {_PARTITIONS}, REMAINDER {n})"
        for n in range(_PARTITIONS)
    ]
    # Chunks that are compressed already are not to be compressed again.
    parts += [
        f"ALTER TABLE {schema}.chunks_{n} ALTER COLUMN body SET STORAGE EXTERNAL" for n in range(_PARTITIONS)
    ]
    return [
        [*_written(_TENANTS + _CHAINS, schema), *parts, *_guards(schema, "chains", "chunks")],
        [*_written(_SESSIONS, schema), *_guards(schema, "sessions", "seed_messages")],
        [*_written(_TEXTS, schema), *_guards(schema, "texts")],
        _written(_TERMS, schema),
    ]


def _written(sql: str, schema: str) -> list[str]:
    return [sql.replace("{s}", schema)]


def _guards(schema: str, *tables: str) -> list[str]:
    made = []
    for table in tables:
        made.append(f"ALTER TABLE {schema}.{table} ENABLE ROW LEVEL SECURITY")
        made.append(
            f"CREATE POLICY own_tenant ON {schema}.{table} "
            f"USING (tenant = {schema}.tenant()) WITH CHECK (tenant = {schema}.tenant())"
        )
    return made


def migrate(connection: Any, schema: str, name: str) -> int:
    """Bring the tables to the newest version; the version they had. Those who come at once take turns.

    Raises:
        UnsupportedVersion: a newer lctl made them.
        StoreError: there are none, and this role may not make them.
    """
    known = steps(schema)
    version = _version(connection, schema)
    if version == len(known):
        return version
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('lctl'), hashtext(%s))", (schema,))
        version = _version(connection, schema)
        if version > len(known):
            raise UnsupportedVersion(
                f"{name}: its tables are version {version}, this lctl knows {len(known)}; "
                "upgrade it with: pip install -U lctl"
            )
        if not version:
            _make_schema(connection, schema, name)
        for step in known[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"UPDATE {schema}.version SET number = %s", (len(known),))
    return version


def _make_schema(connection: Any, schema: str, name: str) -> None:
    import psycopg

    try:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        connection.execute(f"CREATE TABLE {schema}.version (number integer NOT NULL)")
        connection.execute(f"INSERT INTO {schema}.version VALUES (0)")
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreError(
            f"{name}: there is no schema {schema} that this role may use, and it may not make one; "
            "open the store once as the database's owner"
        ) from error


def _version(connection: Any, schema: str) -> int:
    import psycopg

    there = connection.execute("SELECT to_regclass(%s)", (f"{schema}.version",)).fetchone()[0]
    if there is None:
        return 0
    try:
        return int(connection.execute(f"SELECT number FROM {schema}.version").fetchone()[0])
    except psycopg.errors.InsufficientPrivilege:
        raise StoreError(
            f"{name_of(connection)}: this role is no member of a tenant of schema {schema}"
        ) from None


def name_of(connection: Any) -> str:
    return f"{connection.info.user}@{connection.info.dbname}"


def admission(schema: str) -> list[str]:
    """What lets a role use the tables; `{role}` stands for it."""
    tables = ", ".join(f"{schema}.{table}" for table in TABLES)
    return [
        f"GRANT USAGE ON SCHEMA {schema} TO {{role}}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {{role}}",
        f"GRANT SELECT ON {schema}.members, {schema}.version TO {{role}}",
    ]
