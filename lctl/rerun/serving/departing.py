"""Going away from a server that still answers, in a rerun, as the recorded client did."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

from lctl.rerun.serving import talking
from lctl.session.concurrency import departures, ownrequests

if TYPE_CHECKING:
    from socket import socket

#: Real seconds for a server to find out, whose loop may be held until the next comes.
_PATIENCE = 0.5


def depart(connection: socket, *, is_reset: bool) -> None:
    """Return when the server has lost it, or soon. `is_reset`: the client had broken off."""
    import socket

    try:
        port = int(connection.getsockname()[1])
    except OSError:
        return  # all was read, and it is closed
    ports = {port, int(ownrequests.stands_for.get(port, (None, port))[1])}
    departures.going |= ports
    try:
        if is_reset:  # who reads there comes to an end, and closes it
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
            connection.shutdown(socket.SHUT_RD)
        else:  # and here he goes on to read what the server says meanwhile
            connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the server has closed it
    talking.until(lambda: not ports <= departures.going, _PATIENCE)
    departures.going -= ports
