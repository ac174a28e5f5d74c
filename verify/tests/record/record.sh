#!/bin/bash
# Records what compute-sanitizer says of the programs in cuda/ and python/, for the tests that run without a GPU.
# Needs nvcc, compute-sanitizer, g++ and python3 (numba, cupy, numpy) on PATH, and a GPU. With nvcc from PyPI, also
# NVCC_APPEND_FLAGS="-L<site-packages>/nvidia/cu13/lib". Takes two to four minutes on 16 cores; JOBS runs at a time (6).
#
#   OUT=folder verify/tests/record/record.sh [NAME-PATTERN]
#
# Writes $OUT/recorded.tar.gz: for every program P and tool T
#   P.T.xml      report of `--xml --save`          P.T.run      what that run printed, its status and its seconds
#   P.T.txt      the text form of the same report  P.plain.run  the program alone
# and P.build, what the compiler said. The programs' folder is written as /project in all of them.
# A program's first lines say how: `record:` tools, `flags:` for nvcc, `limit:` seconds, `asan:` a second, ASan build.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${OUT:?set OUT to the folder for the result}"
pattern=${1:-.}
jobs=${JOBS:-6}
python=${PYTHON:-python3}
arch=${ARCH:-sm_90}
temp=$(mktemp -d)
mkdir -p "$temp/src" "$temp/recorded"
cp "$here"/cuda/* "$here"/python/* "$temp/src/"
own=$here/../../src/experiment
cp "$own"/driver/*.py "$own"/sanitizer/cudalint_host_bounds.cpp "$temp/src/"
cd "$temp/src" || exit 1
export temp python arch

say() { sed -n "s,^\(//\|#\) $2: ,,p" "$1" | head -1; }
export -f say

# One numbered run: `one NUMBER NAME TOOL LIMIT COMMAND...`
one() {
    local number=$1 name=$2 tool=$3 limit=$4
    shift 4
    local base="$temp/recorded/$name.$tool" options=() checker=memcheck limit_of=1000
    case $tool in
        plain) ;;
        memcheck) options=(--padding 4096 --report-api-errors all) ;;
        memcheck-nodebug) options=(--padding 4096 --report-api-errors all) ;;
        memcheck-nopadding) options=(--report-api-errors all) ;;
        memcheck-explicit) options=(--padding 4096 --report-api-errors explicit) ;;
        memcheck-stream) options=(--padding 4096 --report-api-errors all --track-stream-ordered-races all) ;;
        memcheck-demangle-simple) options=(--demangle simple) ;;
        memcheck-no-demangle) options=(--demangle no) ;;
        memcheck-kernel) options=(--padding 4096 --report-api-errors all --destroy-on-device-error kernel) ;;
        memcheck-limit) limit_of=10 ;;
        memcheck-exitcode) options=(--error-exitcode 99) ;;
        memcheck-longbacktrace) options=(--backtrace-short no) ;;
        memcheck-garbage) options=(--no-such-option) ;;
        leakcheck) options=(--padding 4096 --leak-check full) ;;
        racecheck-all) checker=racecheck options=(--racecheck-report all --racecheck-detect-level info) ;;
        racecheck) checker=racecheck ;;
        initcheck-unused) checker=initcheck options=(--track-unused-memory) ;;
        initcheck) checker=initcheck ;;
        synccheck) checker=synccheck ;;
    esac
    local begin end status
    if [ "$tool" = plain ]; then
        begin=$(date +%s.%N)
        timeout -k 2 "$limit" "$@" > "$base.run" 2>&1 < /dev/null
        status=$?
        end=$(date +%s.%N)
        printf '\n[status %s, %s seconds]\n' "$status" "$(echo "$end $begin" | awk '{printf "%.2f", $1 - $2}')" >> "$base.run"
        return
    fi
    local common=(--tool "$checker" --strip-paths no --print-limit "$limit_of" --require-cuda-init no "${options[@]}")
    begin=$(date +%s.%N)
    timeout -k 2 "$limit" compute-sanitizer --port $((20000 + number * 20)) --xml --save "$base.xml" "${common[@]}" "$@" > "$base.run" 2>&1 < /dev/null
    status=$?
    end=$(date +%s.%N)
    printf '\n[status %s, %s seconds]\n' "$status" "$(echo "$end $begin" | awk '{printf "%.2f", $1 - $2}')" >> "$base.run"
    timeout -k 2 "$limit" compute-sanitizer --port $((20010 + number * 20)) --log-file "$base.txt" "${common[@]}" "$@" > /dev/null 2>&1 < /dev/null
}
export -f one

build() {
    local file=$1 name=${1%.cu} flags
    flags=$(say "$file" flags)
    local extra=()
    for flag in $flags; do
        case $flag in *.cu_) cp "$flag" "${flag%_}"; extra+=("${flag%_}") ;; *) extra+=("$flag") ;; esac
    done
    [[ $flags == *-arch=* ]] || extra+=(-arch="$arch")
    nvcc -std=c++17 --extended-lambda -lineinfo -g -o "$name" "$temp/src/$file" "${extra[@]}" > "$temp/recorded/$name.build" 2>&1
    case "$(say "$file" record)" in *nodebug*)
        nvcc -std=c++17 --extended-lambda -lineinfo -o "$name.nodebug" "$temp/src/$file" "${extra[@]}" >> "$temp/recorded/$name.build" 2>&1 ;;
    esac
    if [ "$(say "$file" asan)" = yes ]; then
        local wraps=() call
        for call in $(sed -n 's/^CUDALINT_[A-Z_]*(\(cuda[A-Za-z0-9_]*\),.*/\1/p' "$temp/src/cudalint_host_bounds.cpp"); do
            wraps+=(-Xlinker "--wrap=$call")
        done
        nvcc -std=c++17 -g -Xcompiler -O0 -Xcompiler -fsanitize=address,-fno-omit-frame-pointer "${wraps[@]}" -o "$name.asan" "$temp/src/$file" "$temp/src/cudalint_host_bounds.cpp" "${extra[@]}" >> "$temp/recorded/$name.build" 2>&1
    fi
}
export -f build

