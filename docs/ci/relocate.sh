#!/bin/sh
# Makes reproducers that were published elsewhere buildable here: where they include sources, or their first line names a
# folder, by the path on the machine that verified, the path becomes that of RESULT on this machine.
#
#   relocate.sh RESULT
#
# RESULT is the folder that verify.sh wrote, downloaded.
#
# Exit status: 0; 2 when RESULT is no such folder.
set -eu

if [ $# -ne 1 ] || [ ! -f "$1/place" ]; then
    echo "usage: relocate.sh RESULT, the folder that verify.sh wrote" >&2
    exit 2
fi
result=$(cd "$1" && pwd)
place=$(cat "$result/place")

# Text as sed's pattern or replacement.
quoted() {
    printf '%s' "$1" | sed 's/[]\\.*^$[|&]/\\&/g'
}

from=$(quoted "$place")
to=$(quoted "$result")
# Reproducers are sources; reports stay what the tools wrote.
find "$result/outcome" -type f \( -name '*.cu' -o -name '*.cpp' -o -name '*.h' -o -name '*.py' \) \
    -exec sed -i "s|$from/|$to/|g" {} +
printf '%s\n' "$result" >"$result/place"
echo "cudalint: the reproducers in $result/outcome are those of this machine"
