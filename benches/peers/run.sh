#!/bin/sh
# Builds and runs the yardstick in every framework, and writes table.md and measurements.jsonl beside this file.
#
#   sh benches/peers/run.sh            five rounds, about eight minutes after the first build
#   sh benches/peers/run.sh 1          one round, to see that it works; not to be published
#
# Exit status: 0 all equal and all run, 1 something differs, 2 something could not be run (it says what).
#
# PEERS_CACHE       where Mesa's environment and the build lie: touchstone-peers in the user's cache without it
# CARGO_TARGET_DIR  where the Rust programs are built
# FULL_TICK         a command that prints ticks_per_second=N of our full contract tick, run from the root of the
#                   repository; without it `cargo run --release -p room --example full_tick`, where that example exists
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-5}
cache=${PEERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/touchstone-peers}
case $rounds in
'' | *[!0-9]* | 0)
    echo "run.sh: rounds are a number, not '$rounds'" >&2
    exit 64
    ;;
esac

mkdir -p "$cache"
python=$cache/mesa/bin/python
if ! cmp -s "$here/mesa/requirements.txt" "$cache/mesa/requirements.txt"; then
    rm -rf "$cache/mesa"
    python3 -m venv "$cache/mesa"
    "$python" -m pip install --quiet --disable-pip-version-check -r "$here/mesa/requirements.txt"
    cp "$here/mesa/requirements.txt" "$cache/mesa/requirements.txt"
fi

CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$cache/target}
export CARGO_TARGET_DIR
# Not --locked: the crate room brings its own dependencies, and they may have moved since the lock file was written.
(cd "$here" && cargo build --release)

full_tick=${FULL_TICK:-}
if [ -z "$full_tick" ] && [ -f "$here/../../crates/room/examples/full_tick.rs" ]; then
    full_tick="cargo run --quiet --release --locked -p room --example full_tick"
    (cd "$here/../.." && cargo build --quiet --release --locked -p room --example full_tick)
fi
case $rounds in
5) source="sh benches/peers/run.sh" ;;
*) source="sh benches/peers/run.sh $rounds" ;;
esac
exec "$python" "$here/table.py" --bin "$CARGO_TARGET_DIR/release" --rounds "$rounds" --source "$source" \
    --full-tick "$full_tick"
