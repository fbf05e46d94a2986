"""The debugger's server: a log, or a folder of them, as a page in the browser and the JSON API behind it.

    routes      a path, what it takes, what it gives, who answers it
    access      who may ask: token, Host, Origin; what a browser may do with an answer
    catalogue   the runs of a folder by key
    opened      one run: its log, its timeline, what was worked out of it
    views       one module for each panel: from an opened run to a shape
    shapes      the types of questions and answers

Nothing here works out what `lctl.analysis`, `lctl.state` or `lctl.conversation` know: the views ask them.
"""
