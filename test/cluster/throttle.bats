#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# An array's throttle, which slurmctld changes before it asks the plugin, is put back by accordd (R7, R17).

load common
load records

setup_file() {
    cluster_up --nodes 2 --gpus 4
    settle_soon
    write_contract vision 4 'borrow_limit = 2'
    accord_apply
    wait_for 10 ruled_by vision1 vision 1
    cancel_all
}

teardown() {
    show_logs_of_failed_test
    cancel_all
}

# array_of SBATCH-ARGUMENT…: a guaranteed array of vision1's, one GPU a task, that accordd has seen; prints its id.
array_of() {
    local job
    wait_for 60 is_guaranteed "$@" >&2
    job=$(<"$BATS_TEST_TMPDIR/job")
    wait_for 20 is_listed "$job"
    printf '%s\n' "$job"
}
# The claims of the tests before end with accordd's next snapshot.
is_guaranteed() {
    local job
    job=$(submit vision1 --account=vision --gpus=1 "$@" 2>/dev/null)
    printf '%s\n' "$job" >"$BATS_TEST_TMPDIR/job"
    if [ "$(last_record .class)" = guaranteed ]; then return 0; fi
    scancel "$job"
    return 1
}
is_listed() { [ -n "$(accord decisions --json --job "$1" | jq --raw-output '.[0].id // empty')" ]; }

# 0 for none
throttle() {
    local limit
    limit=$(job_field "$1" ArrayTaskThrottle)
    printf '%s\n' "${limit:-0}"
}
throttle_is() { [ "$(throttle "$1")" = "$2" ]; }
running() { squeue --noheader --array --state=RUNNING --jobs="$1" --format=%i | wc -l; }
runs() { [ "$(running "$1")" = "$2" ]; }

# put_back ARRAY NEW OLD REASON: its owner's change to NEW is refused, and OLD is in force again soon.
put_back() {
    local before reason=$4
    before=$(times_put_back "$1")
    run as_user vision1 scontrol update JobId="$1" ArrayTaskThrottle="$2"
    assert_failure
    assert_equal "$(last_record '[.verdict, .reason, .job_decision] | join(" ")')" "rejected $reason $(decision_of "$1")"
    wait_for 20 put_back_since "$1" "$before"
    assert_equal "$(throttle "$1")" "$3"
}
times_put_back() { accord why "$1" | grep -c 'array throttle put back (immutable): done' || true; }
put_back_since() { [ "$(times_put_back "$1")" -gt "$2" ]; }

# decision_of ARRAY: what its records carry, all of them the same one.
decision_of() { decision_id "$1" | sort -u; }
carries_decision() {
    assert_equal "$(decision_of "$1")" "$2"
    assert_equal "$(scontrol show job "$1" | grep -c AdminComment=)" "$(decision_id "$1" | wc -l)"
}

# within_guarantee: no guaranteed claim was given beyond what was left of the 4.
within_guarantee() {
    journal | jq --slurp --exit-status \
        'map(select(.class == "guaranteed") | (.inputs.guaranteed.a100 // 0) + (.claim.a100 // 0)) | all(. <= 4)'
}

# counts GPUS: accordd's snapshot has so many guaranteed ones of the contract.
counts() { [ "$(jq '.ledger.contracts["vision/gpu"].guaranteed.a100 // 0' "$CLUSTER_DIR/accord/ledger")" = "$1" ]; }

@test "a throttle beyond what the array's class allows is put back, raised or lifted" {
    local job decision new
    job=$(array_of --array=0-7%2 --wrap='sleep 300')
    decision=$(decision_of "$job")
    assert_equal "$(journal | jq --raw-output "select(.id == \"$decision\") | [.class, .throttle] | join(\" \")")" \
        'guaranteed 2'
    wait_for 30 runs "$job" 2
    for new in 5 0; do
        put_back "$job" "$new" 2 headroom
        carries_decision "$job" "$decision"
        assert_equal "$(job_field "$job" Partition)" gpu
    done
    submit vision1 --account=vision --gpus=2 --wrap=true
    run within_guarantee
    assert_success
    run accord why "$job"
    assert_line --regexp 'accordd, action [0-9]+: array throttle put back \(immutable\): done\.$'
}

@test "a throttle that the contract allows stays, and is counted" {
    local job decision
    job=$(array_of --array=0-7%2 --wrap='sleep 300')
    decision=$(decision_of "$job")
    wait_for 30 runs "$job" 2
    as_user vision1 scontrol update JobId="$job" ArrayTaskThrottle=4
    assert_equal "$(journal | jq --raw-output "select(.kind == \"modification\" and .job_id == $job) |
        [.verdict, .class, .claim.a100, .throttle] | join(\" \")")" 'admitted guaranteed 2 4'
    wait_for 30 runs "$job" 4
    wait_for 20 counts 4
    assert_equal "$(throttle "$job")" 4
    as_user vision1 scontrol update JobId="$job" ArrayTaskThrottle=1
    assert_equal "$(throttle "$job")" 1
    assert_equal "$(times_put_back "$job")" 0
    run within_guarantee
    assert_success
    # the one on record is what a later change is judged by, and what is put back
    put_back "$job" 8 1 headroom
    carries_decision "$job" "$decision"
}

@test "an operator's throttle stays" {
    local job
    job=$(array_of --array=0-7%2 --wrap='sleep 300')
    scontrol update JobId="$job" ArrayTaskThrottle=3
    assert_equal "$(journal | jq "select(.kind == \"modification\" and .job_id == $job) | .throttle")" 3
    put_back "$job" 8 3 headroom
    assert_equal "$(times_put_back "$job")" 1
}

@test "a queued array stays held while its throttle is put back" {
    local job decision
    job=$(array_of --array=0-1%1 --gpus=4 --wrap='sleep 300')
    job=$(submit vision1 --account=vision --gpus=3 --array=0-3%1 --wrap=true 2>/dev/null)
    assert_equal "$(record_of "$job" .class)" queued
    decision=$(decision_of "$job")
    put_back "$job" 4 1 impossible
    assert_equal "$(job_field "$job" Priority) $(job_field "$job" Partition)" '0 gpu-lend'
    carries_decision "$job" "$decision"
}

@test "an array of which single tasks are left has its throttle put back" {
    local job decision
    job=$(array_of --array=0-1%2 --wrap='sleep 300')
    decision=$(decision_of "$job")
    wait_for 30 runs "$job" 2
    put_back "$job" 7 2 headroom
    carries_decision "$job" "$decision"
    # slurmctld keeps the throttle with the last task, and does not ask for that one once it has ended
    scancel "${job}_1"
    wait_for 30 runs "$job" 1
    wait_state "${job}_1" CANCELLED
    run as_user vision1 scontrol update JobId="$job" ArrayTaskThrottle=1
    wait_for 20 throttle_is "${job}_0" 2
    carries_decision "$job" "$decision"
    # by its own number slurmctld does not find such a task any more
    scancel "${job}_0"
}

@test "the record is whole" {
    run check_journal
    assert_success
}
