#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# accordd on a real cluster of sixteen GPUs: vision owns eight of them and may borrow four, speech owns the other eight.

load common

setup_file() {
    cluster_up
    sed -i 's/^settle = .*/settle = "5s"/' "$ACCORD_CONF"
    write_contract vision 8 'borrow_limit = 4'
    write_contract speech 8
    accord_apply >&2
    wait_for 15 plugin_counts vision guaranteed 0
}

setup() {
    mark_logs
    decisions_before=$(last_decision)
}

teardown() {
    show_logs_of_failed_test
    start_accordd
    cancel_all
    wait_for 30 plugin_counts vision guaranteed 0
    wait_for 30 plugin_counts vision borrowed 0
    wait_for 30 plugin_counts speech guaranteed 0
}

# vision GPUS [SBATCH-OPTION…], speech GPUS …: a job on one node that sleeps; prints its id.
vision() { submit vision1 --account=vision --nodes=1 --gpus="$1" "${@:2}" --wrap='sleep 1000' 2>/dev/null; }
speech() { submit speech1 --account=speech --nodes=1 --gpus="$1" "${@:2}" --wrap='sleep 1000' 2>/dev/null; }

# claims ACCOUNT CLASS: GPUs, as the ledger's file has them.
claims() { jq ".ledger.contracts[\"$1/gpu\"].$2.a100 // 0" "$CLUSTER_DIR/accord/ledger"; }
claims_are() { [ "$(claims "$1" "$2")" = "$3" ]; }
# plugin_counts ACCOUNT CLASS GPUS: what the plugin counts at this moment stands in the record of a rejection.
plugin_counts() {
    local counted
    ! as_user "${1}1" sbatch --account="$1" --gpus=99 --wrap=true 2>/dev/null || return 1
    counted=$(last_record | jq "select(.contract == \"$1/gpu\") | .inputs.$2.a100 // 0")
    [ "$counted" = "$3" ]
}
queued_jobs() { jq '.ledger.queued | length' "$CLUSTER_DIR/accord/ledger"; }
queued_are() { [ "$(queued_jobs)" = "$1" ]; }
last_record() { tail -qn 1 "$CLUSTER_DIR"/accord/journal/*.jsonl | jq -s 'max_by(.id[2:] | tonumber)'; }
last_decision() { last_record | jq '.id[2:] | tonumber'; }
all_accounted_for() { [ "$(jq .ledger.resolved_through "$CLUSTER_DIR/accord/ledger")" -ge "$1" ]; }

partition_is() { [ "$(job_field "$1" Partition)" = "$2" ]; }
reason_is() { [ "$(job_field "$1" Reason)" = "$2" ]; }
is_guaranteed() { partition_is "$1" gpu && ! is_held "$1"; }
is_borrowed() { partition_is "$1" gpu-lend && ! is_held "$1"; }
is_held() { [[ $(job_field "$1" Reason) = JobHeld* ]]; }

record() { sqlite3 -readonly "$CLUSTER_DIR/accord/$1.db" "$2"; }
# is_metered JOB RESTART: accordd has seen that run of the job.
is_metered() { [ -n "$(record usage "SELECT 1 FROM usage_interval WHERE job_id = $1 AND restart = $2")" ]; }
loaded_through() { [ "$(record decisions "SELECT max(CAST(substr(id, 3) AS INTEGER)) FROM decision")" -ge "$1" ]; }

accordd_pid() { pgrep -u slurm -f "^$CLUSTER_DIR/opt/libexec/accordd"; }
accordd_is_down() { ! accordd_pid; }
stop_accordd() {
    kill "$(accordd_pid)"
    wait_for 30 accordd_is_down
}
start_accordd() {
    "$root/scripts/devcluster" up --dir "$CLUSTER_DIR" >/dev/null
    wait_for 10 accordd_pid
}

# guaranteed_at_most CONTRACT LIMIT: at no decision of this test on record did the contract's guaranteed jobs, those that
# had not ended by then, claim more than LIMIT GPUs. For tests that end no job before it has started.
guaranteed_at_most() {
    local most
    most=$(sqlite3 -readonly "$CLUSTER_DIR/accord/decisions.db" "
        ATTACH 'file:$CLUSTER_DIR/accord/usage.db?mode=ro' AS usage;
        WITH given AS (
            SELECT CAST(substr(id, 3) AS INTEGER) AS number, time, job_id, gpus_max FROM decision
            WHERE contract = '$1' AND class = 'guaranteed' AND verdict = 'admitted' AND
                CAST(substr(id, 3) AS INTEGER) > $decisions_before),
        ended AS (SELECT job_id, max(end_time) AS time FROM usage.usage_interval WHERE end_time IS NOT NULL GROUP BY job_id)
        SELECT max(total) FROM (
            SELECT (SELECT sum(other.gpus_max) FROM given AS other LEFT JOIN ended USING (job_id)
                    WHERE other.number <= given.number AND (ended.time IS NULL OR ended.time > given.time)) AS total
            FROM given)")
    [ "${most:-0}" -le "$2" ] || {
        echo "$1 had $most GPUs guaranteed at once" >&2
        return 1
    }
}

@test "a pending borrowed job is promoted when headroom appears" {
    local first third blocker
    blocker=$(speech 4 --nodelist=n3)
    first=$(vision 4); vision 4
    wait_state "$first" RUNNING
    wait_state "$blocker" RUNNING
    # It cannot start as a borrowed job either while the owner has its node.
    third=$(vision 4 --nodelist=n3)
    assert_equal "$(job_field "$third" Partition)" gpu-lend
    scancel "$first"
    wait_for 15 is_guaranteed "$third"
    assert_equal "$(job_state "$third")" PENDING
    run scontrol show job "$third"
    assert_output --partial "AdminComment=accord:v1 decision=0-"
    run record usage "SELECT action, from_class, to_class FROM action WHERE job_id = $third"
    assert_output "promote|borrowed|guaranteed"
    wait_for 15 loaded_through "$(last_decision)"
    run record decisions "SELECT kind, class FROM decision WHERE job_id = $third ORDER BY time, CAST(substr(id, 3) AS INTEGER)"
    assert_output "submission|borrowed
modification|guaranteed"
    scancel "$blocker"
    wait_state "$third" RUNNING
}

@test "queued jobs are released to guaranteed and to borrowed as room appears, never by their owner" {
    local first second third fourth fifth
    first=$(vision 4); second=$(vision 4); third=$(vision 4); fourth=$(vision 4); fifth=$(vision 4)
    is_borrowed "$third"
    assert_equal "$(job_field "$fourth" Reason)" JobHeldUser
    run as_user vision1 scontrol release "$fourth"
    assert_failure
    wait_for 15 reason_is "$fourth" JobHeldAdmin
    wait_for 15 reason_is "$fifth" JobHeldAdmin
    run as_user vision1 scontrol release "$fourth"
    assert_failure
    run as_user vision1 scontrol update JobId="$fourth" Priority=1000000
    assert_failure
    assert_equal "$(job_field "$fourth" Reason)" JobHeldAdmin

    wait_state "$first" RUNNING
    wait_state "$third" RUNNING
    scancel "$first"
    wait_for 15 is_guaranteed "$fourth"
    wait_state "$fourth" RUNNING
    scancel "$third"
    wait_for 15 is_borrowed "$fifth"
    wait_state "$fifth" RUNNING
    wait_for 10 claims_are vision guaranteed 8
    wait_for 10 claims_are vision borrowed 4
    guaranteed_at_most vision/gpu 8
}

@test "a hold that the owner asked for while the job was queued is left when it is released" {
    local first queued
    first=$(vision 4); vision 4; vision 4; queued=$(vision 4)
    wait_for 15 reason_is "$queued" JobHeldAdmin
    as_user vision1 scontrol hold "$queued"
    scancel "$first"
    wait_for 15 partition_is "$queued" gpu
    assert_equal "$(job_field "$queued" Reason)" JobHeldUser
    wait_for 15 queued_are 0
    as_user vision1 scontrol release "$queued"
    wait_state "$queued" RUNNING
}

@test "submissions while accordd is down keep their claims and are settled when it is back" {
    local jobs=() i running
    running=$(vision 4)
    wait_for 15 claims_are vision guaranteed 4
    stop_accordd
    for i in 1 2 3 4 5 6; do jobs+=("$(vision 2)"); done
    vision 2 --constraint=nosuch || true
    assert_equal "$(claims vision guaranteed)" 4
    assert_equal "$(squeue --noheader --partition=gpu --user=vision1 | wc -l)" 3
    # What is gone in the meantime is counted until accordd is back: too little is guaranteed, not too much.
    scancel "$running"
    is_borrowed "$(vision 1)" || is_held "$(vision 1)"
    start_accordd
    wait_for 30 all_accounted_for "$(last_decision)"
    wait_for 30 claims_are vision guaranteed 8
    wait_for 15 loaded_through "$(last_decision)"
    guaranteed_at_most vision/gpu 8
}

@test "an accordd that hangs in the middle of a burst costs no guarantee and no decision" {
    local i pid running
    running=$(vision 2)
    wait_state "$running" RUNNING
    wait_for 15 claims_are vision guaranteed 2
    pid=$(accordd_pid)
    for i in 1 2 3 4 5 6 7 8; do
        if [ "$i" = 3 ]; then kill -STOP "$pid"; fi
        if [ "$i" = 5 ]; then scancel "$running"; fi
        vision 1 & vision 2 &
        wait $!
    done
    assert_equal "$(ps --no-headers -o state= --pid "$pid")" T
    wait_for 30 last_decision_is_stored
    kill -CONT "$pid"
    wait_for 30 all_accounted_for "$(last_decision)"
    wait_for 30 claims_are vision guaranteed 8
    wait_for 15 loaded_through "$(last_decision)"
    guaranteed_at_most vision/gpu 8
}

@test "status and doctor tell an accordd that hangs" {
    run accord status
    refute_output --partial 'it hangs'
    kill -STOP "$(accordd_pid)"
    touch --date='5 minutes ago' "$CLUSTER_DIR/accord/accordd.lock"
    run accord status
    assert_output --partial 'accordd made its last pass 5 min'
    assert_equal "$(accord doctor --json | jq -r '.[] | select(.control == "accordd passes").state')" mismatch
    kill -CONT "$(accordd_pid)"
    wait_for 15 accordd_passes
}
accordd_passes() { ! accord status | grep -q 'it hangs'; }
last_decision_is_stored() { [ "$(last_decision)" -ge $((decisions_before + 17)) ]; }

@test "promotions during a burst of submissions never exceed a guarantee" {
    local i running=()
    speech 4; speech 4
    for i in 1 2 3 4 5 6 7 8; do running+=("$(vision 1)"); done
    for i in "${running[@]}"; do wait_state "$i" RUNNING; done
    for i in 1 2 3 4; do vision 1; done
    for i in "${running[@]}"; do
        scancel "$i"
        vision 1 & vision 2 & vision 1 & vision 1 &
        wait
    done
    wait_for 30 all_accounted_for "$(last_decision)"
    wait_for 30 claims_are vision guaranteed 8
    wait_for 15 loaded_through "$(last_decision)"
    run record usage "SELECT count(*) > 0 FROM action WHERE action IN ('promote', 'release')"
    assert_output 1
    guaranteed_at_most vision/gpu 8
}

@test "a restarted accordd goes on where the last one was" {
    local first
    first=$(vision 4); vision 4; vision 4; vision 4
    wait_for 15 queued_are 1
    wait_for 15 claims_are vision guaranteed 8
    stop_accordd
    start_accordd
    scancel "$first"
    wait_for 15 queued_are 0
    wait_for 15 claims_are vision guaranteed 8
    assert_equal "$(record decisions "SELECT count(*) FROM decision")" \
        "$(record decisions "SELECT count(DISTINCT id) FROM decision")"
}

# bats test_tags=A35
@test "a requeued job of four GPUs claims four, however often" {
    local job i
    job=$(vision 4)
    for i in 0 1 2; do
        wait_state "$job" RUNNING
        wait_for 15 is_metered "$job" "$i"
        scontrol requeue "$job"
        wait_for 15 job_is "$job" PENDING
        wait_for 15 claims_are vision guaranteed 4
    done
    wait_state "$job" RUNNING
    wait_for 15 is_metered "$job" 3
    assert_equal "$(claims vision guaranteed)" 4
    run record usage "SELECT count(*), count(DISTINCT restart), sum(ended = 'requeued') FROM usage_interval WHERE job_id = $job"
    assert_output "4|4|3"
}

@test "a job that Slurm refuses after the plugin said yes frees its claim after settle" {
    local last
    run vision 8 --nodes=2 --constraint=nosuch
    assert_failure
    last=$(last_decision)
    wait_for 30 all_accounted_for "$last"
    wait_for 10 plugin_counts vision guaranteed 0
    is_guaranteed "$(vision 8 --nodes=2)"
}

@test "a dry run leaves no claim" {
    as_user vision1 sbatch --test-only --account=vision --nodes=2 --gpus=8 --wrap=true
    wait_for 30 all_accounted_for "$(last_decision)"
    wait_for 10 plugin_counts vision guaranteed 0
    is_guaranteed "$(vision 8 --nodes=2)"
}

@test "an owner reclaims from borrowed jobs, and the record says for whom" {
    local lent owner
    vision 4; vision 4
    lent=$(vision 4)
    wait_state "$lent" RUNNING
    wait_for 15 is_metered "$lent" 0
    assert_equal "$(claims vision borrowed)" 4
    speech 4
    owner=$(speech 4)
    is_guaranteed "$owner"
    wait_state "$owner" RUNNING
    wait_for 15 job_is "$lent" PENDING
    wait_for 30 reclaimed_for "$lent" "$owner"
    assert_equal "$(job_field "$lent" Partition)" gpu-lend
}
reclaimed_for() {
    [ "$(record usage "SELECT ended, beneficiary_job FROM usage_interval WHERE job_id = $1 AND restart = 0")" = "preempted|$2" ]
}

# bats test_tags=E06
@test "no decision is lost while others keep the database locked" {
    local last
    coproc LOCK { sqlite3 "$CLUSTER_DIR/accord/decisions.db"; }
    echo "BEGIN EXCLUSIVE; SELECT 'locked';" >&"${LOCK[1]}"
    read -r <&"${LOCK[0]}"
    vision 4; vision 4; vision 4; vision 4
    last=$(last_decision)
    wait_for 60 grep -q 'decisions.db' "$CLUSTER_DIR/log/accordd.log"
    run loaded_through "$last"
    assert_failure
    echo "ROLLBACK;" >&"${LOCK[1]}"
    exec {LOCK[1]}>&-
    wait_for 60 loaded_through "$last"
    wait_for 30 all_accounted_for "$last"
    assert_equal "$(record decisions "SELECT count(*) FROM decision WHERE CAST(substr(id, 3) AS INTEGER) <= $last")" "$last"
    wait_for 15 claims_are vision guaranteed 8
}

# bats test_tags=E06
@test "no use and no action is lost while others keep their database locked" {
    local first third blocker
    blocker=$(speech 4 --nodelist=n3)
    first=$(vision 4); vision 4
    wait_state "$first" RUNNING
    wait_state "$blocker" RUNNING
    third=$(vision 4 --nodelist=n3)
    wait_for 15 is_metered "$first" 0
    coproc LOCK { sqlite3 "$CLUSTER_DIR/accord/usage.db"; }
    echo "BEGIN EXCLUSIVE; SELECT 'locked';" >&"${LOCK[1]}"
    read -r <&"${LOCK[0]}"
    scancel "$first"
    wait_for 60 grep -q 'usage.db' "$CLUSTER_DIR/log/accordd.log"
    echo "ROLLBACK;" >&"${LOCK[1]}"
    exec {LOCK[1]}>&-
    wait_for 60 is_guaranteed "$third"
    wait_for 30 has_ended "$first"
    run record usage "SELECT ended FROM usage_interval WHERE job_id = $first"
    assert_output cancelled
    run record usage "SELECT DISTINCT action, to_class FROM action WHERE job_id = $third"
    assert_output 'promote|guaranteed'
    guaranteed_at_most vision/gpu 8
}
has_ended() { [ -n "$(record usage "SELECT end_time FROM usage_interval WHERE job_id = $1")" ]; }

@test "claims are kept while slurmctld is down, and its return is noticed" {
    vision 4
    wait_for 15 claims_are vision guaranteed 4
    kill "$(cat "$CLUSTER_DIR/run/slurmctld.pid")"
    wait_for 30 grep -q 'slurmctld: cannot reach it' "$CLUSTER_DIR/log/accordd.log"
    assert_equal "$(claims vision guaranteed)" 4
    start_accordd # starts whatever is down
    wait_for 30 scontrol ping
    wait_for 30 claims_are vision guaranteed 4
    is_guaranteed "$(vision 4)"
    is_borrowed "$(vision 4)"
}
