"""Contracts from files: YAML, JSON or Python. What is wrong in one is said with file, line and column."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lctl.codec.yamltext import composed
from lctl.errors import LogNotFound, UsageError
from lctl.trust.contracts import Contract, contracts_of, faults, path_text

Given = str | os.PathLike[str] | Mapping[str, Any] | Contract | Iterable[Contract | str | os.PathLike[str]]

_SUFFIXES = (".yaml", ".yml", ".json")


class ContractError(UsageError):
    """A contract file is wrong; `detail` lists what else is."""

    def __init__(self, found: Sequence[str]) -> None:
        super().__init__(found[0])
        self.detail = tuple(found[1:])


def read_contracts(given: Given) -> list[Contract]:
    """Contracts as a program or a command line names them: a file, a folder (its YAML and JSON files), a
    decoded document, contracts, or several of these. Python files are run, and only when named themselves.

    Raises:
        ContractError: a file is wrong.
        UsageError: a document is wrong, or two contracts have one name.
        LogNotFound: there is no such file.
    """
    found = list(_each(given))
    seen: dict[str, Contract] = {}
    for one in found:
        if one.name in seen and seen[one.name] != one:
            raise UsageError(f"there are two contracts named {one.name!r}")
        seen[one.name] = one
    return list(seen.values())


def _each(given: Given) -> Iterable[Contract]:
    if isinstance(given, Contract):
        return [given]
    if isinstance(given, Mapping):
        return contracts_of(given)
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        if path.is_dir():
            files = sorted(one for one in path.rglob("*") if one.suffix.lower() in _SUFFIXES)
            if not files:
                raise UsageError(f"{path}: there is no contract file (.yaml, .yml, .json) in it")
            return [one for file in files for one in _file(file)]
        return _file(path)
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise UsageError(f"contracts are files, folders, documents or Contracts, not {given!r:.80}")
    return [one for part in given for one in _each(part)]


def _file(path: Path) -> list[Contract]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LogNotFound(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise ContractError([f"{path}: not UTF-8 text ({error.reason} at byte {error.start})"]) from None
    if path.suffix == ".py":
        return _program(path)
    try:
        document, marks = composed(text, str(path))
    except ValueError as error:
        line, column, reason = error.args[0]
        raise ContractError([f"{path}:{line}:{column}: {reason}"]) from None
    wrong = []
    for at, said in faults(document):
        line, column = _mark(marks, at)
        where = f" ({path_text(at)})" if at else ""
        wrong.append(f"{path}:{line}:{column}: {said}{where}")
    if wrong:
        raise ContractError(wrong)
    return contracts_of(document)


def _mark(
    marks: Mapping[tuple[str | int, ...], tuple[int, int]], at: tuple[str | int, ...]
) -> tuple[int, int]:
    """Line and column of a path, or of the innermost thing around it."""
    while at and at not in marks:
        at = at[:-1]
    return marks.get(at, (1, 1))


def _program(path: Path) -> list[Contract]:
    import runpy
    import traceback

    try:
        names = runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        if isinstance(error, SyntaxError):
            line, column = error.lineno or 1, error.offset or 1
        else:
            mine = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == str(path)]
            line, column = (mine[-1].lineno or 1, (mine[-1].colno or 0) + 1) if mine else (1, 1)
        raise ContractError([f"{path}:{line}:{column}: {type(error).__name__}: {error}"]) from error
    given = names.get("contracts")
    if given is None:
        raise ContractError([f"{path}:1:1: the file sets no `contracts`"])
    return list(_each(given))
