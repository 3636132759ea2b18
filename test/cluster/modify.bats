#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What a job's owner can and cannot change afterwards (R17).

load common
load records

setup_file() {
    cluster_up --nodes 2 --gpus 4
    settle_soon
    echo 'PartitionName=other Nodes=n1 PriorityTier=1' >>"$CLUSTER_DIR/slurm.conf"
    close_gate
    write_contract vision 4 'borrow_limit = 0'
    write_contract speech 2
    accord_apply
    wait_for 10 ruled_by vision1 vision 1
    cancel_all
}

teardown() {
    show_logs_of_failed_test
    cancel_all
}

# queued_job: the whole guarantee is in use; prints the id of a job that waits behind it.
queued_job() {
    local job
    wait_for 60 takes_whole_guarantee
    job=$(submit vision1 --account=vision --gpus=4 --wrap=true 2>/dev/null)
    assert_equal "$(record_of "$job" .class)" queued
    printf '%s\n' "$job"
}
# The claims of the tests before end with accordd's next snapshot.
takes_whole_guarantee() {
    local job
    job=$(submit vision1 --account=vision --gpus=4 --wrap='sleep 300')
    if [ "$(record_of "$job" .class)" = guaranteed ]; then return 0; fi
    scancel "$job"
    return 1
}

# refused JOB REASON SCONTROL-ARGUMENT…: vision1's scontrol fails, and the record says why.
refused() {
    local job=$1 reason=$2
    shift 2
    run as_user vision1 scontrol "$@"
    assert_failure
    assert_equal "$* $(last_refusal '[.kind, .verdict, .reason, .job_decision] | join(" ")')" \
        "$* modification rejected $reason $(decision_id "$job")"
    assert_equal "$(last_refusal .job_id)" "$job"
}
# accordd's own actions may come after it.
last_refusal() { journal | jq --raw-output --slurp "map(select(.verdict == \"rejected\")) | last | $1"; }

is_held() { [ "$(job_field "$1" Priority)" = 0 ] && [ "$(job_field "$1" Partition)" = gpu-lend ]; }

@test "a queued job's owner cannot release it, nor raise it, nor move it" {
    local job
    job=$(queued_job)
    refused "$job" queued release "$job"
    refused "$job" queued update JobId="$job" Priority=5000
    refused "$job" queued update JobId="$job" Partition=gpu
    refused "$job" queued update JobId="$job" Partition=other
    refused "$job" immutable update JobId="$job" Account=speech
    run is_held "$job"
    assert_success
    # with a hold of his own between, or after accordd's
    run as_user vision1 scontrol hold "$job"
    refused "$job" queued release "$job"
    run as_user vision1 scontrol uhold "$job"
    refused "$job" queued release "$job"
    run is_held "$job"
    assert_success
}

@test "what a job asks for cannot be changed by its owner" {
    local job change
    job=$(parked vision1 --account=vision --gpus=2)
    for change in Gres=gpu:4 NumNodes=2 NumTasks=4 NumCPUs=8 MinMemoryNode=100 CPUsPerTask=2 OverSubscribe=no \
        TimeLimit=10 ReqNodeList=n1 Requeue=0; do
        refused "$job" immutable update JobId="$job" "$change"
    done
    assert_equal "$(job_field "$job" TimeLimit)" UNLIMITED
}

@test "what asks for nothing can be changed, and leaves no record" {
    local job before
    job=$(parked vision1 --account=vision --gpus=2)
    before=$(records)
    as_user vision1 scontrol update JobId="$job" Comment=note
    as_user vision1 scontrol update JobId="$job" JobName=renamed
    as_user vision1 scontrol update JobId="$job" Nice=10
    as_user vision1 scontrol update JobId="$job" StartTime=now+1hour
    assert_equal "$(job_field "$job" JobName)" renamed
    assert_equal "$(records)" "$before"
}

@test "a job that is not queued is its owner's to hold and release" {
    local job
    job=$(submit speech1 --hold --account=speech --gpus=1 --wrap=true)
    as_user speech1 scontrol release "$job"
    wait_state "$job" COMPLETED
}

@test "an array's throttle is refused to its owner" {
    local job
    job=$(parked vision1 --account=vision --array=0-3%1 --gpus=1)
    refused "$job" immutable update JobId="$job" ArrayTaskThrottle=4
}

@test "jobs of other partitions change freely, but not into a pool" {
    local job before
    before=$(records)
    job=$(submit outsider1 --hold --partition=other --wrap=true)
    as_user outsider1 scontrol update JobId="$job" NumTasks=2
    assert_equal "$(records)" "$before"
    run as_user outsider1 scontrol update JobId="$job" Partition=gpu
    assert_failure
    assert_equal "$(job_field "$job" Partition)" other
}

@test "an operator's change passes and is on record" {
    local job
    job=$(parked vision1 --account=vision --gpus=1)
    scontrol update JobId="$job" TimeLimit=30
    assert_equal "$(job_field "$job" TimeLimit)" 00:30:00
    assert_equal "$(last_record '[.kind, .verdict, .job_decision] | join(" ")')" \
        "modification admitted $(decision_id "$job")"
}

@test "nobody but an operator can write what accordd writes" {
    local job
    job=$(queued_job)
    run as_user vision1 scontrol update JobId="$job" AdminComment='accord:v1 action=1 to=guaranteed' Partition=gpu
    assert_failure
    run is_held "$job"
    assert_success
}

@test "accordd's action is overtaken where there is no room, and Slurm says to try again" {
    local job
    job=$(queued_job)
    run scontrol update JobId="$job" AdminComment='accord:v1 action=1 to=guaranteed' Partition=gpu
    assert_failure
    assert_output --partial 'try again later'
    assert_equal "$(last_record .reason)" stale
    run is_held "$job"
    assert_success
}

@test "a queued job is released by accordd once there is room, and carries its own decision still" {
    local job decision
    job=$(queued_job)
    decision=$(decision_id "$job")
    scancel "$(squeue --noheader --partition=gpu --format=%A)"
    wait_state "$job" COMPLETED 60
    assert_equal "$(job_field "$job" Partition)" gpu
    assert_equal "$(decision_id "$job")" "$decision"
    assert_equal "$(journal | jq --raw-output "select(.kind == \"modification\" and .job_decision == \"$decision\" and
        .verdict == \"admitted\" and .class == \"guaranteed\") | .job_id")" "$job"
}

@test "the record is whole" {
    run check_journal
    assert_success
}
