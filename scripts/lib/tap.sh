# SPDX-License-Identifier: GPL-2.0-or-later
# What the checks of `make check` share: one line of TAP per thing looked at, findings as comments before it.

tap_count=0
tap_failed=0

# tap NAME FINDINGS: ok if there are no findings.
tap() {
    tap_count=$((tap_count + 1))
    if [ -z "$2" ]; then
        printf 'ok %d - %s\n' "$tap_count" "$1"
    else
        tap_failed=1
        printf '%s\n' "$2" | sed 's/^/# /'
        printf 'not ok %d - %s\n' "$tap_count" "$1"
    fi
}

# tap_skip NAME REASON: a failure where everything must be looked at.
tap_skip() {
    if [ -n "${ACCORD_MUST_WORK:-}" ]; then
        tap "$1" "$2"
    else
        tap_count=$((tap_count + 1))
        printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
    fi
}

# tap_end: the plan; its result is the script's.
tap_end() {
    printf '1..%d\n' "$tap_count"
    return "$tap_failed"
}
