"""Sends the cells of a notebook to a kernel, as Jupyter's front ends do: `executes_notebook.py NOTEBOOK`."""

import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=60, allow_errors=True).execute()
for cell in notebook.cells:
    for output in cell.get("outputs", ()):
        print(output.get("text", output.get("ename", "")), end="")
