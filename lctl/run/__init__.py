"""Starting a program under recording, floor F8: which interpreter, which environment, which options.

The program is started by the interpreter itself (`exec`), never by our code inside it: its arguments,
`sys.path`, `__main__`, standard input, signals, tracebacks and exit code are Python's own. What records
is a `sitecustomize` on PYTHONPATH, which its child processes inherit.
"""
