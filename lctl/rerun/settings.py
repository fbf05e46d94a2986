"""How a rerun was asked for. Travels to the program, and to the processes it starts, in LCTL_RERUN."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from lctl.errors import UsageError

#: strict: anything but exact stops the rerun. pin: served by identity although the content differs.
#: until-divergence: exact is served; the first that is not goes live, and all of its lane after it.
Policy = Literal["strict", "pin", "until-divergence"]
POLICIES: tuple[Policy, ...] = ("strict", "pin", "until-divergence")

VARIABLE = "LCTL_RERUN"
#: Taken out of its environment by the first process that begins: that one is the program itself.
MAIN = "LCTL_RERUN_MAIN"
#: Stands for each key that the recorded program had. A rerun sends nothing, so any text will do.
DUMMY_KEY = "lctl-rerun-needs-no-key"
#: What the name of a rerun's folder for temporary files begins with.
SCRATCH = "lctl-rerun-"


def new_log(path: str | os.PathLike[str] | None) -> str | None:
    """Where the log of a rerun or fork is asked to go, as an absolute path.

    Raises:
        UsageError: something is there already. No run is added to another one's log.
    """
    if path is None:
        return None
    if Path(path).exists():
        raise UsageError(f"{os.fspath(path)}: is there already; a rerun or fork writes a log of its own")
    return str(Path(path).absolute())


@dataclass(frozen=True)
class Settings:
    """Of one rerun or fork.

    Attributes:
        log: absolute path of the recording.
        policy: see `lctl.rerun.serving.matching`.
        on_miss: "live": what the tape does not hold is sent for real.
        to: stop after this event.
        pdb: a debugger there instead.
        files: those that the program's own code reads are as they were "recorded", or as they are "now".
        writes: what the guard would refuse is "refused", or goes "aside": into a folder of the rerun's.
        realtime: wait as long as the recording did.
        allow: what the guard lets through.
        output: path of the new log.
        result: folder where each process of the program leaves its certificate, for whoever started it.
        at: of a fork: what comes after this event may be changed or go live.
        all_live: of a fork: everything after `at` is live, in every lane.
        edits: of a fork: its rules, in the patch language.
        tools: of a fork: how tools run after `at`.
        stdin: which file is standard input of the process that starts another one by these settings.
    """

    log: str
    policy: Policy = "strict"
    on_miss: Literal["stop", "live"] = "stop"
    to: int | None = None
    pdb: bool = False
    files: Literal["recorded", "now"] = "recorded"
    writes: Literal["refused", "aside"] = "refused"
    realtime: bool = False
    allow: tuple[str, ...] = ()
    output: str | None = None
    result: str | None = None
    at: int | None = None
    all_live: bool = False
    edits: tuple[str, ...] = ()
    tools: tuple[str, ...] = field(default=())
    stdin: tuple[int, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise UsageError(f"policy={self.policy!r}: it is one of {', '.join(POLICIES)}")
        if self.on_miss not in ("stop", "live"):
            raise UsageError(f"on_miss={self.on_miss!r}: it is 'stop' or 'live'")
        if self.files not in ("recorded", "now"):
            raise UsageError(f"files={self.files!r}: it is 'recorded' or 'now'")
        if self.writes not in ("refused", "aside"):
            raise UsageError(f"writes={self.writes!r}: it is 'refused' or 'aside'")

    def text(self) -> str:
        said = {key: value for key, value in asdict(self).items() if value or key == "at"}  # 0 is a place
        return json.dumps(said)  # a path may be no UTF-8, which orjson refuses

    @classmethod
    def of(cls, text: str) -> Settings:
        found: dict[str, Any] = json.loads(text)
        known = {key: value for key, value in found.items() if key in cls.__dataclass_fields__}
        for name in ("allow", "edits", "tools", "stdin"):
            if name in known:
                known[name] = tuple(known[name])
        return cls(**known)

    @classmethod
    def here(cls, environ: Mapping[str, str] = os.environ) -> Settings | None:
        """Of the rerun this process belongs to."""
        text = environ.get(VARIABLE)
        return cls.of(text) if text else None
