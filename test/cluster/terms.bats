#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What becomes of pending jobs when their contract ends, is renewed, revoked or changed (R11, R19).

load common
load records

setup_file() {
    cluster_up --nodes 2 --gpus 4
    settle_soon
    close_gate
}

partition_is() { [ "$(job_field "$1" Partition)" = "$2" ]; }
reason_is() { [ "$(job_field "$1" Reason)" = "$2" ]; }
class_of() { record_of "$1" .class; }
ends_at() { sed -i "s/^valid_until = .*/valid_until = $1/" "$CLUSTER_DIR/contracts/vision.toml"; }

# bats test_tags=G03
@test "when a contract ends its pending jobs are held, running ones go on, and renewing it releases them" {
    local runs guaranteed borrowed behind end
    write_contract vision 4
    accord_apply
    wait_for 10 ruled_by vision1 vision 1
    cancel_all
    runs=$(submit vision1 --gpus=1 --wrap='exec sleep 300' 2>/dev/null)
    guaranteed=$(parked vision1 --gpus=3)
    borrowed=$(parked vision1 --gpus=2)
    behind=$(submit vision1 --dependency="afterok:$guaranteed" --gpus=1 --wrap=true 2>/dev/null)
    wait_state "$runs" RUNNING
    assert_equal "$(class_of "$guaranteed") $(class_of "$borrowed")" 'guaranteed borrowed'
    end=$(date --utc --date='+3 seconds' +%Y-%m-%dT%H:%M:%SZ)
    ends_at "$end"
    accord_apply
    wait_for 30 reason_is "$guaranteed" JobHeldAdmin
    wait_for 30 reason_is "$borrowed" JobHeldAdmin
    wait_for 30 is_parked "$behind"
    assert_equal "$(job_state "$runs")" RUNNING
    partition_is "$guaranteed" gpu-lend
    run as_user vision1 scontrol release "$guaranteed"
    assert_failure
    run submit vision1 --account=vision --gpus=1 --wrap=true
    assert_failure
    assert_output --partial "$end"
    assert_output --partial '[not_active]'
    run accord why "$guaranteed"
    assert_output --partial 'hold from guaranteed to queued (not_active): done'

    ends_at 2099-12-31
    accord_apply
    wait_for 30 partition_is "$guaranteed" gpu
    wait_for 30 reason_is "$borrowed" Licenses
    assert_equal "$(job_field "$guaranteed" Reason)" Licenses
    wait_for 30 reason_is "$behind" Dependency
}
is_parked() { [ "$(date --date="$(job_field "$1" EligibleTime)" +%Y)" -gt 2900 ] || [ "$(date --date="$(job_field "$1" StartTime)" +%Y)" -gt 2900 ]; }

@test "a revoked contract's pending jobs are cancelled, an array's rest without its running tasks" {
    local pending array
    cancel_all
    write_contract vision 4
    accord_apply
    array=$(submit vision1 --array=0-3%1 --gpus=1 --wrap='exec sleep 300' 2>/dev/null)
    pending=$(parked vision1 --gpus=2)
    wait_for 30 runs_one "$array"
    set_state revoked
    wait_state "$pending" CANCELLED 30
    wait_for 30 no_pending "$array"
    runs_one "$array"
    scancel "$array"  # its running task has no number by which scancel knows it
    set_state active
}
runs_one() { [ "$(squeue --noheader --array --states=running --jobs="$1" --format=%i | wc -l)" = 1 ]; }
no_pending() { [ "$(squeue --noheader --array --states=pending --jobs="$1" --format=%i | wc -l)" = 0 ]; }
# set_state STATE: of vision's contract, in the store itself.
set_state() {
    runuser --user=slurm -- sqlite3 "$CLUSTER_DIR/accord/contracts.db" \
        "UPDATE contract_head SET state = '$1'; UPDATE generation SET number = number + 1"
}

@test "a guarantee that shrinks lowers pending jobs to borrowed, and one that grows promotes them" {
    local first second
    cancel_all
    write_contract vision 4
    accord_apply
    wait_for 60 nothing_claimed vision1 vision/gpu --gpus=99
    first=$(parked vision1 --gpus=2)
    second=$(parked vision1 --gpus=2)
    assert_equal "$(class_of "$first") $(class_of "$second")" 'guaranteed guaranteed'
    write_contract vision 2
    accord_apply
    wait_for 30 partition_is "$second" gpu-lend
    partition_is "$first" gpu
    wait_for 30 reason_is "$second" Licenses
    write_contract vision 4
    accord_apply
    wait_for 30 partition_is "$second" gpu
}
