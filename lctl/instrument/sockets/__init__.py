"""WebSockets, whichever library has them: what passes, on the tape and from it.

One exchange is the life of one connection. Its chunks are lines of JSON, in the order in which they passed:

    {"in": message}        what came, as the program took it; {"out": message}: what it sent
    {"timeout": text}      it waited for a message, as long as it said, in vain: what was raised
    {"blob": hash}         the next piece of the sound of messages before this line
    {"unsent": ...}        what it sent last met an end, or what was raised
    {"closing": true}      it begins to close the connection
    {"closed": [...]}      which has ended, as its library has it

`as` says how a message was spelled, if not as compact JSON.
"""
