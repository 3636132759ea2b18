#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Submissions while the name service hangs, for slurmctld's plugin and for accordd.

load common
load records

setup_file() {
    make --silent -C "$root" test/cluster/hanging_names.la >&2
    cluster_up --nodes 2 --gpus 4
    install -m 0755 "$root/test/cluster/.libs/hanging_names.so" "$CLUSTER_DIR/opt/lib/"
    close_gate
    write_contract vision 4
    accord_apply
    wait_for 10 ruled_by vision1 vision 1
    export NAMES=$CLUSTER_DIR/run/names
}

teardown() {
    rm -f "$NAMES"
    show_logs_of_failed_test
    cancel_all
}

# with_names FOR COMMAND…: a daemon whose look-ups hang while NAMES is there, where FOR is among the callers.
with_names() {
    env --ignore-environment PATH="$PATH" SLURM_CONF="$SLURM_CONF" ACCORD_CONF="$ACCORD_CONF" HANGING_NAMES="$NAMES" \
        HANGING_FOR="$1" LD_PRELOAD="$CLUSTER_DIR/opt/lib/hanging_names.so" "${@:2}" 3>&-
}

# ends PID: asks the process to end and waits until it has.
ends() {
    kill "$1"
    wait_for 20 slurmctld_gone "$1"
}

asked() { grep -q "$1" "$NAMES.log"; }
accordd_pid() { own_process "^$CLUSTER_DIR/opt/libexec/accordd"; }

# bats test_tags=A31
@test "submissions go on while the name service hangs, and the plugin asks it nothing" {
    local pid job i jobs=()
    ends "$(slurmctld_pid)"
    with_names job_submit_accord slurmctld -f "$SLURM_CONF"
    pid=$(accordd_pid)
    ends "$pid"
    with_names accordd setsid --fork setpriv --reuid=slurm --regid=slurm --init-groups "$CLUSTER_DIR/opt/bin/accordd" \
        >>"$CLUSTER_DIR/log/accordd.log" 2>&1 </dev/null
    wait_for 30 scontrol ping
    wait_for 30 submits_now

    touch "$NAMES"
    write_contract speech 4
    accord apply "$CLUSTER_DIR/contracts"
    wait_for 60 asked '^accordd '  # it looks up who the new contract's members are, and is not answered
    for ((i = 0; i < 50; i++)); do jobs+=("$(submits_now)"); done
    run as_user outsider1 timeout 20 sbatch --output=/dev/null --gpus=1 --wrap=true
    assert_failure
    assert_output --partial '[no_contract]'
    run as_user vision1 timeout 20 scontrol update "JobId=${jobs[0]}" TimeLimit=1
    policy_reload
    run asked '^job_submit_accord '
    assert_failure
    run asked '^other '  # slurmctld's own: the look-ups are seen
    assert_success
    rm "$NAMES"

    assert_equal "$(printf '%s\n' "${jobs[@]}" | sort -u | grep -c .)" 50
    for job in "${jobs[@]}"; do assert [ -n "$(record_of "$job" .id)" ]; done
    wait_for 60 ruled_by speech1 speech 1
}

# submits_now: prints the id of a parked job; fails where slurmctld takes longer than 20 s.
submits_now() {
    as_user vision1 timeout 20 sbatch --parsable --licenses=gate:1 --output=/dev/null --account=vision --gpus=1 --wrap=true \
        2>/dev/null
}
