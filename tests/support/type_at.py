#!/usr/bin/env python3
"""Types at an interactive shell on a pseudo-terminal, as a person does: type_at.py SETUP TYPED EXPECTED SHELL...

What is typed ends with a tabulator; ends well as soon as EXPECTED is shown, within thirty seconds."""
import os, pty, re, select, sys, time

setup, typed, expected, *shell = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(shell[0], shell)
shown = ""


def wait_for(text):
    global shown
    until = time.monotonic() + 30
    while text not in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x07", "", shown) and time.monotonic() < until:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 4096).decode(errors="replace")
            except OSError:
                break
    return time.monotonic() < until


os.write(terminal, f"{setup}; echo rea''dy\n".encode())
if not wait_for("ready\r\n"):
    sys.exit(f"the shell does not begin: {shown!r}")
shown = shown.split("ready\r\n")[-1]
wait_for("PROMPT>")
time.sleep(0.2)
shown = ""
os.write(terminal, f"{typed}\t".encode())
found = wait_for(expected)
os.close(terminal)
os.kill(pid, 9)
sys.exit(0 if found else f"no {expected!r} in {shown!r}")
