#!/bin/sh
# Measures the recording proxy beside a direct connection and the Python peer's proxy, all in one run.
#
#   sh examples/bench_proxy.sh                               installs vacant-network 0.9.1 into a temporary folder
#   PEER_PYTHON=/path/to/python sh examples/bench_proxy.sh   uses a Python that has it already
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
cargo bench --package proxy --bench calls