ls ./*.cu | sed 's,^\./,,' | grep -E "$pattern" | xargs -P "$(nproc)" -I{} bash -c 'build {}'

number=0
list="$temp/runs"
: > "$list"
add() { number=$((number + 1)); echo "one $number $*" >> "$list"; }
for file in $(ls ./*.cu | sed 's,^\./,,' | grep -E "$pattern"); do
    name=${file%.cu}
    limit=$(say "$file" limit)
    limit=${limit:-60}
    [ -x "$name" ] || continue
    add "$name" plain "$limit" "./$name"
    for tool in $(say "$file" record); do
        program=./$name
        [ "$tool" = memcheck-nodebug ] && program=./$name.nodebug
        add "$name" "$tool" "$limit" "$program"
    done
    if [ -x "$name.asan" ]; then
        add "$name-asan" plain "$limit" env ASAN_OPTIONS=protect_shadow_gap=0:detect_leaks=0 "./$name.asan"
    fi
done
for file in $(ls ./*.py | sed 's,^\./,,' | grep -v '^cudalint_' | grep -E "$pattern"); do
    name=${file%.py}
    add "$name" plain 60 "$python" "$file"
    for tool in $(say "$file" record); do
        add "$name" "$tool" 60 "$python" "$file"
        add "$name-watched" "$tool" 60 "$python" cudalint_watched.py "$file"
    done
done
if [ -x global_read ]; then
    add global_read memcheck-garbage 60 ./global_read
    add global_read memcheck-exitcode 60 ./global_read
    add global_read-nodevice memcheck 60 env CUDA_VISIBLE_DEVICES= ./global_read
    add global_read-missing memcheck 60 ./no-such-program
    add api_launch memcheck-longbacktrace 60 ./api_launch
    add api_errors memcheck-longbacktrace 60 ./api_errors
fi
# A status of 255 would stop xargs.
xargs -P "$jobs" -I{} bash -c '{} ; exit 0' < "$list"

# A kernel that never ends: what is left when the tool is told to stop, when the program is killed, and of its text log.
if [ -x hang ]; then
    for signal in TERM INT KILL; do
        base="$temp/recorded/hang.stop-tool-$signal"
        compute-sanitizer --port 19000 --tool memcheck --xml --save "$base.xml" --log-file "$base.txt" ./hang > "$base.run" 2>&1 < /dev/null &
        tool=$!
        sleep 5
        kill -"$signal" "$tool"
        sleep 2
        { echo "[left after 2 seconds:"; ps -o pid,stat,args --ppid "$tool"; ps -C hang -o pid,ppid,stat,args; echo "]"; } >> "$base.run"
        kill -KILL "$tool" 2> /dev/null
        for left in $(ps -C hang -o pid=); do [ "$(readlink "/proc/$left/exe")" = "$temp/src/hang" ] && kill -KILL "$left"; done
        wait "$tool"
        echo "[status $?]" >> "$base.run"
    done
    for signal in TERM KILL; do
        base="$temp/recorded/hang.stop-program-$signal"
        compute-sanitizer --port 19000 --tool memcheck --xml --save "$base.xml" ./hang > "$base.run" 2>&1 < /dev/null &
        tool=$!
        sleep 5
        for left in $(ps -C hang -o pid=); do [ "$(readlink "/proc/$left/exe")" = "$temp/src/hang" ] && kill -"$signal" "$left"; done
        begin=$(date +%s.%N)
        timeout 20 tail --pid="$tool" -f /dev/null
        echo "[the tool ended $(echo "$(date +%s.%N) $begin" | awk '{printf "%.2f", $1 - $2}') seconds later]" >> "$base.run"
        kill -KILL "$tool" 2> /dev/null
        for left in $(ps -C hang -o pid=); do [ "$(readlink "/proc/$left/exe")" = "$temp/src/hang" ] && kill -KILL "$left"; done
        wait "$tool"
        echo "[status $?]" >> "$base.run"
    done
fi

{ nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; nvcc --version | tail -2; compute-sanitizer --version | tail -3; "$python" -c 'import numba, numpy; print("numba", numba.__version__, "numpy", numpy.__version__)'; "$python" -c 'import numba_cuda; print("numba-cuda", numba_cuda.__version__)'; "$python" -c 'import cupy; print("cupy", cupy.__version__)'; } > "$temp/recorded/versions" 2>&1
find "$temp/recorded" -type f -size -64M -exec sed -i "s,$temp/src,/project,g; s,$temp,/project-out,g" {} +
mkdir -p "$OUT"
tar -C "$temp" -czf "$OUT/recorded.tar.gz" recorded
ls "$temp/recorded" | wc -l
rm -rf "$temp"
