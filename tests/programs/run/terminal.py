# A shell on a terminal of its own with one job in the foreground: the command it is given. Types
# ^C, a line, ^Z twice and the end, and prints what the job said and what the shell saw.

import os
import pty
import select
import signal
import sys
import time


def shell(command):
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(command[0], command)
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            os.write(1, b"ended %d\n" % os.waitstatus_to_exitcode(status))
            os._exit(0)
        os.tcsetpgrp(0, os.getpid())
        os.write(1, b"stopped\n")
        time.sleep(0.1)
        os.tcsetpgrp(0, job)
        os.kill(-job, signal.SIGCONT)


def wait_for(terminal, text):
    said = b""
    while text not in said:
        ready, _, _ = select.select([terminal], [], [], 20)
        if not ready:
            sys.exit(f"{text} did not come: {said}")
        said += os.read(terminal, 1000)


pid, terminal = pty.fork()
if pid == 0:
    shell(sys.argv[1:])
wait_for(terminal, b"ready")
for typed, answer in [
    (b"\x03", b"interrupt 1\r\n"),
    (b"\x03", b"interrupt 2\r\n"),
    (b"a line\n", b"got a line\r\n"),
    (b"\x1a", b"stopped\r\n"),
    (b"again\n", b"got again\r\n"),
    (b"\x1a", b"stopped\r\n"),
    (b"end\n", b"ended 5\r\n"),
]:
    os.write(terminal, typed)
    wait_for(terminal, answer)
os.waitpid(pid, 0)
print("all came")
