"""Transports: where bytes leave the process and come back, one module per HTTP library.

Each patches one point, tells `lctl.instrument.wire` what passes, and leaves the host's objects, types
and exceptions as they are. None imports its library: it is handed the module when the program has
imported it.
"""
