"""The recorded runs of a folder, as commands take them."""

from __future__ import annotations

from lctl.analysis.recordings import files, folders, runs
from lctl.analysis.run import SUFFIX, Run, is_live
from lctl.analysis.runends import read_run

__all__ = ["SUFFIX", "Run", "files", "folders", "is_live", "read_run", "runs"]
