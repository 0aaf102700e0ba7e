#!/bin/sh
# Grades the examples of this folder and compares each grade with the published one, in README.md.
#
#   sh examples/conform/run.sh                   all of them
#   sh examples/conform/run.sh langgraph         one of them
#
# TOUCHSTONE: the binary; target/release/touchstone without it.
# TOUCHSTONE_CONFORM_PYTHON: a Python that has requirements.txt installed; without it one is made in a temporary folder.
# TOUCHSTONE_SHARED: the published runs of the Python peer; the folder `shared` beside the repository without it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
touchstone=${TOUCHSTONE:-$here/../../target/release/touchstone}
published=${TOUCHSTONE_SHARED:-$here/../../../shared}/vectors/receiving-desk/runs
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if [ -z "${TOUCHSTONE_CONFORM_PYTHON:-}" ]; then
    python3 -m venv "$out/python"
    "$out/python/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check \
        -r "$here/requirements.txt"
    TOUCHSTONE_CONFORM_PYTHON=$out/python/bin/python
fi
PATH=$(dirname "$TOUCHSTONE_CONFORM_PYTHON"):$PATH
export PATH
failed=0

# What the page of the example, $1, publishes under the name $2: grade and reason codes of the row.
row() {
    awk -F ' *[|] *' -v name="\`$2\`" '$2 == name { gsub("`", ""); print $3, $4 }' "$here/$1/README.md"
}

# Grades one case: example, name, arguments of `conform`.
grade() {
    example=$1 name=$2
    shift 2
    "$touchstone" conform --json "$@" >"$out/answer.json" 2>"$out/words" || :
    got=$(python3 -c '
import json, sys
answer = json.load(open(sys.argv[1]))
codes = {finding["reason"] for finding in answer.get("findings", [])} or {answer.get("reason")} - {None}
print(answer["grade"] or "no grade", ", ".join(sorted(codes)) or "none")' "$out/answer.json") || got="no answer"
    printf '%-13s %-22s %s\n' "$example" "$name" "$got"
    if [ "$got" != "$(row "$example" "$name")" ]; then
        printf 'PUBLISHED was "%s"\n' "$(row "$example" "$name")" >&2
        cat "$out/words" "$out/answer.json" >&2
        failed=1
    fi
}

# The table of the example after an edit, for what goes wrong without care.
edited() {
    sed "$1" fields.toml >"$out/edited.toml"
}

vacant_peer() {
    python3 two_runs.py "$out/peer"
    grade vacant-peer "run directory" --table fields.toml --run "$out/peer/a" --run "$out/peer/b"
    for file in receipts_RUN-ON.ndjson visible_RUN-ON.json wire_RUN-ON/index.jsonl run_RUN-ON.json rows.jsonl; do
        grade vacant-peer "$file" --table fields.toml --run "$out/peer/a/$file" --run "$out/peer/b/$file"
    done
    edited 's/^ts_ms = .*/ts_ms = "repro"/'
    grade vacant-peer "time as repro" --table "$out/edited.toml" --run "$out/peer/a/receipts_RUN-ON.ndjson" \
        --run "$out/peer/b/receipts_RUN-ON.ndjson"
    edited '/^env = /a\
"env.*" = "repro"'
    grade vacant-peer "wild card" --table "$out/edited.toml" --run "$out/peer/a/run_RUN-ON.json" \
        --run "$out/peer/b/run_RUN-ON.json"
    if [ ! -d "$published" ]; then
        echo "SKIPPED: vacant-peer: the published runs are not beside this checkout"
        return
    fi
    grade vacant-peer "published directory" --table fields.toml --run "$published/accepted" --run "$published/events"
    for file in receipts_RUN-ON.ndjson wire_RUN-ON/index.jsonl; do
        grade vacant-peer "published $(basename "$file")" --table fields.toml \
            --run "$published/accepted/$file" --run "$published/events/$file"
    done
}

# An example that is a command: name, times, command, and then its careless tables from two more runs.
command_runs() {
    grade "$1" "as published" --table fields.toml --golden golden.json --times "$2" --shuffle --exec "$3"
    for run in a b; do sh -c "$3" >"$out/$run.json" 2>/dev/null; done
    "$touchstone" conform init --run "$out/a.json" --run "$out/b.json" >"$out/edited.toml" 2>/dev/null
    careless "$1" "init untouched"
}

careless() {
    grade "$1" "$2" --table "$out/edited.toml" --run "$out/a.json" --run "$out/b.json"
}

pytest_junit() {
    command_runs pytest-junit 2 "python3 junit_to_json.py toolz"
    edited 's/^time = .*/time = "repro"/'
    careless pytest-junit "time as repro"
    edited '/^"\$"/d'
    careless pytest-junit "no order"
}

langgraph() {
    command_runs langgraph 4 "python3 graph.py"
    edited 's/^"kwargs.id" = .*/"kwargs.id" = "repro"/'
    careless langgraph "random id as repro"
    edited '/^"messages.id"/d; s/^"kwargs.id"/id/'
    careless langgraph "every id physical"
    edited '/^messages = {/d'
    careless langgraph "messages without order"
}

pydantic_ai() {
    command_runs pydantic-ai 4 "python3 agent.py"
    edited 's/^run_id = .*/run_id = "repro"/'
    careless pydantic-ai "random id as repro"
    edited '/^"\$"/d'
    careless pydantic-ai "no order"
    edited '/^content_file_digests/d'
    careless pydantic-ai "a field forgotten"
}

[ $# -gt 0 ] || set -- vacant-peer pytest-junit langgraph pydantic-ai
for example in "$@"; do
    cd "$here/$example"
    "$(echo "$example" | tr - _)"
done
exit $failed
