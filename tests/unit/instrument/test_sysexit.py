"""`sys.exit` while a program is recorded."""

from __future__ import annotations

import copy
import pickle
import sys
import traceback
from typing import Any

import pytest

import lctl


def test_sys_exit_is_what_it_was() -> None:
    """No line of ours in its traceback, its words about wrong arguments, as an attribute of a class, pickled
    and copied; and it is put back."""
    lctl.uninstrument()
    plain = sys.exit
    lctl.auto_instrument()
    try:
        assert sys.exit is not plain
        with pytest.raises(SystemExit) as left:
            sys.exit(3)
        assert left.value.code == 3
        assert [entry.name for entry in traceback.extract_tb(left.value.__traceback__)] == [
            "test_sys_exit_is_what_it_was"
        ]
        wrong: list[tuple[tuple[int, ...], dict[str, int]]] = [((1, 2), {}), ((), {"status": 1})]
        for words, named in wrong:
            said = []
            for function in (plain, sys.exit):
                called: Any = function
                with pytest.raises(TypeError) as refused:
                    called(*words, **named)
                said.append(str(refused.value))
            assert said[0] == said[1]
        holder = type("Holder", (), {"leave": sys.exit})()
        with pytest.raises(SystemExit, match="4"):
            holder.leave(4)
        assert pickle.loads(pickle.dumps(sys.exit)) == sys.exit == copy.deepcopy(sys.exit)
        assert (sys.exit.__name__, sys.exit.__module__, sys.exit.__doc__) == ("exit", "sys", plain.__doc__)
    finally:
        lctl.uninstrument()
    assert sys.exit is plain
