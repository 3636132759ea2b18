#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Budgets of GPU-hours on a real cluster of sixteen GPUs. What a contract has used before is written to usage.db as accordd
# itself writes it, while accordd is down: an hour of GPUs cannot be waited for. What is used after that is real.

load common
load records

setup_file() {
    cluster_up
    settle_soon
    contracts_with 'reject' 125
    accord_apply >&2
    wait_for 15 ruled_by vision1 vision 1
    cancel_all
}

setup() {
    mark_logs
    cancel_all
    set_used 0
}

teardown() {
    show_logs_of_failed_test
    start_accordd
    cancel_all
}

# contracts_with ON_EXHAUSTED OVERRUN_PERCENT: vision owns eight GPUs and has 100 GPU-hours a month; speech owns four.
contracts_with() {
    write_contract vision 8 '[budget]' 'gpu_hours = 100' "on_exhausted = \"$1\"" "overrun_percent = $2"
    write_contract speech 4
}
# rules_are ON_EXHAUSTED OVERRUN_PERCENT: has the plugin judge by such a budget.
rules_are() {
    contracts_with "$@"
    accord_apply >&2
    policy_reload
}

store() { printf '%s\n' "$CLUSTER_DIR/accord"; }
accordd_pid() { own_process "^$CLUSTER_DIR/opt/libexec/accordd"; }
accordd_gone() { [ -z "$(accordd_pid)" ]; }
stop_accordd() {
    [ -n "$(accordd_pid)" ] || return 0
    kill "$(accordd_pid)"
    wait_for 20 accordd_gone
}
start_accordd() {
    [ -z "$(accordd_pid)" ] || return 0
    start_again
}
as_slurm() { setpriv --reuid=slurm --regid=slurm --init-groups "$@"; }
usage() { as_slurm sqlite3 "$(store)/usage.db" "$1"; }

# set_used GPU_SECONDS: makes up what vision's ended jobs have used this month to that much, by one job that ran over the
# month's beginning and a second into it. accordd starts on it, without a snapshot of its own.
set_used() {
    wait_for 30 ends_are_metered
    stop_accordd
    rm -f "$(store)/ledger"
    usage "
        DELETE FROM job_interval_gpu WHERE job_id = 900000;
        DELETE FROM job_interval WHERE job_id = 900000;
        CREATE TEMP TABLE month AS
            SELECT CAST(strftime('%s', 'now', 'localtime', 'start of month', 'utc') AS INTEGER) AS start_s;
        INSERT INTO job_interval (job_id, restart, start_s, contract, uid, class, end_s, ended)
            SELECT 900000, 0, start_s - 1800, 'vision/gpu', 0, 'borrowed', start_s + 1, 'completed' FROM month;
        INSERT INTO job_interval_gpu (job_id, restart, start_s, gpu_type, gpus)
            SELECT 900000, 0, start_s - 1800, 'a100', max(0, $1 - (
                SELECT coalesce(sum((end_s - start_s) * gpus), 0) FROM job_interval JOIN job_interval_gpu
                    USING (job_id, restart, start_s) WHERE contract = 'vision/gpu' AND job_id <> 900000))
            FROM month"
    start_accordd
    wait_for 30 plugin_knows "$1"
}
ends_are_metered() {
    [ "$(usage 'SELECT count(*) FROM job_interval WHERE end_s IS NULL')" = \
        "$(squeue --noheader --all --states=RUNNING,COMPLETING | wc -l)" ]
}
# plugin_knows GPU_SECONDS: the plugin judges by that use, and what jobs of these tests use beside, as the record of a job
# that is too large for any contract says.
plugin_knows() {
    local used
    ! as_user vision1 sbatch --account=vision --gpus=99 --wrap=true 2>/dev/null || return 1
    used=$(last_record '.inputs.budget_used_gpu_s // -1')
    [ "$used" -ge "$1" ] && [ "$used" -lt $(($1 + 10000)) ]
}
in_ledger() { jq --raw-output ".ledger.budgets[\"vision/gpu\"].$1" "$(store)/ledger"; }
used_at_least() { [ "$(in_ledger gpu_s)" -ge "$1" ]; }
is_borrowed() { [ "$(job_field "$1" Partition)" = gpu-lend ]; }
is_guaranteed() { [ "$(job_field "$1" Partition)" = gpu ]; }
next_month() { date --utc --date="@$(date --date="$(date +%Y-%m-01) 1 month" +%s)" +%Y-%m-%dT%H:%M:%SZ; }

