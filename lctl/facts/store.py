"""`FactStore`: facts asked for by query, in a running session or in a log.

facts = session.facts.query("SELECT * FROM facts WHERE confidence >= 0.7 ORDER BY confidence DESC")
facts = open_store("run.lctl.json", at=30).query("SELECT * WHERE tag = 'critical'")
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from threading import RLock
from typing import Any
from urllib.parse import unquote, urlsplit
from weakref import WeakValueDictionary, ref

from lctl.errors import QueryError, UsageError
from lctl.facts.facttable import FactTable
from lctl.facts.relevance import Embed, nearness, scores
from lctl.facts.sandbox import ROWS, SECONDS, Answer, Sandbox
from lctl.facts.sqltext import for_facts, for_sqlite, naming_rows, words_needed
from lctl.facts.tagtext import for_tags
from lctl.state.collection import paused
from lctl.trust.ledger import Ledger
from lctl.trust.standing import Standing

#: (agent or None, query, ids read, rows given)
OnRead = Callable[[str | None, str, list[str], int], None]

#: chain id -> store of a session that is open in this process.
live: WeakValueDictionary[str, FactStore]


class FactStore:
    """The facts of one ledger.

    Args:
        ledger: what is known.
        url: where this store is: `memory://<chain>/facts`, a file, or a database.
        catch_up: brings the ledger up to date; called before each read.
        asker: the agent that asks where a query does not say; None: nobody in particular.
        on_read: told of each read.
        embed: texts to vectors; `relevance()` is then their cosine.
        lock: held while the ledger is read, where others bring it up to date; a query itself runs without.
        seconds: a query may take.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        url: str = "",
        lock: AbstractContextManager[Any] | None = None,
        catch_up: Callable[[], object] | None = None,
        asker: Callable[[], str | None] | None = None,
        on_read: OnRead | None = None,
        embed: Embed | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self.url = url
        self._embed = embed
        self._ledger = ledger
        self._catch_up, self._asker, self._on_read = catch_up, asker, on_read
        self._lock = RLock()
        self._reading = nullcontext() if lock is None else lock
        self.sandbox = Sandbox(seconds)
        store = ref(self)  # the database is not to keep its store alive

        def relevance(words: object, row: object) -> float:
            found = store()
            return 0.0 if found is None else found._relevance(words, row)

        self.sandbox.function("relevance", 2, relevance)
        self._table = FactTable(self.sandbox, ledger)
        self._scores: dict[str, dict[int, float]] = {}
        self._vectors: dict[str, list[float]] = {}
        self._trouble: QueryError | None = None

    @property
    def embed(self) -> Embed | None:
        """Texts to vectors, for `relevance()`; None: by words."""
        return self._embed

    @embed.setter
    def embed(self, function: Embed | None) -> None:
        with self._lock:
            self._embed = function
            self._vectors = {}  # another function's vectors are of another space

    def query(self, sql: str, *, agent: str | None = None, limit: int = ROWS) -> list[dict[str, Any]]:
        """The rows of a SELECT over `facts`; `SELECT * WHERE ...` means facts too. The read is recorded.

        Args:
            agent: whose confidence it is; the one whose step is running when None.
            limit: more rows than this are an error: nobody should work on a part and not know.

        Raises:
            QueryError: it is no query, would do more than read, takes too long, or gives too much.
        """
        answer, read = self.ask(sql, agent=agent, limit=limit)
        if answer.more:
            raise QueryError(f"the query gives more than {limit:,} rows; add LIMIT, or ask for less")
        if self._on_read is not None:
            self._on_read(agent, sql, read, len(answer.rows))
        return answer.dicts()

    def ask(self, sql: str, *, agent: str | None = None, limit: int = ROWS) -> tuple[Answer, list[str]]:
        """The answer, and the ids of the facts read as far as the query shows them; records nothing."""
        if not isinstance(sql, str):
            raise QueryError(f"a query is text, not {type(sql).__name__}")
        if not isinstance(limit, int) or limit < 0:
            raise QueryError(f"limit={limit!r}: how many rows there may be, such as {ROWS}")
        with self._lock:
            self._scores.clear()
            self._trouble = None
            asked = for_facts(sql)
            meant = for_sqlite(for_facts(for_tags(sql)))
            with paused(), self._reading:
                self._prepare(agent, words_needed(asked) if self.embed is None else None)
            try:
                return self._answer(meant, limit, sql)
            except QueryError:
                if self._trouble is not None:
                    raise self._trouble from None
                raise

    def _prepare(self, agent: str | None, words: str | None) -> None:
        """Have the rows that the query may mean. With `words`, only facts that have one of them: asked of
        100,000 facts that is a tenth of the time."""
        if words is None:
            self.follow(agent)
            return
        self.follow(agent, table=False)
        found = self._scores[words] = scores(words, self._ledger.facts.texts())
        self._table.hold(self._agent(agent), found)

    def _agent(self, agent: str | None) -> str | None:
        return self._asker() if agent is None and self._asker is not None else agent

    def get(self, id: str, *, agent: str | None = None) -> Standing:
        """One fact, as a recorded read.

        Raises:
            UsageError: there is none of that id.
        """
        with self._lock, self._reading:
            self.follow(agent, table=False)
            found = self._ledger.fact(id)
        if self._on_read is not None:
            self._on_read(agent, "", [id], 1)
        return found

    def __len__(self) -> int:
        with self._lock, self._reading:
            self.follow(None, table=False)
            return len(self._ledger.facts)

    def follow(self, agent: str | None, *, table: bool = True) -> None:
        """Bring ledger and table up to date."""
        if self._catch_up is not None:
            self._catch_up()
        if table:
            self._table.follow(self._agent(agent))

    def _answer(self, meant: str, limit: int, said: str) -> tuple[Answer, list[str]]:
        named = naming_rows(meant)
        # The query as it is, too: `ORDER BY 2` of one column is wrong, and would be right with ids behind it.
        if named is not None and self.sandbox.takes(meant) and self.sandbox.takes(named.sql):
            answer = self.sandbox.ask(named.sql, limit, said=said)
            read = [id for row in answer.rows for id in row[-named.ids :] if id is not None]
            rows = [row[: -named.ids] for row in answer.rows]
            return Answer(answer.columns[: -named.ids], rows, answer.more), list(dict.fromkeys(read))
        answer = self.sandbox.ask(meant, limit, said=said)
        read = [row[answer.columns.index("id")] for row in answer.rows] if "id" in answer.columns else []
        known = self._ledger.facts
        return answer, [id for id in dict.fromkeys(read) if isinstance(id, str) and id in known]

    def _relevance(self, words: object, row: object) -> float:
        """Called by SQLite for a row; the first call for some words works out all of them."""
        if words is None:
            return 0.0
        found = self._scores.get(str(words))
        if found is None:
            try:
                found = self._scored(str(words))
            except QueryError as error:
                self._trouble = error
                raise
            self._scores[str(words)] = found
        return found.get(row - 1, 0.0) if isinstance(row, int) else 0.0

    def _scored(self, words: str) -> dict[int, float]:
        with self._reading:
            texts = self._ledger.facts.texts()
        if self.embed is not None:
            return nearness(words, texts, self.embed, self._vectors)
        return scores(words, texts)


live = WeakValueDictionary()


def open_store(url: str, *, at: int | None = None, embed: Embed | None = None) -> FactStore:
    """The store at `memory://<chain>/facts` (of a session of this process), or of a log: in a file
    (`run.lctl.json`, `file:///...`) or a database (`sqlite:///runs.db#chain`, `postgresql://...#chain`),
    there also as it was after event `at`.

    Raises:
        UsageError: no such session here, or another kind of URL.
        LogError, StoreError: the log cannot be read.
    """
    parts = urlsplit(url)
    if parts.scheme == "memory":
        found = live.get(unquote(parts.netloc))
        if found is None:
            open_ones = ", ".join(sorted(live)) or "none"
            raise UsageError(f"{url}: no session of that chain is open in this process (open: {open_ones})")
        return found
    database = parts.scheme in ("sqlite", "postgresql", "postgres")
    if len(parts.scheme) > 1 and parts.scheme != "file" and not database:
        raise UsageError(
            f"{url}: a fact store is memory://<chain>/facts, a file or a database, not {parts.scheme}://"
        )
    from lctl.codec import open_log
    from lctl.facts.querying import store_of

    path = unquote(parts.path) if parts.scheme == "file" else url
    return store_of(open_log(path), at=at, embed=embed)
