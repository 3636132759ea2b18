#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Lending and reclaiming on a real cluster (R7, R13, R14): lend limits, nodes that drain, arrays, preempted jobs.

load common
load records

setup_file() {
    cluster_up --nodes 4 --gpus 4
    settle_soon
}

# under VISION-GUARANTEE SPEECH-GUARANTEE [LINE…]: the contracts from now on, further lines for vision's.
under() {
    local vision=$1 speech=$2
    shift 2
    write_contract vision "$vision" "$@"
    write_contract speech "$speech"
    accord_apply
}

# outcome JOB
outcome() { record_of "$1" '[.verdict, .class, .reason] | join(" ")'; }
partition_is() { [ "$(job_field "$1" Partition)" = "$2" ]; }
reason_is() { [ "$(job_field "$1" Reason)" = "$2" ]; }
# sleeper USER SBATCH-ARGUMENT…
sleeper() { submit "$@" --wrap='exec sleep 300' 2>/dev/null; }
# running USER SBATCH-ARGUMENT…: prints the id once it runs.
running() {
    local job
    job=$(sleeper "$@")
    wait_state "$job" RUNNING
    printf '%s\n' "$job"
}
nothing_is_claimed() { jq -e '[.ledger.contracts[] | .guaranteed, .borrowed] | all(. == {})' "$CLUSTER_DIR/accord/ledger"; }
all_nodes_serve() { jq -e '[.ledger.shape.partitions[].nodes[].available] | all' "$CLUSTER_DIR/accord/ledger"; }

setup() {
    mark_logs
    wait_for 60 nothing_is_claimed >&2
    wait_for 60 all_nodes_serve >&2
}

# bats test_tags=B05
@test "what is borrowed in all is at most what is lent and what no contract owns" {
    local lent waiting
    under 8 4 'lend_limit = 2'
    running speech1 --gpus=4 --nodes=1
    lent=$(running speech1 --gpus=6 --nodes=2)
    assert_equal "$(outcome "$lent")" 'admitted borrowed headroom'
    run submit speech1 --gpus=1 --wrap='exec sleep 300'
    assert_output --partial 'waits for these or for room within what partition gpu lends (6 of 6 a100 in use; vision/gpu lends at most 2)'
    waiting=${lines[-1]}
    assert_equal "$(outcome "$waiting")" 'queued queued lend_limit'
    assert_equal "$(outcome "$(running vision1 --gpus=2)")" 'admitted guaranteed '
    wait_for 20 reason_is "$waiting" JobHeldAdmin
    run accord status --pool gpu
    assert_output --partial '0 more may be borrowed'
    scancel "$lent"
    wait_state "$waiting" RUNNING 60
    partition_is "$waiting" gpu-lend
}

# bats test_tags=B05
@test "a lend limit of 0 lends nothing, and without one all that is idle is lent" {
    under 8 8 'lend_limit = 0'
    running speech1 --gpus=8 --nodes=2
    assert_equal "$(outcome "$(sleeper speech1 --gpus=1)")" 'queued queued lend_limit'
    run submit speech1 --gpus=9 --wrap=true
    assert_output --partial '[impossible]'
    under 8 8
    assert_equal "$(outcome "$(running speech1 --gpus=8 --nodes=2)")" 'admitted borrowed headroom'
}

@test "a draining node ends no job and lends nothing, and lending goes on when it is back" {
    local lent waiting
    under 8 8
    running speech1 --gpus=8 --nodes=2
    lent=$(running speech1 --gpus=4 --nodes=1)
    scontrol update NodeName="$(job_field "$lent" NodeList)" State=DRAIN Reason=test
    waiting=$(until_queued speech1 --gpus=1)
    assert_equal "$(outcome "$waiting")" 'queued queued lend_limit'
    assert_equal "$(job_state "$lent")" RUNNING
    assert_equal "$(outcome "$(running vision1 --gpus=4)")" 'admitted guaranteed '
    run accord status --pool gpu
    assert_output --partial '4 fewer are there than are guaranteed, so that nothing new is lent'
    scontrol update NodeName="$(job_field "$lent" NodeList)" State=RESUME
    scancel "$lent"
    wait_state "$waiting" RUNNING 60
}
# until_queued USER SBATCH-ARGUMENT…: accordd looks at the nodes every ten seconds.
until_queued() {
    wait_for 40 is_queued_now "$@"
    cat "$BATS_TEST_TMPDIR/job"
}
is_queued_now() {
    sleeper "$@" >"$BATS_TEST_TMPDIR/job"
    [ "$(record_of "$(cat "$BATS_TEST_TMPDIR/job")" .class)" = queued ] || { scancel "$(cat "$BATS_TEST_TMPDIR/job")"; false; }
}

@test "an array that does not fit as a whole starts task by task" {
    local first array
    under 4 8 'borrow_limit = 0'
    first=$(running vision1 --gpus=3)
    array=$(sleeper vision1 --array=0-3 --gpus=1)
    assert_equal "$(outcome "$array")" 'queued queued borrow_limit'
    wait_for 30 task_is "${array}_0" RUNNING
    assert_equal "$(squeue --noheader --array --states=running --jobs="$array" --format=%P | xargs)" gpu
    task_is "${array}_1" PENDING
    scancel "$first"
    for task in 1 2 3; do wait_for 30 task_is "${array}_$task" RUNNING; done
    assert_equal "$(squeue --noheader --array --states=running --jobs="$array" --format=%P | sort -u)" gpu
}
task_is() { [ "$(squeue --noheader --array --jobs="$1" --format=%T)" = "$2" ]; }

# bats test_tags=B08,B09
@test "a job that was preempted as often as its contract allows waits for guaranteed GPUs, and why tells for whom" {
    local own lent owner
    under 4 12 '' '[reclaim]' 'max_preemptions = 1'
    own=$(running vision1 --gpus=4 --nodes=1)
    lent=$(running vision1 --gpus=4 --nodes=1)
    assert_equal "$(outcome "$lent")" 'admitted borrowed headroom'
    wait_for 20 seen_running "$lent"
    owner=$(running speech1 --gpus=12 --nodes=3)
    wait_for 30 reason_is "$lent" JobHeldAdmin
    run accord why "$lent"
    assert_output --regexp "it was preempted after .* for job $owner, which took back GPUs of speech/gpu's guarantee"
    assert_output --partial 'demote from borrowed to queued'
    scancel "$owner"
    wait_for 30 claims_gone speech
    assert_equal "$(job_state "$lent")" PENDING
    scancel "$own"
    wait_state "$lent" RUNNING 60
    partition_is "$lent" gpu
}
# A run that begins and ends between two of accordd's lists is on no record.
seen_running() { accord why "$1" | grep -q ' it started'; }
claims_gone() { jq -e ".ledger.contracts[\"$1/gpu\"].guaranteed // {} | . == {}" "$CLUSTER_DIR/accord/ledger" >&2; }

# bats test_tags=B04
@test "CPUs that jobs without GPUs have taken do not keep an owner from his GPUs" {
    local job
    under 4 12
    for job in 1 2 3 4; do running vision1 --nodes=1 --ntasks=16 >/dev/null; done
    assert_equal "$(squeue --noheader --states=running --format=%P | sort | uniq -c | xargs)" '4 gpu-lend'
    job=$(running speech1 --gpus=12 --nodes=3)
    assert_equal "$(outcome "$job")" 'admitted guaranteed '
}