vision() { submit vision1 --account=vision --nodes=1 --gpus="$1" "${@:2}" --wrap='sleep 1000' 2>/dev/null; }
refused() {
    run as_user vision1 sbatch --account=vision --output=/dev/null "$@" --wrap=true
    assert_failure
}
hours() { printf '%s\n' "$(($1 * 3600))"; }

@test "[G07] up to its budget a contract is guaranteed, from there to its overrun it borrows, above it is rejected" {
    local job
    set_used $(($(hours 100) - 100))
    job=$(vision 4)
    is_guaranteed "$job"
    assert_equal "$(record_of "$job" .reason)" ""

    cancel_all
    set_used "$(hours 100)"
    job=$(vision 4)
    is_borrowed "$job"
    assert_equal "$(record_of "$job" '[.class, .verdict, .reason] | tojson')" '["borrowed","admitted","budget_exhausted"]'
    assert_equal "$(record_of "$job" .message)" "accord: borrowed: 4 a100 for vision/gpu (100 of the 100 GPU-hours of its\
 budget are used, and the next period begins at $(next_month)); may be preempted and requeued"
    wait_state "$job" RUNNING

    cancel_all
    set_used "$(hours 125)"
    job=$(vision 4)
    is_borrowed "$job"

    cancel_all
    set_used "$(hours 126)"
    refused --gpus=1
    assert_output --partial "accord: contract vision/gpu: 126 of the 100 GPU-hours of its budget are used, and the next period\
 begins at $(next_month): submit it again then, or ask root [budget_exhausted]"
    assert_equal "$(last_record '[.verdict, .reason] | tojson')" '["rejected","budget_exhausted"]'
}

@test "[G07] jobs that run and pending ones go on, jobs without GPUs and other contracts' jobs are let in" {
    local running pending without other
    running=$(vision 4)
    pending=$(vision 4 --begin=now+1hour)
    wait_state "$running" RUNNING
    set_used "$(hours 200)"
    refused --gpus=1
    without=$(submit vision1 --account=vision --wrap='sleep 1000' 2>/dev/null)
    assert_equal "$(record_of "$without" .reason)" no_gpu
    wait_state "$without" RUNNING
    other=$(submit speech1 --account=speech --gpus=4 --wrap='sleep 1000' 2>/dev/null)
    is_guaranteed "$other"
    wait_state "$other" RUNNING
    assert_equal "$(job_state "$running")" RUNNING
    is_guaranteed "$running"
    assert_equal "$(job_state "$pending")" PENDING
}

@test "[G07] running jobs use the budget up, as accordd meters them, and the plugin knows within seconds" {
    local job
    set_used $(($(hours 100) - 40))
    job=$(vision 4)
    wait_state "$job" RUNNING
    wait_for 60 used_at_least "$(hours 100)"
    wait_for 20 later_ones_borrow
    is_guaranteed "$job"
    assert_equal "$(job_state "$job")" RUNNING
}
later_ones_borrow() {
    local job class
    job=$(vision 1)
    class=$(record_of "$job" .class)
    scancel "$job"
    [ "$class" = borrowed ]
}

