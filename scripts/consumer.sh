# SPDX-License-Identifier: Apache-2.0
#
# Shared by the checks that build packages which depend on this one by path. They set `root`, then source this file.
#
# All of them build in .build-consumer, so that each module is compiled only once. That folder contains a link named
# whorl to this package, because SwiftPM uses the folder's name as the name of the package, and a clone can have any
# name.

# build_into FOLDER: builds into another folder of this package from now on.
build_into() {
    consumers=$root/$1
    mkdir -p "$consumers"
    ln -sfn .. "$consumers/whorl"
}
build_into .build-consumer

# copy_package FOLDER PATH COPY: copies a package, so that nothing is written into the sources; PATH is how it names this one.
copy_package() {
    cp -R "$1" "$3"
    sed "s|path: \"$2\"|path: \"$consumers/whorl\"|" "$1/Package.swift" >"$3/Package.swift"
    grep -qF "path: \"$consumers/whorl\"" "$3/Package.swift" || fail "$1/Package.swift has no path \"$2\""
    [ ! -f Package.resolved ] || cp Package.resolved "$3/"
}

# build_package COPY LOG [arguments of swift build]; a plan that is kept can be another package's.
build_package() {
    copy=$1 log=$2
    shift 2
    swift build --package-path "$copy" --scratch-path "$consumers" --disable-build-manifest-caching \
        "$@" >"$log" 2>&1
}
