"""Where the cassette of a test is, and that of a fixture which tests share."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lctl.filenames import file_name

_SUFFIX = ".lctl.json"


class Test(NamedTuple):
    """A test, as its runner names it.

    Attributes:
        file: with the test.
        classes: it is in, outermost first.
        name: with its parameters in brackets.
        root: the folder of the whole suite.
    """

    file: Path
    classes: Sequence[str]
    name: str
    root: Path


def place(test: Test, folder: str, given: str | None) -> Path:
    """The test's own cassette: at `given` (relative to its file), else named after it in `folder`.

    A parametrised test has one for each set of parameters: `checkout.lctl.json` becomes
    `checkout[eur].lctl.json`.
    """
    _, bracket, parameters = test.name.partition("[")
    if given is not None:
        suffix = _safe(bracket + parameters) if bracket else ""
        return _beside(test.file.parent / given, suffix)
    where = _folder(test.file.parent, folder, test.root)
    return _normal(where / test.file.stem / f"{_safe('.'.join((*test.classes, test.name)))}{_SUFFIX}")


def shared_place(where: Path, classes: Sequence[str], name: str, folder: str, root: Path) -> Path:
    """That of a fixture which tests share: `fixture.<name>` beside the cassettes of these tests.

    Args:
        where: the file that the tests are in, or the folder of the files.
        classes: the tests are in, outermost first.
    """
    named = f"{_safe('.'.join((*classes, 'fixture', name)))}{_SUFFIX}"
    if where.is_dir():
        return _normal(_folder(where, folder, root) / named)
    return _normal(_folder(where.parent, folder, root) / where.stem / named)


def _folder(beside: Path, folder: str, root: Path) -> Path:
    """Of the unnamed cassettes of the files in `beside`."""
    where = beside / folder
    if Path(folder).is_absolute() or ".." in Path(folder).parts:  # files of several folders share it
        where /= os.path.relpath(beside, root).replace("..", "_")
    return where


def older_place(test: Test, folder: str, given: str | None) -> Path:
    """Where it was before classes and odd characters counted: tests that differ in those alone had one."""
    bare, bracket, parameters = test.name.partition("[")
    suffix = _older(bracket + parameters)
    if given is not None:
        return _beside(test.file.parent / given, suffix)
    return _normal(test.file.parent / folder / test.file.stem / f"{_older(bare)}{suffix}{_SUFFIX}")


def _beside(given: Path, suffix: str) -> Path:
    stem = given.name.removesuffix(".json").removesuffix(".lctl")
    return _normal(given.with_name(f"{stem}{suffix}{_SUFFIX}"))


def _normal(path: Path) -> Path:
    """One file has one name, so that two tests that name it are seen to."""
    return Path(os.path.normpath(path))


def _safe(name: str) -> str:
    return file_name(name, kept="_[]=.,+-", instead="_")


def _older(name: str) -> str:
    return re.sub(r"[^\w\[\]=.,+-]", "_", name)[:120]


def base(config: Any) -> str | None:
    """The folder of this run in which pytest keeps those of `tmp_path`; None where nobody has asked for one:
    asking makes it. pytest has no public way to see that."""
    found = getattr(getattr(config, "_tmp_path_factory", None), "_basetemp", None)
    return None if found is None else str(found)
