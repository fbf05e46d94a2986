"""The sources of what ambient events hold, as they are named in logs, where more than one room knows them."""

from __future__ import annotations

#: The source of times that libraries show (of log lines, messages, answers): a rerun may show others.
LOGGED = "log"

#: The source of what the program asks of its machine.
HOST = "host"

#: The source of what is typed or piped in.
STDIN = "stdin"

#: The source of what is typed at a prompt that a library draws (prompt_toolkit): its result.
PROMPT = "prompt"

#: The source of what MCP servers answer to a client beside tool calls.
MCP = "mcp"

#: The source of what a model is shown of a failed tool. Recordings by `auto_instrument()` hold it, too.
SHOWN = "traceback"

#: The source of ids that a framework makes, by which models ask that are shown them, or clients of a server.
#: Likewise.
NAMED = "id"

#: The source of what a library knew of the user when it was imported. Likewise.
SETTINGS = "settings"

#: The source of what a process takes from queues of `multiprocessing`, by digests. A player gives a pair: the
#: value, None where it waited in vain; and how many of each this process, in any lane, is to take later.
ITEMS = "items"

#: The source of the code of a notebook's cell, or of what was typed into an interactive shell.
CELL = "cell"

#: The source of the port that the system draws for a socket.
PORT = "port"

#: The source of a limit of time that was over as it was set (`lctl.instrument.ambient.limits`).
OVERDUE = "overdue"

#: The source of what was typed at a program that draws a whole screen.
KEYS = "keys"

#: The source of a signal from outside that a handler of the program's own heard.
HEARD = "heard"

#: The sources of a request that came from outside to a server of the program's, of what came over a WebSocket
#: that one opened, of a client's going away before it had the whole answer, and of how the server was ended.
REQUEST, WEBSOCKET, GONE, SIGNAL = "request", "websocket", "gone", "signal"

#: The sources of a file that the program's own code opens to read, of whether one is there, and of what is in
#: a folder (`lctl.instrument.ambient.files`, `folders`). A rerun need not look in the recorded order.
FILE, THERE, LISTING = "file", "there", "listing"

#: The sources of a folder that the program's own code makes, and of a file that it adds to, or makes, before
#: it first did (`lctl.instrument.ambient.filewrites`).
MADE, BEFORE = "made", "before"

#: The source of a command that the program's own code has run (`lctl.instrument.ambient.commands`).
COMMAND = "command"

#: The source of a database, before the program opened it (`databases` and `nativestores` of
#: `lctl.instrument.ambient`).
DATABASE = "database"
