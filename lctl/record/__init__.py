"""Writing, floor F2: number an event, serialise it on the caller's thread, hand the bytes to a store.

Nothing here looks at what an event means.
"""
