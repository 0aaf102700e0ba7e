#!/bin/sh
# Measures this product against the Python peer on this machine and prints one table of ratios.
#
#   sh examples/bench_peer.sh                               installs vacant-network 0.9.1 into a temporary folder
#   PEER_PYTHON=/path/to/python sh examples/bench_peer.sh   uses a Python that has it already
#
# Arguments are passed on: substrings of line names ("verify", "workspace", "sandbox start", "whole run").
set -eu
cd "$(dirname "$0")/.."
if [ -z "${PEER_PYTHON:-}" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet vacant-network==0.9.1
    PEER_PYTHON=$folder/bin/python
fi
export PEER_PYTHON
cargo bench --package touchstone --bench desk -- "$@"
