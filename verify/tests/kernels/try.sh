#!/bin/bash
# Launches the kernels of this folder on a GPU, alone and under compute-sanitizer, and says where what is seen is not what
# must be. Needs a GPU, compute-sanitizer on PATH, and NVRTC where the loader finds it (LD_LIBRARY_PATH).
#
#   verify/tests/kernels/try.sh CUDALINT     (the program, or target/debug/cudalint-launch)
set -u
program=$(realpath "$1")
cd "$(dirname "$0")" || exit 2
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
bad=0

# `must KERNEL STATUS PATTERN [TOOL OPTIONS...]`: the status of the child, and what it or the tool says.
must() {
    local name=$1 status=$2 pattern=$3 got
    shift 3
    if [ $# -eq 0 ]; then
        timeout 60 "$program" __kernel "$name.json" > "$temp/said" 2>&1
    else
        timeout 120 compute-sanitizer --print-limit 20 --strip-paths no --tool "$@" "$program" __kernel "$name.json" > "$temp/said" 2>&1
    fi
    got=$?
    if [ "$status" != any ] && [ "$got" != "$status" ]; then
        echo "WRONG  $name ${*:-alone}: status $got, not $status"
    elif ! grep -qE -- "$pattern" "$temp/said"; then
        echo "WRONG  $name ${*:-alone}: nothing matches $pattern"
    else
        echo "right  $name ${*:-alone}: $(grep -oE -m1 -- "$pattern" "$temp/said")"
        return
    fi
    bad=1
    sed 's/^/       /' "$temp/said" | head -40
}

good='"call":"cuLaunchKernel","code":0.*"call":"cuCtxSynchronize","code":0'
must clean 0 "$good"
must values 0 "$good"
must overrun 0 "$good"
must shared_asked_for 0 "$good"
must shared_refused 1 '"call":"cuLaunchKernel","code":1,"name":"CUDA_ERROR_INVALID_VALUE"'
must block_too_large 1 '"call":"cuLaunchKernel","code":1,"name":"CUDA_ERROR_INVALID_VALUE"'
must wrong_arguments 2 'the kernel takes 2 arguments, and 1 are given'
must wrong_size 2 'argument 2 has 8 bytes, and its parameter 4'
must clean 0 'ERROR SUMMARY: 0 errors' memcheck --padding 65536 --report-api-errors all
must clean 0 'LEAK SUMMARY: 0 bytes leaked' memcheck --leak-check full
must clean 0 'ERROR SUMMARY: 0 errors' initcheck
must values 0 'ERROR SUMMARY: 0 errors' initcheck
must overrun any 'Invalid __global__ read of size 4 bytes' memcheck --padding 65536
must overrun any 'scale.cu:14' memcheck --padding 65536
must overrun any 'thread \(232,0,0\) in block \(3,0,0\)' memcheck --padding 65536
must block_too_large any 'error 1\).*cuLaunchKernel' memcheck --report-api-errors all
must shared_asked_for 0 'ERROR SUMMARY: 0 errors' memcheck --report-api-errors all
must race any 'Race reported between' racecheck
must race any 'kernel.cu:5' racecheck
must uninitialized any 'Uninitialized __global__ memory read of size 8 bytes' initcheck
must barrier any 'Barrier error detected. Divergent thread' synccheck
exit $bad
