"""Databases and indexes that libraries read and write past Python, in reruns."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from tests.unit.rerun.commands import Run, found

pytestmark = pytest.mark.slow

_DUCKDB = """
import duckdb
assert duckdb.connect.__name__ == "connect" and "database" in duckdb.connect.__doc__
db = duckdb.connect("kept.duckdb")
db.execute("CREATE TABLE IF NOT EXISTS said (text VARCHAR)")
db.execute("INSERT INTO said VALUES ('once')")
print(db.execute("SELECT count(*) FROM said").fetchone())
db.close()
with duckdb.connect("kept.duckdb", read_only=True) as again, duckdb.connect() as memory:
    print(again.execute("SELECT count(*) FROM said").fetchone(), memory.execute("SELECT 1").fetchone())
"""

_FAISS = """
import os
import faiss
import numpy as np
index = faiss.read_index("kept.faiss") if os.path.exists("kept.faiss") else faiss.IndexFlatL2(2)
index.add(np.ones((1, 2), dtype="float32"))
faiss.write_index(index, "kept.faiss")
print(index.ntotal, faiss.read_index("kept.faiss").ntotal)
"""

_HNSWLIB = """
import os
import hnswlib
import numpy as np
index = hnswlib.Index(space="l2", dim=2)
if os.path.exists("kept.bin"):
    index.load_index("kept.bin", max_elements=9)
else:
    index.init_index(max_elements=9)
index.add_items(np.ones((1, 2), dtype="float32"), [index.get_current_count()])
index.save_index(path_to_index="kept.bin")
print(index.get_current_count())
"""

_USEARCH = """
import os
import numpy as np
from usearch.index import Index
index = Index(ndim=2)
if os.path.exists("kept.usearch"):
    index.load("kept.usearch")
index.add(len(index), np.ones(2, dtype="float32"))
index.save("kept.usearch")
print(len(index))
"""

_KUZU = """
import kuzu
db = kuzu.Connection(kuzu.Database("kept.kuzu"))
db.execute("CREATE NODE TABLE IF NOT EXISTS Said (id SERIAL, text STRING, PRIMARY KEY (id))")
db.execute("CREATE (:Said {text: 'once'})")
print(db.execute("MATCH (s:Said) RETURN count(*)").get_next())
"""

_POLARS = """
import inspect
import os
import polars as pl
assert "separator" in inspect.signature(pl.read_csv).parameters
rows = pl.read_csv("kept.csv") if os.path.exists("kept.csv") else pl.DataFrame({"a": [0]})
rows = pl.concat([rows, rows.tail(1) + 1])
rows.write_csv("kept.csv")
rows.write_parquet(file="kept.parquet")
pl.read_csv("kept.*sv")
print(len(rows), pl.read_csv("kept.csv").height, open("kept.csv").read(), pl.read_parquet("kept.parquet"))
"""

_PYARROW = """
import os
import pyarrow as pa
import pyarrow.parquet as pq
if os.path.exists("kept.parquet"):
    table = pq.read_table("kept.parquet")
    table = pa.concat_tables([table, table.slice(0, 1)])
else:
    table = pa.table({"a": [1]})
pq.write_table(table, "kept.parquet")
print(table.num_rows, pq.read_table("kept.parquet").num_rows)
"""

_LANCEDB = """
import asyncio
import lancedb
db = lancedb.connect("store")
rows = [{"vector": [1.0, 2.0], "text": "once"}]
table = db.open_table("said") if "said" in db.table_names() else None
if table is None:
    table = db.create_table("said", rows)
else:
    table.add(rows)

async def count():
    db = await lancedb.connect_async("store")
    return await (await db.open_table("said")).count_rows()

print(table.count_rows(), asyncio.run(count()))
"""

_CHROMA = """
import chromadb
client = chromadb.PersistentClient("store")
said = client.get_or_create_collection("said")
said.add(ids=[str(said.count())], documents=["once"], embeddings=[[1.0, 2.0]])
print(said.count(), said.query(query_embeddings=[[1.0, 2.0]], n_results=1)["documents"])
"""


@pytest.mark.parametrize(
    ("library", "program", "store"),
    [
        ("duckdb", _DUCKDB, "kept.duckdb"),
        ("faiss", _FAISS, "kept.faiss"),
        ("hnswlib", _HNSWLIB, "kept.bin"),
        ("usearch", _USEARCH, "kept.usearch"),
        ("kuzu", _KUZU, "kept.kuzu"),
        ("polars", _POLARS, "kept.csv"),
        pytest.param("pyarrow", _PYARROW, "kept.parquet", marks=pytest.mark.frameworks),
        pytest.param("lancedb", _LANCEDB, "store", marks=pytest.mark.frameworks),
        pytest.param("chromadb", _CHROMA, "store", marks=pytest.mark.frameworks),
    ],
)
def test_they_are_what_they_were_and_stay_as_they_are(
    library: str, program: str, store: str, lctl: Run, tmp_path: Path
) -> None:
    pytest.importorskip(library)
    (tmp_path / "agent.py").write_text(f"import warnings\nwarnings.simplefilter('ignore')\n{program}")
    runs = [lctl("run", "-o", f"{name}.lctl.json", "agent.py") for name in ("first", "second")]
    assert [run.returncode for run in runs] == [0, 0], runs
    assert "1" in runs[0].stdout and "2" in runs[1].stdout
    states = [dict(found(tmp_path / f"{name}.lctl.json", "database")) for name in ("first", "second")]
    assert states[0][store] is None and "blob" in dict(states[1][store])  # type: ignore[call-overload]
    before = _content(tmp_path / store)
    refused = lctl("rerun", "first.lctl.json")
    assert refused.returncode == 1
    assert "opening the database" in refused.stderr and "--writes aside" in refused.stderr
    for name, run in zip(("first", "second"), runs, strict=True):
        again = lctl("rerun", f"{name}.lctl.json", "--writes", "aside")
        assert (again.returncode, again.stdout) == (0, run.stdout), again.stderr
        assert f"written aside, and gone: {store}" in again.stderr
        assert _content(tmp_path / store) == before


def _content(path: Path) -> dict[str, str]:
    files = path.rglob("*") if path.is_dir() else path.parent.glob(f"{path.name}*")
    return {str(file): sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()}


def test_a_rerun_of_what_auto_instrument_recorded_writes_none(lctl: Run, python: Run, tmp_path: Path) -> None:
    """Nothing of them is on its tape: they are as they are now."""
    pytest.importorskip("duckdb")
    (tmp_path / "agent.py").write_text(f"import lctl\nlctl.auto_instrument()\nlctl.get_session()\n{_DUCKDB}")
    recorded = python("agent.py")
    assert recorded.stdout == "(1,)\n(1,) (1,)\n", recorded.stderr
    (log,) = map(str, (tmp_path / ".lctl").glob("*.lctl.json"))
    before = _content(tmp_path / "kept.duckdb")
    again = lctl("rerun", log)
    assert again.returncode == 1 and "opening the database" in again.stderr
    again = lctl("rerun", log, "--writes", "aside")
    assert again.stdout == "(2,)\n(2,) (1,)\n", again.stderr
    assert _content(tmp_path / "kept.duckdb") == before