@test "[G07] with borrow_only nothing is promoted while the budget is used up, and a larger budget promotes" {
    local blocker job
    rules_are borrow_only 100
    set_used "$(hours 300)"
    blocker=$(submit speech1 --account=speech --gpus=4 --nodelist=n1 --wrap='sleep 1000' 2>/dev/null)
    wait_state "$blocker" RUNNING
    job=$(vision 4 --nodelist=n1)
    is_borrowed "$job"
    wait_for 20 counted_borrowed 4
    wait_for 20 passes_made 3
    is_borrowed "$job"
    assert_equal "$(usage "SELECT count(*) FROM action WHERE job_id = $job")" 0
    sed -i 's/^gpu_hours = .*/gpu_hours = 1000/' "$CLUSTER_DIR/contracts/vision.toml"
    accord_apply
    wait_for 30 is_guaranteed "$job"
    rules_are reject 125
}
counted_borrowed() { [ "$(jq '.ledger.contracts["vision/gpu"].borrowed.a100 // 0' "$(store)/ledger")" = "$1" ]; }
# passes_made COUNT: accordd has made so many more passes since the first call, by the time of its lock.
passes_made() {
    local seen=$BATS_TEST_TMPDIR/passes
    stat --format=%y "$(store)/accordd.lock" >>"$seen"
    [ "$(sort -u "$seen" | wc -l)" -gt "$1" ]
}

@test "[G07] use survives a restart of accordd and the loss of usage.db, and nothing is counted twice" {
    local job before
    set_used "$(hours 50)"
    job=$(vision 4)
    wait_state "$job" RUNNING
    wait_for 90 used_at_least $(($(hours 50) + 40)) # a minute's use is written at the latest
    stop_accordd
    before=$(in_ledger gpu_s)
    rm -f "$(store)"/usage.db*
    start_accordd
    wait_for 30 interval_open "$job"
    wait_for 10 later_than "$(date +%s)"  # so that there is more to meter than before
    scancel "$job"
    wait_for 30 interval_closed "$job"
    wait_for 90 outlives_minute "$before"
    # No more than the job can have held since, from its start on.
    assert [ "$(in_ledger gpu_s)" -le $(($(hours 50) + 4 * $(ran_for "$job"))) ]
}
later_than() { [ "$(date +%s)" -gt "$(($1 + 1))" ]; }
interval_open() { [ "$(usage "SELECT count(*) FROM job_interval WHERE job_id = $1")" = 1 ]; }
interval_closed() { [ "$(usage "SELECT count(*) FROM job_interval WHERE job_id = $1 AND end_s NOT NULL")" = 1 ]; }
outlives_minute() { [ "$(in_ledger gpu_s)" -gt "$1" ]; }
ran_for() { usage "SELECT end_s - start_s FROM job_interval WHERE job_id = $1"; }

@test "[G07] accord status and accord contract show tell what is used, of what, until when" {
    local end
    end=$(next_month)
    set_used "$(hours 110)"
    run accord status
    assert_success
    assert_line --regexp "^budget of vision/gpu: 110 of 100 GPU-hours of the month used by .*; the next begins at $end; nothing is guaranteed$"
    refute_line --partial "budget of speech"
    run bash -c "accord status --json | jq --compact-output '.[] | [.contract, .budget_gpu_hours, (.budget_used_gpu_hours // 0 | floor), .budget_period, .budget_period_end]'"
    assert_line "[\"vision/gpu\",100,110,\"month\",\"$end\"]"
    assert_line '["speech/gpu",null,0,null,null]'
    run accord contract show vision
    assert_line --regexp "^# budget: 110 of 100 GPU-hours of the month used by .*; the next begins at $end; nothing is guaranteed$"
    run bash -c "accord contract show vision --json | jq '.[0].budget_used_gpu_hours | floor'"
    assert_output 110
}

@test "[G07] a job that may pass the budget is admitted with a warning" {
    set_used $(($(hours 100) - 360))
    run as_user vision1 sbatch --account=vision --output=/dev/null --gpus=4 --time=10 --wrap='sleep 1'
    assert_success
    assert_output --partial "accord: guaranteed: 4 a100 of vision/gpu"
    assert_output --partial "; may pass the budget: 99.9 of 100 GPU-hours used, and its jobs may use 0.6 more"
}
