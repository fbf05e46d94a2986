"""What the modules and classes that integrations patch are: WHEN INTEGRATION..., as JSON on standard output.

WHEN: lctl comes "before" the libraries' imports or "after" them, twice, and then it is not there any more.
"""

import json
import sys
from importlib import import_module

from lctl.instrument import auto_instrument, uninstrument
from lctl.instrument.entries import integration_at
from lctl.instrument.registry import OURS, registry


def described(value):
    return f"{type(value).__module__}.{type(value).__qualname__} {getattr(value, '__qualname__', '')}"


def surroundings(modules):
    found = {}
    for module in modules:
        for name, value in vars(module).items():
            # What is imported by name from elsewhere is looked at where it is made.
            if (
                name == "__warningregistry__"
                or getattr(value, "__module__", module.__name__) != module.__name__
            ):
                continue
            found[f"{module.__name__}:{name}"] = value
            if isinstance(value, type) and value.__module__ == module.__name__:
                found |= {f"{module.__name__}:{name}.{own}": held for own, held in vars(value).items()}
    return found


def imported(key):
    import_module(key)
    for name in integration_at(OURS[key]).modules:
        try:
            yield import_module(name)
        except ImportError:  # of an extra, or of another version
            continue


def main(when, *keys):
    if when == "before":
        auto_instrument()
        auto_instrument()
    modules = {key: list(imported(key)) for key in keys}
    before = {key: surroundings(modules[key]) for key in keys}
    if when == "after":
        auto_instrument()
        auto_instrument()
    entries = registry.entries
    told = {
        key: {
            "state": entries[key].state,
            "missing": entries[key].missing,
            "points": len(entries[key].points),
        }
        for key in keys
    }
    uninstrument()
    for key in keys:
        now, was = surroundings(modules[key]), before[key]
        changed = [name for name in was.keys() | now if was.get(name) is not now.get(name)]
        told[key]["changed"] = changed if when == "after" else []  # else it was not there yet
        told[key]["described"] = {name: described(value) for name, value in now.items()}
    print(json.dumps(told))


main(*sys.argv[1:])
