# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the tree, quietly unless it fails.
#
# Reads: root (the tree's directory, which is the working directory).

# logged NAME COMMAND…: runs it, and shows what it said only if it fails; NAME.log keeps it.
logged() {
    local log=$root/$1.log
    shift
    say "$*"
    "$@" >"$log" 2>&1 || {
        tail -n 100 "$log"
        return 1
    }
}

# Without symbols for a debugger, unless CXXFLAGS asks for them: they take a third of the time.
build_tree() {
    if [ ! -e Makefile ]; then
        logged build-bootstrap ./bootstrap || return 1
        logged build-configure ./configure CXXFLAGS="${CXXFLAGS--O2}" || return 1
    fi
    logged build-make make "-j$(nproc)" all
}
