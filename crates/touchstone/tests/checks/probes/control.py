# A runner as one writes it without a second thought: candidate and expected value in one process, beside it in files,
# arguments, environment and descriptors, and in the parent's memory. Arguments: the candidate, the expected text.
#
# Each probe must get through here. A probe that could not succeed anywhere would prove nothing.
import ctypes
import importlib
import json
import os
import sys
import threading

EXPECTED = sys.argv[2]


def keep(ready):
    expected_in_a_thread = EXPECTED
    ready.set()
    threading.Event().wait()
    return expected_in_a_thread


def run(candidate, report):
    threading_ready = threading.Event()
    threading.Thread(target=keep, args=(threading_ready,), daemon=True).start()
    threading_ready.wait()
    home = os.environ["TMPDIR"]
    with open(os.path.join(home, "naive_tests.py"), "w") as tests:
        tests.write("EXPECTED = %r\n" % EXPECTED)
    os.set_inheritable(os.open(os.path.join(home, "naive_tests.py"), os.O_RDONLY), True)
    sys.path.insert(0, home)
    importlib.import_module("naive_tests")
    os.dup2(report, 1)
    os.dup2(report, 2)
    names = {"__name__": "candidate"}
    exec(compile(candidate, "candidate.py", "exec"), names)
    expected = json.loads(json.dumps(EXPECTED))
    exec(compile("accepted = f('now') == %r" % expected, "test", "exec"), names)
    if names["accepted"]:
        os.write(1, b"ACCEPTED\n")
    os._exit(0 if names["accepted"] else 1)


def main():
    reader, report = os.pipe()
    ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(2 ** 64 - 1), 0, 0, 0)  # PR_SET_PTRACER_ANY, where Yama asks
    held = [os.open(os.path.join(os.environ["TMPDIR"], "expected"), os.O_RDWR | os.O_CREAT)]
    os.write(held[0], EXPECTED.encode())
    child = os.fork()
    if child == 0:
        os.close(held[0])
        with open(sys.argv[1]) as candidate:
            run(candidate.read(), report)
    os.close(report)
    _, status = os.waitpid(child, 0)
    said = os.read(reader, 1 << 16)
    os._exit(0 if status == 0 or b"ACCEPTED" in said else 1)


main()
