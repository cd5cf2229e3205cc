#!/bin/sh
# Installs into a scratch folder, builds the C++ example against it, runs it and the installed program.
#   install_test.sh BUILD SOURCE [COMPILER_LAUNCHER]
set -eu
build="$1" source="$2" launcher="${3:-}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/tenon" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
# a library with sanitizers in it needs them in the program, too
sanitize="$(sed -n 's/^TENON_SANITIZE:STRING=//p' "$build/CMakeCache.txt")"
cmake -G Ninja -S "$source/examples/cpp" -B "$work/example" -DCMAKE_PREFIX_PATH="$work/tenon" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" ${sanitize:+"-DCMAKE_CXX_FLAGS=-fsanitize=$sanitize"} >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/example" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$work/example/falling_bodies" | tee "$work/output"

# 4 m/s upwards from 1 m: the top is at 1 + 16 / (2 * 9.81) = 1.815 m, less up to h v / 2 = 0.02 m for implicit Euler
grep -q "2 bodies, ball at height" "$work/output"
grep -Eq "callbacks: 100 before, 100 after; highest point 1\.(79|80|81)" "$work/output"

# moved elsewhere, the program still finds its libraries
mv "$work/tenon" "$work/moved"
"$work/moved/bin/tenon" --version | grep -q "^tenon "
