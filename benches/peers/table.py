"""Runs every program of the yardstick and writes the table and its receipts; run.sh builds them first.

    python table.py --bin FOLDER --source COMMAND [--rounds 5] [--full-tick COMMAND]

The Python that runs this is the one that has Mesa. Exit status: 0 when every final state is equal to expected.tsv, every
check of every program held and every number was taken; 1 when something differs; 2 when something could not be run.
"""

import argparse
import ast
import datetime
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import time
import tomllib
from importlib import metadata

HERE = pathlib.Path(__file__).parent
TABLE = HERE / "table.md"
RECEIPTS = HERE / "measurements.jsonl"
NOT_THERE = "not there yet"
CHECKS = "one_process", "two_processes", "save_load"


class Peer:
    """A program that speaks the command line of README.md."""

    def __init__(self, name, command, model, ticks, counted):
        self.name, self.command, self.model = name, command, HERE / model
        self.ticks = ticks  # of one timed run: half a second to one second
        self.counted = counted  # two lengths for the counter of instructions; their difference has no start-up
        self.rates = []

    def say(self, *arguments):
        words = [*self.command, *map(str, arguments)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode not in (0, 1) or not done.stdout:
            sys.exit(f"{shlex.join(words)}: exit status {done.returncode}\n{done.stderr}")
        return done.stdout

    def hash(self, ticks):
        return self.say("hash", ticks).split()[0]

    def check(self, ticks):
        return dict(line.split("=", 1) for line in self.say("check", ticks).splitlines())

    def time(self):
        self.rates.append(rate(self.say("speed", self.ticks, 1)))

    def instructions(self):
        """A tick's, by callgrind; nothing without valgrind."""
        if not shutil.which("valgrind"):
            return None
        few, many = (self.collected(ticks) for ticks in self.counted)
        return (many - few) / (self.counted[1] - self.counted[0])

    def collected(self, ticks):
        valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *self.command]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run([*valgrind, "hash", str(ticks)], capture_output=True, text=True, env=environment)
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not found:
            sys.exit(f"{shlex.join(valgrind)}: exit status {done.returncode}\n{done.stderr}")
        return int(found[1])

    def lines(self):
        """Lines of the model that are code: no comment, no empty line, no documentation, no adapter to the yardstick."""
        text = self.model.read_text()
        rows = text.splitlines()
        prose = set()
        if self.model.suffix == ".py":
            for node in ast.walk(ast.parse(text)):
                documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
                if documented and ast.get_docstring(node, clean=False):
                    prose.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        comments = ("#",) if self.model.suffix == ".py" else ("//",)
        return sum(
            bool(row.strip()) and not row.strip().startswith(comments) and number not in prose
            for number, row in enumerate(rows, 1)
        )


def rate(printed):
    found = re.search(r"ticks_per_second=(\d+)", printed)
    if not found:
        sys.exit(f"no ticks_per_second=N in {printed!r}")
    return int(found[1])


