# The job of terminal.py: counts interrupts, says what it reads, ends by code 5.

import os
import signal
import sys

count = 0


def interrupted(*_):
    global count
    count += 1
    os.write(1, b"interrupt %d\n" % count)


signal.signal(signal.SIGINT, interrupted)
os.write(1, b"ready\n")
while True:
    line = os.read(0, 100)
    os.write(1, b"got " + line)
    if line == b"end\n":
        sys.exit(5)
