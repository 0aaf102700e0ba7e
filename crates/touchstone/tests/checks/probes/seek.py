# Stands before each probe. A probe is a candidate that does not know the answer: `f` looks for it in one place and
# returns what it found. Written so that the screen lets it through: the screen is no boundary, and these show it.
import importlib
import operator
import os
import re
import sys

PATTERN = re.compile("EXPECTED_[0-9a-f]{32}")
BYTES = re.compile(b"EXPECTED_[0-9a-f]{32}")
NOTHING = "nothing"


def of(thing, name):
    try:
        return operator.attrgetter(name)(thing)
    except BaseException:
        return None


def search(value, depth=4):
    """The first expected text in a value, through containers."""
    if isinstance(value, (bytes, bytearray)):
        match = BYTES.search(value)
        return match and match.group().decode()
    if isinstance(value, str):
        match = PATTERN.search(value)
        return match and match.group()
    if depth == 0:
        return None
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in list(value)[:5000]:
            hit = search(item, depth - 1)
            if hit:
                return hit
    return None


def first(values):
    for value in values:
        hit = search(value)
        if hit:
            return hit
    return NOTHING


def frames(frame):
    while frame is not None:
        yield of(frame, "f_locals")
        yield of(frame, "f_globals")
        frame = of(frame, "f_back")


def content(path, limit=1 << 20):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    parts = [b""]
    try:
        while sum(map(len, parts)) < limit:
            parts.append(os.read(fd, limit))
            if not parts[-1]:
                break
    except OSError:
        pass
    os.close(fd)
    return b"".join(parts)


def memory(pid):
    """Writable memory of a process, through its file."""
    try:
        maps = content("/proc/%s/maps" % pid).decode("utf-8", "replace")
        fd = os.open("/proc/%s/mem" % pid, os.O_RDONLY)
    except OSError:
        return
    for line in maps.splitlines():
        fields = line.split()
        start, end = [int(part, 16) for part in fields[0].split("-")]
        if "rw" in fields[1] and end - start < 1 << 26:
            try:
                yield os.pread(fd, end - start, start)
            except (OSError, OverflowError, MemoryError):
                pass
    os.close(fd)
