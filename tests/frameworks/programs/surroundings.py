"""What the modules and classes that an integration patches are: INTEGRATION WHEN, as JSON on standard output.

WHEN: lctl comes "before" the library's import or "after" it, twice, and then it is not there any more.
"""

import json
import sys
from importlib import import_module

from lctl.instrument import auto_instrument, uninstrument
from lctl.instrument.registry import OURS, integration_at, registry


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


def main(key, when):
    if when == "before":
        auto_instrument()
        auto_instrument()
    modules = list(imported(key))
    before = surroundings(modules)
    if when == "after":
        auto_instrument()
        auto_instrument()
    entry = registry.entries[key]
    told = {"state": entry.state, "missing": entry.missing, "points": len(entry.points), "changed": []}
    uninstrument()
    now = surroundings(modules)
    if when == "after":  # then it was not there yet
        told["changed"] = [name for name in before.keys() | now if before.get(name) is not now.get(name)]
    told["described"] = {name: described(value) for name, value in now.items()}
    print(json.dumps(told))


main(*sys.argv[1:])
