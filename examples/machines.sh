#!/bin/sh
# Cross-machine equality: builds crates/room/examples/state_hash.rs for six machines, runs it on each, and compares what it
# prints byte by byte with the debug build's. One line a machine: equal, DIFFERENT, or "not available" with the reason.
#
#   sh examples/machines.sh                         all: debug release native wasm32 aarch64 s390x
#   sh examples/machines.sh --install               the same, after installing what is missing (Debian, as root)
#   sh examples/machines.sh release wasm32          some of them
#   sh examples/machines.sh --evidence FILE ...     writes the evidence there: evidence.json in the cache without it
#   sh examples/machines.sh --planted wasm32 s390x  with a planted fault: both must be DIFFERENT
#
# Exit status: 0 all equal; 1 something differs, or the debug build failed; 2 nothing differs and something was not
# available (yellow: the evidence covers fewer machines); 64 called wrongly; 75 another run uses the same cache.
#
# wasm32 runs under Node without imports, aarch64 and the big-endian s390x under user-mode qemu. Where the compiler has no
# standard library for one of them (rustup target add) it is built from Debian's rustc-web and rust-web-src.
#
# MACHINES_CACHE   builds and outputs: touchstone-machines in the user's cache without it, never in the repository
# MACHINES_DEBIAN  with any text: Debian's compiler even where the one in use has the standard library
# MACHINES_BUDGET  seconds for everything (1800); what is not done by then is "not available"
set -eu

usage() {
    sed -n '5,9s/^# *//p' "$0" >&2
    exit 64
}

