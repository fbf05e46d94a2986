"""Files that commands write: whole or not at all, and nothing but their content is changed."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from lctl.codec.wholefile import writing
from lctl.errors import LogError


def _write(path: Path, data: bytes = b"new") -> None:
    with writing(path) as file:
        file.write(data)


def test_a_file_keeps_its_mode_its_links_and_its_other_names(tmp_path: Path) -> None:
    real, link, private, other = (tmp_path / name for name in ("real", "link", "private", "other"))
    real.write_bytes(b"old")
    link.symlink_to("real")
    _write(link)
    assert link.is_symlink() and real.read_bytes() == b"new"
    private.write_bytes(b"old")
    private.chmod(0o600)
    _write(private)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    other.hardlink_to(private)
    _write(private, b"newer")
    assert other.read_bytes() == b"newer" and other.samefile(private)
    _write(tmp_path / ("n" * 250))
    assert sorted(path.name[:1] for path in tmp_path.iterdir()) == ["l", "n", "o", "p", "r"]


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    _write(pipe)
    reader.join()
    assert got == [b"new"] and pipe.is_fifo()


def test_a_link_that_leads_nowhere_makes_its_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("made")
    _write(tmp_path / "link")
    assert (tmp_path / "made").read_bytes() == b"new"


def test_what_fails_leaves_what_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="half"), writing(path) as file:
        file.write(b"ne")
        raise ValueError("half")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(LogError, match="cannot be written"):
        _write(tmp_path / "nowhere" / "file")
    with pytest.raises(LogError, match="cannot be written"):
        _write(tmp_path)
