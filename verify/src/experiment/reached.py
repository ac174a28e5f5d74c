"""Runs a script and notes when lines FIRST to LAST of it are reached, and what is raised there, whoever catches it.

Usage: reached.py SCRIPT LOG FIRST LAST [FIRST LAST]...
"""
import os
import runpy
import sys

script, log = os.path.abspath(sys.argv[1]), open(sys.argv[2], "w", encoding="utf-8", buffering=1)
numbers = [int(number) for number in sys.argv[3:]]
ranges = list(zip(numbers[::2], numbers[1::2]))
last_raised = None
noted = set()


def here(frame):
    return any(first <= frame.f_lineno <= last for first, last in ranges)


def note(line):
    if line not in noted and len(noted) < 1000:
        noted.add(line)
        log.write(line + "\n")


def local(frame, event, argument):
    global last_raised
    if event == "line" and here(frame):
        note(f"reached {frame.f_lineno}")
    elif event == "exception" and argument[1] is not last_raised:
        # The innermost frame of the script comes first.
        last_raised = argument[1]
        if here(frame):
            words = " ".join(str(argument[1]).split())
            note(f"raised {frame.f_lineno} {argument[0].__name__}: {words}")
    return local


def trace(frame, event, argument):
    return local if frame.f_code.co_filename == script else None


sys.argv = [script]
sys.path[0] = os.path.dirname(script)
sys.settrace(trace)
runpy.run_path(script, run_name="__main__")
