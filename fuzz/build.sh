#!/bin/sh
# Builds the fuzzer under AddressSanitizer and UBSan:  fuzz/build.sh OUTPUT [compiler options ...]
# With clang OUTPUT is a libFuzzer program (OUTPUT -dict=fuzz/scan.dict CORPUS fuzz/seeds); with any other compiler,
# or with STANDALONE=1, it checks the files it is given and random changes of them (OUTPUT -n 1000 fuzz/seeds/*).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
output=$1
shift
native=$here/../src/rankscope/native/c
flags="-std=c11 -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=all"
if [ -z "${STANDALONE:-}" ] && command -v clang >/dev/null 2>&1; then
    exec clang $flags -fsanitize=fuzzer,address,undefined "$@" "$here/fuzz_scan.c" "$native"/scanner.c "$native"/table.c "$native"/qrels.c "$native"/ahead.c -o "$output"
fi
exec "${CC:-cc}" $flags -fsanitize=address,undefined -DSTANDALONE "$@" "$here/fuzz_scan.c" "$native"/scanner.c "$native"/table.c "$native"/qrels.c "$native"/ahead.c -lm -o "$output"
