"""The yardstick in Mesa: the command line of README.md around room.py.

    python main.py hash TICKS | check TICKS | speed TICKS [ROUNDS]
"""

import pickle
import statistics
import struct
import subprocess
import sys
import time

from room import Room


def ran(ticks, room=None):
    room = room or Room()
    for _ in range(ticks):
        room.step()
    return room


def digest(room):
    """FNV-1a, 64 bits, over the record."""
    (person,) = room.agents
    current, left = (0, 0) if person.doing is None else (person.doing + 1, person.left)
    record = struct.pack("<12Q", room.steps, *person.needs, current, left, room.generator.state)
    value = 0xCBF29CE484222325
    for byte in record:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def check(ticks):
    """Two runs in one process, two processes, saved and loaded half-way."""
    whole = digest(ran(ticks))
    child = [sys.executable, __file__, "hash", str(ticks)]
    children = [subprocess.run(child, capture_output=True, text=True, check=True).stdout.strip() for _ in range(2)]
    loaded = pickle.loads(pickle.dumps(ran(ticks // 2)))
    results = {
        "one_process": digest(ran(ticks)) == whole,
        "two_processes": children == [whole, whole],
        "save_load": digest(ran(ticks - ticks // 2, loaded)) == whole,
    }
    for what, equal in results.items():
        how = " (pickle)" if what == "save_load" else ""
        print(f"{what}={'equal' if equal else 'DIFFERENT'}{how}")
    return all(results.values())


def speed(ticks, rounds=5):
    """Ticks per second of processor time: the median of the rounds."""
    ran(ticks // 10)
    rates = []
    for _ in range(rounds):
        room = Room()
        began = time.process_time()
        ran(ticks, room)
        rates.append(ticks / (time.process_time() - began))
    median, low, high = statistics.median(rates), min(rates), max(rates)
    print(f"ticks_per_second={median:.0f} n={rounds} low={low:.0f} high={high:.0f}")
    return True


COMMANDS = {"hash": (1, 1), "check": (1, 1), "speed": (1, 2)}


def main(arguments):
    name, numbers = (arguments or [""])[0], arguments[1:]
    least, most = COMMANDS.get(name, (1, 0))
    if not least <= len(numbers) <= most or not all(number.isdecimal() for number in numbers):
        print(__doc__, file=sys.stderr)
        return 64
    numbers = [int(number) for number in numbers]
    if name == "hash":
        print(digest(ran(*numbers)))
        return 0
    return 0 if {"check": check, "speed": speed}[name](*numbers) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
