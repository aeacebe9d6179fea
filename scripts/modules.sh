# SPDX-License-Identifier: Apache-2.0
#
# Shared by the scripts that compile programs with the modules of the debug build. They set `work`, a folder of their own,
# and define `fail`, then source this file.

modules=.build/debug/Modules
[ -f "$modules/LocalAuthentication.swiftmodule" ] || fail "nothing is built: run swift build first"

# What the modules were built on: C that the system and the packages have.
clang=()
for flag in $(pkg-config --cflags-only-I gio-2.0 libcurl libfprint-2 tss2-esys sqlite3); do clang+=(-Xcc "$flag"); done
for map in Sources/Ground/C/*/module.modulemap .build/checkouts/*/Sources/*/{,include/}module.modulemap; do
    [ ! -f "$map" ] || clang+=(-Xcc "-fmodule-map-file=$PWD/$map")
done
paths=(-I "$modules" -module-cache-path "$work/cache")
