#!/bin/sh
# Verifies handed-over findings on this machine's GPU: each is compiled and run, and the GPU says what happens.
# This runs code from the tree that was linted.
#
#   verify.sh HANDOVER.tar.gz RESULT [OPTIONS of `cudalint verify`…]
#
# RESULT is a folder that is made anew:
#   status         the exit status of `cudalint verify`
#   doctor.txt     what the machine has
#   verified.json  the findings with their verdicts
#   verified.sarif the same for code scanning, when CUDALINT_SARIF is `true`
#   outcome/       report.html; a folder for each finding, with its reproducer and the tools' reports
#   sources/       what was handed over: reproducers include files of it, by the path that RESULT has on this machine
#   place          that path; relocate.sh makes it another machine's
#
# Exit status, which is that of `cudalint verify`:
#   0  nothing was confirmed
#   1  at least one finding was confirmed
#   2  the verification could not be done as asked
#   3  nothing could be decided: no GPU, no compiler, no tool, or findings that no run can show. This is no pass;
#      where it has to be one, set CUDALINT_UNDECIDED=pass: it is still said, and the status is 0.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: verify.sh HANDOVER.tar.gz RESULT [OPTIONS…]" >&2
    exit 2
fi
handover=$1
result=$2
shift 2

# Says a line as an annotation where there are any.
say() {
    if [ "${GITHUB_ACTIONS:-}" = true ]; then
        echo "::$1 title=cudalint verify::$2"
    else
        echo "cudalint verify: $1: $2" >&2
    fi
}

# Text as sed's pattern or replacement.
quoted() {
    printf '%s' "$1" | sed 's/[]\\.*^$[|&]/\\&/g'
}

case "${CUDALINT_UNDECIDED:-fail}" in
fail | pass) ;;
*)
    say error "CUDALINT_UNDECIDED is \`$CUDALINT_UNDECIDED\`; it may be \`fail\` or \`pass\`"
    exit 2
    ;;
esac
if [ ! -f "$handover" ]; then
    say error "$handover: no such file; pack.sh writes it"
    exit 2
fi
if [ -e "$result" ] && [ ! -f "$result/status" ]; then
    say error "$result is there already and was not written by verify.sh"
    exit 2
fi
rm -rf "$result"
mkdir -p "$result"
result=$(cd "$result" && pwd)
# Until it is known better.
echo 2 >"$result/status"
printf '%s\n' "$result" >"$result/place"
if ! tar --extract --gzip --file="$handover" --directory="$result" findings.json root sources; then
    say error "$handover: not what pack.sh writes"
    exit 2
fi

# A compilation database names files by where they were.
for database in "$result/sources/compile_commands.json" "$result/sources/build/compile_commands.json"; do
    if [ -f "$database" ]; then
        from=$(quoted "$(cat "$result/root")")
        to=$(quoted "$result/sources")
        sed "s|$from\\([/\" ]\\)|$to\\1|g" "$database" >"$database.here"
        mv "$database.here" "$database"
    fi
done

# What is missing is told here; whether it matters, the verification decides.
cudalint doctor >"$result/doctor.txt" 2>&1 || true
cat "$result/doctor.txt"

status=0
cudalint verify "$result/findings.json" --sources "$result/sources" --out "$result/outcome" \
    --report "$result/outcome/report.html" --output-format json "$@" >"$result/verified.json" || status=$?
echo "$status" >"$result/status"
if [ "${CUDALINT_SARIF:-}" = true ] && [ "$status" -ne 2 ]; then
    # Everything is decided already: this only writes it down once more.
    cudalint verify "$result/findings.json" --sources "$result/sources" --out "$result/outcome" --resume \
        --output-format sarif "$@" >"$result/verified.sarif" || true
fi

case $status in
0) echo "cudalint verify: no finding was confirmed" ;;
1) say error "findings were confirmed on a GPU; report and reproducers are in $result/outcome" ;;
2) say error "the verification could not be done as asked; see the messages above" ;;
3)
    why="nothing could be decided, so nothing was shown to be right or wrong; $result/doctor.txt says what the machine lacks"
    if [ "${CUDALINT_UNDECIDED:-fail}" = pass ]; then
        say warning "$why (passed, since CUDALINT_UNDECIDED is \`pass\`)"
        status=0
    else
        say error "$why"
    fi
    ;;
130)
    say error "interrupted"
    status=2
    ;;
*)
    say error "cudalint verify ended with status $status, which it never does by itself: killed, or not installed"
    status=2
    ;;
esac
exit "$status"
