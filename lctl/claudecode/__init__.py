"""Claude Code, the coding agent: its hooks are recorded into logs.

    hook        the program that Claude Code runs at each event: one line onto a spool, nothing else
    settings    puts the hook into a settings file, and takes it out again
    spool       the lines of a session, as hooks left them
    sessions    hook lines as rows of a session, where its own file is not at hand
    collecting  a spool, and the session's own file, as a log

`lctl claude` is the command.
"""