def full_tick(command):
    """One run of our full contract tick: a command that prints ticks_per_second=N."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=HERE.parent.parent)
    if done.returncode:
        sys.exit(f"{command}: exit status {done.returncode}\n{done.stderr}")
    return rate(done.stdout)


def peers(folder):
    lock = tomllib.loads((HERE / "Cargo.lock").read_text())
    (krabmaga,) = [package["version"] for package in lock["package"] if package["name"] == "krabmaga"]
    rust = 100_000, 1_100_000
    return [
        Peer(f"Mesa {metadata.version('mesa')}", [sys.executable, str(HERE / "mesa/main.py")], "mesa/room.py",
             300_000, (1_000, 41_000)),
        Peer(f"krABMaga {krabmaga}", [f"{folder}/krabmaga-room"], "krabmaga/src/room.rs", 6_000_000, rust),
        Peer("bare Rust loop", [f"{folder}/bare"], "bare/src/room.rs", 100_000_000, rust),
        Peer("our idiom", [f"{folder}/ours"], "ours/src/lib.rs", 40_000_000, rust),
        Peer("our idiom, 64-bit fold each tick", [f"{folder}/ours_fold"], "ours/src/lib.rs", 8_000_000, rust),
    ]


def millions(number):
    return f"{number / 1e6:.3g} M" if number < 100e6 else f"{number / 1e6:.0f} M"


def spread(rates):
    return f"{millions(min(rates))} to {millions(max(rates))}"


class Run:
    """What one run found."""

    def __init__(self, expected):
        ticks, wanted = expected[-1]
        self.final_state = f"{wanted} after {ticks} ticks"
        self.different, self.missing, self.rows, self.receipts = [], [], [], []

    def agree(self, peer, expected):
        """Whether the final states are the expected ones, and whether its runs agree."""
        wrong = []
        for ticks, wanted in expected:
            got = peer.hash(ticks)
            if got != wanted:
                wrong.append(f"{peer.name}: {got} after {ticks} ticks, expected {wanted}")
        self.different += wrong
        checks = peer.check(expected[-1][0])
        if set(checks) != set(CHECKS):
            sys.exit(f"{peer.name}: check printed {checks}")
        self.different += [f"{peer.name}: {what} {how}" for what, how in checks.items() if "DIFFERENT" in how]
        return {"final_state": "DIFFERENT" if wrong else "equal", **{what: checks[what] for what in CHECKS}}

    def row(self, peer, found, mesa):
        rate = statistics.median(peer.rates)
        count = peer.instructions()
        if count is None:
            self.missing.append(f"{peer.name}: instructions, without valgrind")
        fields = {
            "what": peer.name,
            "ticks_per_second": round(rate),
            "lowest": min(peer.rates),
            "highest": max(peer.rates),
            "n": len(peer.rates),
            "times_mesa": f"{rate / mesa:.1f}",
            "instructions_per_tick": "not available: no valgrind" if count is None else f"{count:.0f}",
            "lines": peer.lines(),
            **found,
        }
        self.receipts.append(" ".join(f"{key}={value!s}" for key, value in fields.items()))
        cells = [peer.name, millions(rate), spread(peer.rates), fields["times_mesa"], fields["instructions_per_tick"],
                 fields["lines"], *found.values()]
        self.rows.append("| " + " | ".join(map(str, cells)) + " |")

    def row_of_full_tick(self, command, rates, mesa):
        name = "our full contract tick"
        if not rates:
            self.missing.append(f"{name}: {NOT_THERE}")
            self.rows.append(f"| {name} | {NOT_THERE} | | | | | | | | |")
            return
        rate = statistics.median(rates)
        self.receipts.append(
            f"what={name} ticks_per_second={round(rate)} lowest={min(rates)} highest={max(rates)} n={len(rates)} "
            f"times_mesa={rate / mesa:.1f} command={command}"
        )
        self.rows.append(f"| {name} | {millions(rate)} | {spread(rates)} | {rate / mesa:.1f} | | | | | | |")


def target(what, ratio, wanted):
    if ratio is None:
        return f"| {what} | {NOT_THERE} | {wanted} x | |"
    return f"| {what} | {ratio:.1f} x | {wanted} x | {'met' if ratio >= wanted else '**missed**'} |"


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    model = re.sub(r"\s+", " ", model[1]) if model else platform.machine()
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, cwd=HERE).stdout.split()[1]
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} processors, {model}, Python {platform.python_version()}, Rust {rustc}, load average {load:.1f}"


def write(run, where, targets, arguments, began):
    head = ["what", "ticks a processor second", "spread", "times Mesa", "instructions a tick", "lines", "final state",
            "one process", "two processes", "saved and loaded"]
    day = datetime.datetime.fromtimestamp(began, datetime.UTC).date()
    text = [
        "# Room tick v0: the table", "",
        f"Written by `{arguments.source}`; [README.md](README.md) says what is run and how to read it. The lines as printed",
        "are in [measurements.jsonl](measurements.jsonl).", "",
        f"{day}, {where}.",
        f"Medians of {arguments.rounds}, in rounds in which every program runs once. Final state: {run.final_state}.", "",
        "| " + " | ".join(head) + " |", "| --- | --: | --- | --: | --: | --: | --- | --- | --- | --- |", *run.rows, "",
        "| target | figure | wanted | |", "| --- | --: | --: | --- |", *targets, "",
    ]
    if run.different:
        text += ["**DIFFERENT**:", "", *(f"* {line}" for line in run.different), ""]
    TABLE.write_text("\n".join(text))
    printed = [where, f"final state: {run.final_state}", *run.receipts, *targets, *(f"DIFFERENT {line}" for line in run.different)]
    base = {"evidence_class": "measured", "measure_source": arguments.source, "measure_ts": int(began)}
    RECEIPTS.write_text("".join(json.dumps({**base, "printed": line}, sort_keys=True) + "\n" for line in printed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--full-tick", default="")
    arguments = parser.parse_args()
    rows = (line.split("\t") for line in (HERE / "expected.tsv").read_text().splitlines())
    expected = [(int(ticks), wanted) for ticks, wanted in rows]
    began, where, run = time.time(), machine(), Run(expected)
    programs = peers(arguments.bin)
    found = [run.agree(peer, expected) for peer in programs]
    full = []
    for number in range(arguments.rounds):
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
        for peer in programs:
            peer.time()
        full += [full_tick(arguments.full_tick)] if arguments.full_tick else []
    mesa, krabmaga, _, ours, folded = (statistics.median(peer.rates) for peer in programs)
    for peer, checks in zip(programs, found, strict=True):
        run.row(peer, checks, mesa)
    run.row_of_full_tick(arguments.full_tick, full, mesa)
    targets = [
        target("our idiom against krABMaga", ours / krabmaga, 1),
        target("our idiom with the fold against krABMaga", folded / krabmaga, 1),
        target("our full contract tick against Mesa", statistics.median(full) / mesa if full else None, 10),
    ]
    write(run, where, targets, arguments, began)
    print(TABLE.read_text())
    for line in run.missing:
        print(f"YELLOW {line}", file=sys.stderr)
    for line in run.different:
        print(f"DIFFERENT {line}", file=sys.stderr)
    return 1 if run.different else 2 if run.missing else 0


if __name__ == "__main__":
    sys.exit(main())
