#!/bin/sh
# Lints a project and writes what was found. Needs no GPU, no CUDA and no build. Run it in the root of the checkout.
#
#   lint.sh FINDINGS.json [PATHS…]
#
# Says every finding once (as annotations on GitHub), and tells later steps of the job how many there are
# (`findings=N` in $GITHUB_OUTPUT), so that no GPU is asked for when there is nothing to show.
#
# Exit status: 0 when the run was done, with findings or without: a GPU will judge them. 2 when it could not be done as
# asked: bad settings, unreadable files.
set -eu

if [ $# -lt 1 ]; then
    echo "usage: lint.sh FINDINGS.json [PATHS…]" >&2
    exit 2
fi
findings=$1
shift
if [ $# -eq 0 ]; then
    set -- .
fi

cudalint check --quiet --exit-zero --output-format json --output-file "$findings" "$@"

# Both formats have one line for each finding.
format=concise
if [ "${GITHUB_ACTIONS:-}" = true ]; then
    format=github
fi
lines=$(cudalint check --quiet --exit-zero --output-format "$format" "$@")
count=0
if [ -n "$lines" ]; then
    printf '%s\n' "$lines"
    count=$(printf '%s\n' "$lines" | wc -l | tr -d ' ')
fi
echo "cudalint: $count finding(s) to verify, in $findings"
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    echo "findings=$count" >>"$GITHUB_OUTPUT"
fi
