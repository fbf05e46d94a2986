"""`export_training`: rows into a file, and beside it a manifest of what became of every sampled message."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import orjson

from lctl._version import __version__
from lctl.codec.wholefile import spare, writing
from lctl.conversation.restoring import names_in
from lctl.errors import UsageError
from lctl.training import constraints, pages
from lctl.training.contents import is_redacted, packed
from lctl.training.formats import FORMS, PARTLY
from lctl.training.planning import Paths, Plan
from lctl.training.preferences import By, PairForm, Preferences
from lctl.training.sample import Sample
from lctl.training.sampling import rows
from lctl.training.sources import Source, opened

PAIRED = ("dpo", "dpo-openai", "kto")
PAGES = ("markdown", "html")
FORMATS = (*FORMS, *PAIRED, *PAGES)


def export_training(
    log: Source | Iterable[Source],
    path: str | os.PathLike[str],
    format: str = "calls",
    *,
    paths: Paths = "all",
    pairs: By | None = None,
    shared: Literal["first", "every"] = "first",
    reasoning: Literal["exact", "ignore"] = "exact",
    min_weight_tokens: int = 1,
    train_edited: bool = False,
    max_len: int | None = None,
    allow_length: bool = False,
    continuation: bool = False,
    to_seq: int | None = None,
) -> dict[str, Any]:
    """Write the training data of a log, or of several, to `path`; the manifest, which is also written to
    `path` + ".manifest.json".

        lctl.export_training("run.lctl.json", "train.jsonl", format="openai")

    Of a log and its fork or rerun, and of two copies of one log, what both hold is trained once.

    Args:
        log: a path, an opened log, a chain, a tree, or a list of those.
        format: "calls", "openai", "hf", "axolotl", "sharegpt", "dpo", "dpo-openai", "kto", "markdown"
            or "html".
        paths, shared, reasoning, min_weight_tokens, train_edited, max_len, allow_length: as in `samples`.
        pairs: what tells the answers of a pair apart, and good ones of "kto" from bad ones: "value", "rating"
            or "edit"; by default all three.
        continuation: both sides of a pair go on with what followed.
        to_seq: what was in the log after that event.

    Raises:
        UsageError: there is no such format; an option has no such value; `path` is one of the logs.
        LogError: a log cannot be read, or the file cannot be written.
    """
    export = Export(
        log,
        format,
        pairs=pairs,
        continuation=continuation,
        to_seq=to_seq,
        paths=paths,
        shared=shared,
        reasoning=reasoning,
        min_weight_tokens=min_weight_tokens,
        train_edited=train_edited,
        max_len=max_len,
        allow_length=allow_length,
    )
    target = spare(Path(path), *export.names)
    write_whole(target, export.pieces())
    made = export.manifest(target.name)
    text = packed(made, orjson.OPT_INDENT_2)
    write_whole(target.with_name(target.name + ".manifest.json"), [text + b"\n"])
    return made


class Export:
    """One export: `pieces` first, then the `manifest` of what they were."""

    def __init__(
        self,
        log: Source | Iterable[Source],
        format: str = "calls",
        *,
        pairs: Any = None,
        continuation: bool = False,
        to_seq: int | None = None,
        **options: Any,
    ) -> None:
        if format not in FORMATS:
            raise UsageError(f"there is no training format {format!r}; there are {', '.join(FORMATS)}")
        if format == "dpo-openai" and continuation:
            raise UsageError("dpo-openai takes one assistant message a side: not with continuation=True")
        self.format = format
        self._options = options
        self._pairs = pairs
        self._continuation = continuation
        self._opened = opened(log, to_seq)
        self._counts: Counter[str] = Counter()
        self._breaks: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._excluded: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()
        self._refused: list[dict[str, Any]] = []
        self._warned: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._said = {"to_seq": to_seq, "pairs": pairs, "continuation": continuation or None, **options}

    @property
    def names(self) -> list[str]:
        """What its logs are called: the path of one that was read from a file."""
        return [one.name for one in self._opened]

    def pieces(self) -> Iterator[bytes]:
        """The file's bytes: a row a line, or a page in pieces."""
        if self.format in PAGES:
            page = pages.html if self.format == "html" else pages.markdown
            title = ", ".join(one.chain or one.name for one in self._opened)
            for text in page(f"Samples of {title}", self._samples()):
                yield text.encode("utf-8", "replace")
            return
        made = self._paired() if self.format in PAIRED else self._formed()
        for id, trained, row in made:
            found = constraints.problems(self.format, row)
            if found:
                self._refused.append({"row": id, "problems": sorted(set(found))})
                self._counts["trained"] -= trained
                self._skipped["refused"] += trained
                continue
            if self.format == "openai":
                self._warned.update(constraints.together(row))
            if self.format == "hf":
                self._kinds[_kind(row)] += 1
            self._counts["rows"] += 1
            yield packed(row) + b"\n"

    def manifest(self, name: str) -> dict[str, Any]:
        """What the pieces were; whole once they have all been taken."""
        counts = self._counts
        made: dict[str, Any] = {
            "lctl": __version__,
            "format": self.format,
            "file": name,
            "rows": counts["rows"],
        }
        if self.format in PAIRED:
            made["excluded"] = dict(sorted(self._excluded.items()))
        else:
            made |= {
                "calls": counts["calls"],
                "trained": counts["trained"],
                "merge_ratio": round(counts["planned"] / counts["samples"], 3) if counts["samples"] else None,
                "breaks": dict(sorted(self._breaks.items())),
                "skipped": dict(sorted((+self._skipped).items())),
            }
        made |= {"lost": dict(sorted((+self._lost).items())), "refused": self._refused}
        if self.format == "hf":
            made["kinds"] = dict(sorted(self._kinds.items()))
        if self.format == "openai":
            made["together"] = dict(sorted(self._warned.items()))
        said = {
            key: value if isinstance(value, str | int | bool) else "a function"
            for key, value in self._said.items()
            if value is not None
        }
        return made | {"options": said, "logs": [one.said for one in self._opened]}

    # -- rows --------------------------------------------------------------------------------

    def _samples(self) -> Iterator[Sample]:
        for one in self._opened:
            plan = Plan(one.tree, chain=one.chain, is_own=one.is_own, **self._options)
            self._counts["calls"] += plan.calls
            self._counts["trained"] += plan.trained
            self._counts["planned"] += plan.trained
            self._counts["samples"] += len(plan)
            self._breaks.update(plan.breaks)
            self._skipped.update(plan.skipped)
            for sample in rows(plan):
                self._lost["secret in a row"] += any(map(is_redacted, sample.messages))
                self._miss(sample.messages)
                self._lost["re-serialised tool arguments"] += any("reserialized" in c for c in sample.calls)
                if self.format in PAGES:
                    self._counts["rows"] += 1
                yield sample

    def _formed(self) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """(row, messages it trains, what it says)"""
        form = FORMS[self.format]()
        for sample in self._samples():
            before = form.lost[PARTLY]
            told = sample.prompt is None or self.format in ("calls", "hf")
            made = list(form.rows(sample)) if told else [{"prompt": sample.prompt}]
            untrained = form.lost[PARTLY] - before
            self._counts["trained"] -= untrained
            self._skipped["refused"] += untrained
            for row in made:
                yield sample.id, sample.trained - untrained if len(made) == 1 else 1, row
        self._lost.update(form.lost)

    def _paired(self) -> Iterator[tuple[str, int, dict[str, Any]]]:
        form = PairForm()
        for one in self._opened:
            found = Preferences(one.tree, by=self._pairs, continuation=self._continuation, chain=one.chain)
            prefix = f"{one.chain}:" if one.chain else ""
            if self.format == "kto":
                for judged in found.labels():
                    if one.is_own(one.tree[judged.id].number):
                        self._miss([judged.prompt, judged.completion])
                        yield prefix + judged.id, 0, form.kto(judged)
            else:
                make = form.dpo if self.format == "dpo" else form.openai
                for pair in found.pairs():
                    if any(one.is_own(one.tree[id].number) for id in pair.ids):
                        self._miss([pair.prompt, pair.chosen, pair.rejected])
                        yield prefix + " > ".join(pair.ids), 0, make(pair)
            self._excluded.update(found.excluded)
        self._lost.update(form.lost)

    def _miss(self, said: Any) -> None:
        self._lost["content that the log does not hold"] += sum(1 for _ in names_in(said))


def _kind(row: dict[str, Any]) -> str:
    """What kind of row TRL takes it for."""
    if "messages" in row:
        return "messages"
    return "text" if isinstance(row["prompt"], str) else "prompt and completion"


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """The file whole, or not at all."""
    with writing(path) as file:
        for piece in pieces:
            file.write(piece)
