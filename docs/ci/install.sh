#!/bin/sh
# Puts `cudalint` on the path of this job, in a virtual environment of its own.
#
#   install.sh WHEELS PACKAGE
#
# WHEELS   a folder: a wheel of cudalint that lies there is installed; else one is built into it from PACKAGE
# PACKAGE  what pip can build or find: a folder, git+https://…@revision, cudalint==0.1.0. Building needs Rust and a
#          C compiler, once; installing the wheel needs neither.
#
# Exit status: 0, or whatever failed.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: install.sh WHEELS PACKAGE" >&2
    exit 2
fi
wheels=$1
package=$2
environment=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/cudalint-environment

wheel_in() {
    find "$1" -maxdepth 1 -name 'cudalint-*.whl' 2>/dev/null | head -n 1
}

python3 -m venv "$environment"
if [ -z "$(wheel_in "$wheels")" ]; then
    "$environment/bin/pip" wheel --quiet --no-deps --wheel-dir "$wheels" "$package"
fi
"$environment/bin/pip" install --quiet --no-deps --force-reinstall "$(wheel_in "$wheels")"
if [ -n "${GITHUB_PATH:-}" ]; then
    echo "$environment/bin" >>"$GITHUB_PATH"
fi
"$environment/bin/cudalint" --version
echo "installed in $environment/bin"
