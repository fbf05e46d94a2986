"""Conversations of a log as what they are: a forest of messages, read at any seq.

    tree = Chain.load("run.lctl.json").tree
    tree.at(120).path("m17")
    tree.view(limit=50).messages()

`Forest` folds events into columns; `Tree` is a cursor on it; `Node` one message as a cursor sees it;
`View` one path, for a window or a model.
"""
