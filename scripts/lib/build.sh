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

build_tree() {
    if [ ! -e Makefile ]; then
        logged build-bootstrap ./bootstrap || return 1
        logged build-configure ./configure || return 1
    fi
    logged build-make make "-j$(nproc)" all
}
