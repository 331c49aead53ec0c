"""What every test process needs before it starts others."""

import signal

# Under nohup, or in the background of a script, SIGINT is ignored, and every child would ignore it too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
