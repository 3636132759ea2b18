# SPDX-License-Identifier: GPL-2.0-or-later
# What every script here needs: saying, giving up, waiting.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
program=${0##*/}

say() { printf '%s\n' "$*"; }

complain() { printf '%s: %s\n' "$program" "$*" >&2; }

# Wrong usage ends with 2, as the tools' own does.
misused() { complain "$*"; exit 2; }

die() { complain "$*"; exit 1; }

need_root() { [ "$(id -u)" -eq 0 ] || die "$1: needs root"; }

# wait_for SECONDS COMMAND…: until COMMAND succeeds; fails after SECONDS and says what did not come.
wait_for() {
    local seconds=$1 deadline
    deadline=$(($(date +%s%N) + seconds * 1000000000))
    shift
    until "$@" >/dev/null 2>&1; do
        if [ "$(date +%s%N)" -ge "$deadline" ]; then
            printf 'waited %s s in vain for: %s\n' "$seconds" "$*" >&2
            return 1
        fi
        sleep 0.1
    done
}