root=$(cd "$(dirname "$0")/.." && pwd)
cache=${MACHINES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/touchstone-machines}
budget=${MACHINES_BUDGET:-1800}
evidence='' install='' machines='' said=''
unset MACHINES_PLANTED
while [ $# -gt 0 ]; do
    case $1 in
    --evidence)
        [ $# -ge 2 ] || usage
        case $2 in /*) evidence=$2 ;; *) evidence=$PWD/$2 ;; esac
        shift
        ;;
    --install) install=yes ;;
    --planted)
        MACHINES_PLANTED=yes
        export MACHINES_PLANTED
        said="$said --planted"
        ;;
    debug | release | native | wasm32 | aarch64 | s390x)
        machines="$machines $1"
        said="$said $1"
        ;;
    *) usage ;;
    esac
    shift
done
case $budget in '' | *[!0-9]*) usage ;; esac
machines=${machines:- release native wasm32 aarch64 s390x}
began=$(date +%s)
mkdir -p "$cache/out" "$cache/log"
cache=$(cd "$cache" && pwd)
evidence=${evidence:-$cache/evidence.json}
if command -v flock >/dev/null; then
    exec 9>"$cache/lock"
    flock -n 9 || {
        echo "machines.sh: another run uses $cache" >&2
        exit 75
    }
fi
: >"$cache/rows"
cd "$root"

if [ -n "$install" ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends rustc-web rust-web-src lld-22 nodejs qemu-user-static \
        gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross >/dev/null
fi

# Runs a command with what is left of the budget; 124 when nothing was, or when it ran out.
within() {
    left=$((began + budget - $(date +%s)))
    [ "$left" -gt 0 ] || return 124
    timeout "$left" "$@"
}

# Why a machine gave no answer; its function prints this and returns 3.
unavailable() {
    echo "$*" >"$cache/why"
    return 3
}

# `cargo build` of the example into the folder $1, with the rest of the arguments; what it says goes to the log.
build() {
    target_dir=$1
    shift
    rc=0
    within cargo build --locked --package machines --target-dir "$target_dir" "$@" >"$log" 2>&1 || rc=$?
    case $rc in
    0) ;;
    124) unavailable "the budget of $budget s was used up" ;;
    *) unavailable "the build failed, see log/$machine in the cache: $(grep -m1 '^error' "$log" || echo "exit status $rc")" ;;
    esac
}

# Runs a command whose output is to be compared.
answer() {
    rc=0
    within "$@" >"$out" 2>"$log" || rc=$?
    case $rc in
    0) ;;
    124) unavailable "the budget of $budget s was used up" ;;
    *) echo "(exit status $rc: $(tail -n 1 "$log"))" >>"$out" ;;
    esac
}

# The first of some programs that is there.
program() {
    for name in "$@"; do
        command -v "$name" && return
    done
    unavailable "$1 is not installed"
}

# Chooses compiler and standard library for the target $1: those in use, or Debian's with the library built from source.
compiler_for() {
    target=$1 build_std=''
    libraries=$(rustc --print target-libdir --target "$target" 2>/dev/null || :)
    if [ -z "${MACHINES_DEBIAN:-}" ] && [ -n "$libraries" ] && ls "$libraries"/libcore-*.rlib >/dev/null 2>&1; then
        return
    fi
    RUSTC=$(dpkg -L rustc-web 2>/dev/null | grep -m1 'bin/rustc$') || :
    [ -x "$RUSTC" ] || {
        unavailable "no standard library for $target: neither rustup target add, nor the package rustc-web"
        return
    }
    [ -d "$("$RUSTC" --print sysroot)/lib/rustlib/src/rust/library" ] || {
        unavailable "no standard library for $target: the package rust-web-src is not installed"
        return
    }
    RUSTC_BOOTSTRAP=1 build_std=-Zbuild-std=std,panic_abort
    export RUSTC RUSTC_BOOTSTRAP
}

host() { rustc -vV | sed -n 's/^host: //p'; }

on_debug() {
    target=$(host)
    build "$cache/native" --bin state_hash && answer "$cache/native/debug/state_hash"
}

on_release() {
    target=$(host)
    build "$cache/native" --release --bin state_hash && answer "$cache/native/release/state_hash"
}

# Every instruction that this processor has.
on_native() {
    target="$(host), target-cpu=native"
    RUSTFLAGS="${RUSTFLAGS:-} -C target-cpu=native"
    export RUSTFLAGS
    build "$cache/native-cpu" --release --bin state_hash && answer "$cache/native-cpu/release/state_hash"
}

on_wasm32() {
    target=wasm32-unknown-unknown
    node=$(program node nodejs) || return
    compiler_for "$target" || return
    if [ -n "$build_std" ]; then
        CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(program wasm-ld-22 wasm-ld) || return
        export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER
    fi
    build "$cache/cross" --release --lib --target "$target" ${build_std:+"$build_std"} || return
    answer "$node" examples/machines/run.mjs "$cache/cross/$target/release/state_hash_module.wasm"
}

on_aarch64() {
    target=aarch64-unknown-linux-gnu
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$(program aarch64-linux-gnu-gcc) || return
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER
    emulated aarch64 libc6-arm64-cross
}

on_s390x() {
    target=s390x-unknown-linux-gnu
    CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=$(program s390x-linux-gnu-gcc) || return
    export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER
    emulated s390x libc6-s390x-cross
}

# The architecture $1 under qemu, with the C library of the package $2.
emulated() {
    qemu=$(program "qemu-$1-static" "qemu-$1") || return
    library=$(dpkg -L "$2" 2>/dev/null | grep -m1 "$1-linux-gnu/lib\$") || {
        unavailable "the package $2 is not installed"
        return
    }
    compiler_for "$target" || return
    build "$cache/cross" --release --bin state_hash --target "$target" ${build_std:+"$build_std"} || return
    answer "$qemu" -L "$(dirname "$library")" "$cache/cross/$target/release/state_hash"
}

# A text as a JSON string.
quoted() {
    printf '"%s"' "$(printf %s "$1" | tr -c ' -~' ' ' | sed 's/[\\"]/\\&/g')"
}

# One machine in a shell of its own, so that what it sets is its own: the line for people, and the row for the evidence.
try() (
    machine=$1 out=$cache/out/$1 log=$cache/log/$1 target=''
    rm -f "$out" "$cache/why"
    rc=0
    "on_$machine" || rc=$?
    reason=null digest=null
    if [ "$rc" -eq 0 ]; then
        digest=$(quoted "$(sha256sum <"$out" | cut -d ' ' -f 1)")
        if cmp -s "$out" "$cache/out/debug"; then
            result=equal
            shown="equal ($(wc -l <"$out" | tr -d ' ') lines, $target)"
        else
            result=different
            where=$(diff "$cache/out/debug" "$out" | grep '^[<>]' | head -n 2 | tr '\n' ' ')
            reason=$(quoted "$where")
            shown="DIFFERENT: $where"
        fi
    elif [ "$rc" -eq 3 ]; then
        result='not available'
        reason=$(quoted "$(cat "$cache/why")")
        shown="not available: $(cat "$cache/why")"
    else
        echo "machines.sh: $machine: exit status $rc" >&2
        exit 70
    fi
    printf '%-8s %s\n' "$machine" "$shown"
    compiler=$("${RUSTC:-rustc}" --version 2>/dev/null | cut -d ' ' -f 1,2) || :
    printf '{"compiler":%s,"machine":%s,"output_sha256":%s,"reason":%s,"result":%s,"target":%s}\n' \
        "$(quoted "$compiler")" "$(quoted "$machine")" "$digest" "$reason" "$(quoted "$result")" "$(quoted "$target")" \
        >>"$cache/rows"
)

count() { grep -c "\"result\":\"$1\"" "$cache/rows" || :; }

# The reference comes first: without it there is nothing to compare with.
for machine in debug $machines; do
    [ "$machine" = debug ] && [ -s "$cache/rows" ] && continue
    try "$machine"
    if [ "$machine" = debug ] && [ "$(count equal)" != 1 ]; then
        cat "$cache/log/debug" >&2
        echo "machines.sh: the debug build gave nothing to compare with" >&2
        exit 1
    fi
done
[ -s "$cache/out/debug" ] || {
    echo "machines.sh: the example printed nothing: equality of nothing is no evidence" >&2
    exit 1
}

not_asked=''
for machine in release native wasm32 aarch64 s390x; do
    grep -q "\"machine\":\"$machine\"" "$cache/rows" || not_asked="$not_asked,$(quoted "$machine")"
done
equal=$(count equal) different=$(count different) missing=$(count 'not available')
commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain 2>/dev/null)" ] || commit="$commit and changes"
# Canonical JSON: members sorted, no blanks, no line end.
printf '{"commit":%s,"evidence_class":"measured","machines":[%s],"measure_source":%s,"measure_ts":%s,"not_asked":[%s],"schema":%s}' \
    "$(quoted "$commit")" "$(paste -s -d , "$cache/rows")" "$(quoted "sh examples/machines.sh$said")" "$began" \
    "${not_asked#,}" '"touchstone.machines/1"' >"$evidence"
echo "$equal equal, $different DIFFERENT, $missing not available; evidence: $evidence"
[ "$different" -eq 0 ] || exit 1
if [ "$missing" -gt 0 ]; then
    echo "YELLOW: evidence class lowered, $missing of $((equal + different + missing)) machines were not run" >&2
    exit 2
fi
