"""The server: on this machine's own address and no other, a few threads, until it is interrupted."""

import errno
import logging
import signal
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from waitress.server import create_server

from ledger.base.errors import LedgerError, reason_of
from ledger.serve.app import HOST, App
from ledger.serve.catalog import Catalog
from ledger.serve.site import Site
from ledger.serve.temporary_mirror import TemporaryMirror

THREADS = 8
MAX_BODY_BYTES = 64 * 1024


def serve(catalog: Catalog, port: int, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C, then raise KeyboardInterrupt; `ready` is told the address. Port 0 takes a free one.

    Raises LedgerError if the port cannot be had.
    """
    logging.getLogger("waitress").setLevel(logging.CRITICAL)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with _bound(port) as listening, tempfile.TemporaryDirectory(prefix="ledger-", ignore_cleanup_errors=True) as folder:
        port = listening.getsockname()[1]
        app = App(Site(catalog, TemporaryMirror(Path(folder))), port)
        server = create_server(
            app, sockets=[listening], threads=THREADS, ident=None, max_request_body_size=MAX_BODY_BYTES,
            channel_timeout=20, connection_limit=1000, asyncore_use_poll=True,
        )  # fmt: skip
        ready(f"http://{HOST}:{port}/")
        server.run()  # returns when it is interrupted
    raise KeyboardInterrupt


def _bound(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise LedgerError(f"port {port} is taken; name another with --port, or --port 0 for a free one") from None
        raise LedgerError(f"cannot listen on port {port}: {reason_of(error)}") from None
