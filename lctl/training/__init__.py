"""On-policy training data from logs: samples, and the forms that trainers read.

`samples(tree)` is pure: it reads a tree and gives rows. `export_training` writes them, with a manifest
that says what became of every sampled message.
"""

from __future__ import annotations

from lctl.training.sample import Sample
from lctl.training.sampling import samples

__all__ = ["Sample", "samples"]
