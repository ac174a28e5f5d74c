#!/bin/sh
# Packs findings and the sources that they are about into one file, for a machine with a GPU. Run it where `lint.sh` ran,
# in the root of the checkout: the paths of the findings start there.
#
#   pack.sh FINDINGS.json HANDOVER.tar.gz [PATHS…]
#
# Packed as `sources/`: all files that git knows or would take, those of submodules too, below PATHS [default: all]; and
# compile_commands.json, here or in build/, which git often does not take. As `findings.json`: the findings. As `root`:
# where this is, since a compilation database says it.
#
# Exit status: 0; 2 when the findings are missing or this is no git checkout.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: pack.sh FINDINGS.json HANDOVER.tar.gz [PATHS…]" >&2
    exit 2
fi
findings=$1
handover=$2
shift 2
if [ ! -f "$findings" ]; then
    echo "pack.sh: $findings: no such file; lint.sh writes it" >&2
    exit 2
fi
if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "pack.sh: $(pwd) is no git checkout" >&2
    exit 2
fi
if [ $# -eq 0 ]; then
    set -- .
fi

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap 'exit 2' HUP INT TERM
mkdir "$stage/sources"
cp "$findings" "$stage/findings.json"
pwd >"$stage/root"

# Names may hold anything but NUL. A file that git knows may have been deleted since.
list_sources() {
    git ls-files -z --cached --recurse-submodules -- "$@"
    git ls-files -z --others --exclude-standard -- "$@"
    printf '%s\0' compile_commands.json build/compile_commands.json
}
# shellcheck disable=SC2016 # expanded by the inner shell
list_sources "$@" | LC_ALL=C sort -zu |
    xargs -0 sh -c 'for f; do if [ -e "$f" ] || [ -L "$f" ]; then printf "%s\0" "$f"; fi; done' sh >"$stage/names"
# What this very job writes is no source.
tar --create --file="$stage/sources.tar" --anchored --no-wildcards --exclude="${findings#./}" --exclude="${handover#./}" \
    --no-recursion --null --files-from="$stage/names"
tar --extract --file="$stage/sources.tar" --directory="$stage/sources"

tar --create --gzip --file="$handover" --directory="$stage" findings.json root sources
echo "cudalint: $(find "$stage/sources" ! -type d -print0 | tr -cd '\0' | wc -c | tr -d ' ') source files in $handover"
