"""The recorded runs of a folder, as commands take them."""

from __future__ import annotations

from lctl.analysis.recordings import SUFFIX, Run, files, folders, is_live, read_run, runs

__all__ = ["SUFFIX", "Run", "files", "folders", "is_live", "read_run", "runs"]
