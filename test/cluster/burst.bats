#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Many clients at once: slurmctld calls the hook for one after the other in 22.05, side by side from 23.02 on.

load common
load records

setup_file() {
    cluster_up --cluster 4x8:a100
    close_gate
    write_contract vision 16 'borrow_limit = 8'
    accord_apply
    wait_for 10 ruled_by vision1 vision 1
    cancel_all
}

# submit_side_by_side COUNT: that many clients, each with one job of one GPU.
submit_side_by_side() {
    local i
    for ((i = 0; i < $1; i++)); do parked vision1 --account=vision --gpus=1 >/dev/null & done
    wait
}
jobs_in() { squeue --noheader --all --partition="$1" --format=%A | wc -l; }
guaranteed() { journal | jq 'select(.class == "guaranteed") | .id' | wc -l; }

# bats test_tags=A29
@test "of 200 submissions at once as many are guaranteed as the guarantee has room for, and none is lost" {
    local pid
    pid=$(slurmctld_pid)
    submit_side_by_side 200
    assert_equal "$(squeue --noheader --all --format=%A | wc -l)" 200
    assert_equal "$(jobs_in gpu)" 16
    assert_equal "$(guaranteed)" 16
    run slurmctld_lives "$pid"
    assert_success
    run check_journal
    assert_success
}
