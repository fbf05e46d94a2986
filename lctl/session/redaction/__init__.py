"""Secrets out of what is recorded.

forms         what secrets look like; compiled in `search`, in text as `name=value` in `assignments`
environment   those of this process
suspicion     whether a line may hold one, at the price of a few searches; `growing` of a text by pieces
redact        finds them and puts placeholders there; `pieces` of bytes
scrub         what is done to every line before it is stored
"""
