#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Submissions while something that slurmctld's plugin needs is missing, damaged, locked or full, or slurmctld is killed.

load common
load records

setup_file() {
    make --silent -C "$root" test/cluster/late_clock.la >&2
    cluster_up --nodes 2 --gpus 4
    settle_soon
    close_gate
    write_contract vision 4
    write_contract speech 4
    accord_apply
    wait_for 10 ruled_by vision1 vision 1
    wait_for 10 ruled_by speech1 speech 1
}

teardown() {
    chattr -i "$(store)"/journal/*.jsonl 2>/dev/null || true
    show_logs_of_failed_test
    cancel_all
}

store() { printf '%s\n' "$CLUSTER_DIR/accord"; }
ctld_log() { cat "$CLUSTER_DIR/log/slurmctld.log"; }
log_says() { ctld_log | tail -n +"$1" | grep -q -- "$2"; }
log_length() { ctld_log | wc -l; }

# as_slurm COMMAND…
as_slurm() { runuser --user=slurm -- "$@"; }

submits() { parked "$1" --account="$2" --gpus=1; }

# unavailable USER: a submission is rejected since no decision can be made or kept.
unavailable() {
    run as_user "$1" sbatch --licenses=gate:1 --output=/dev/null --gpus=1 --wrap=true
    assert_failure
    assert_output --partial '[store_unavailable]'
}
is_unavailable() { ! submits "$1" "$2"; }

# still_judged: by the policy from before a reconfigure, which a new process does not have.
still_judged() {
    if reconfigure_is_restart; then unavailable vision1; else submits vision1 vision; fi
}

# still_running PID: slurmctld was PID before a reconfigure, and runs.
still_running() {
    reconfigure_is_restart || assert_equal "$(slurmctld_pid)" "$1"
    run slurmctld_lives "$(slurmctld_pid)"
    assert_success
}

# bats test_tags=A30
@test "contracts.db damaged or missing leaves the last policy in force, through reconfigure, too" {
    local from pid
    pid=$(slurmctld_pid)
    from=$(log_length)
    as_slurm cp "$(store)/contracts.db" "$(store)/saved.db"
    as_slurm sh -c "head -c 65536 /dev/urandom >$(store)/contracts.db"
    wait_for 10 log_says "$from" 'error: accord: .*contracts.db'
    submits vision1 vision
    scontrol reconfigure
    still_judged
    as_slurm rm "$(store)/contracts.db"
    scontrol reconfigure
    still_judged
    as_slurm mv "$(store)/saved.db" "$(store)/contracts.db"
    wait_for 10 log_says "$from" 'contracts.db: is right again'
    wait_for 10 submits vision1 vision
    still_running "$pid"
}

# bats test_tags=A30
@test "a start without contracts.db rejects what is governed, until it is there" {
    as_slurm mv "$(store)/contracts.db" "$(store)/saved.db"
    restart_slurmctld
    unavailable vision1
    assert_output --partial contracts.db
    scontrol reconfigure
    unavailable vision1
    as_slurm mv "$(store)/saved.db" "$(store)/contracts.db"
    wait_for 10 submits vision1 vision
}

# bats test_tags=A30
@test "a start with a damaged contracts.db rejects what is governed, until it is right" {
    local pid
    as_slurm mv "$(store)/contracts.db" "$(store)/saved.db"
    as_slurm sh -c "head -c 65536 /dev/urandom >$(store)/contracts.db"
    restart_slurmctld
    pid=$(slurmctld_pid)
    unavailable vision1
    assert_output --partial contracts.db
    scontrol reconfigure
    unavailable vision1
    as_slurm mv "$(store)/saved.db" "$(store)/contracts.db"
    wait_for 10 submits vision1 vision
    still_running "$pid"
}

# lock_contracts_db: another process keeps it locked for ten seconds, or until unlock_contracts_db.
lock_contracts_db() {
    locked=$(store)/locked
    as_slurm sqlite3 "$(store)/contracts.db" <<EOF &
BEGIN EXCLUSIVE;
.shell touch $locked; sleep 10; rm $locked
COMMIT;
EOF
    locker=$!
    wait_for 10 test -e "$locked"
}
unlock_contracts_db() {
    wait_for 30 test ! -e "$locked"
    wait "$locker"
}

@test "contracts.db locked for ten seconds stops no submission, whether the plugin reads its settings anew or not" {
    local locked locker i
    lock_contracts_db
    for ((i = 0; i < 10; i++)); do
        submits vision1 vision
        submits speech1 speech
        if [ "$i" = 5 ]; then touch "$ACCORD_CONF"; fi
    done
    assert [ -e "$locked" ]
    unlock_contracts_db
    submits vision1 vision
}

@test "a start while contracts.db is locked rejects what is governed, until it is free" {
    local locked locker
    lock_contracts_db
    restart_slurmctld
    unavailable vision1
    assert_output --partial contracts.db
    assert [ -e "$locked" ]
    unlock_contracts_db
    wait_for 10 submits vision1 vision
}

@test "without accord.toml the settings last read stay in force; at a start every job but root's is rejected" {
    mv "$ACCORD_CONF" "$ACCORD_CONF.away"
    submits vision1 vision
    restart_slurmctld
    unavailable vision1
    assert_output --partial "$ACCORD_CONF"
    run sbatch --hold --output=/dev/null --wrap=true
    assert_success
    mv "$ACCORD_CONF.away" "$ACCORD_CONF"
    wait_for 10 submits vision1 vision
}

@test "a bad accord.toml at a start rejects every job but root's, with its file and line" {
    cp "$ACCORD_CONF" "$ACCORD_CONF.good"
    sed -i '1i nonsense = 1' "$ACCORD_CONF"
    restart_slurmctld
    unavailable vision1
    assert_output --partial "$ACCORD_CONF:1: "
    run sbatch --hold --output=/dev/null --wrap=true
    assert_success
    mv "$ACCORD_CONF.good" "$ACCORD_CONF"
    wait_for 10 submits vision1 vision
}

@test "a bad accord.toml is named with its line, and the one before stays in force" {
    local from
    from=$(log_length)
    cp "$ACCORD_CONF" "$ACCORD_CONF.good"
    sed -i '1i nonsense = 1' "$ACCORD_CONF"
    wait_for 10 log_says "$from" "error: accord: $ACCORD_CONF:1: "
    submits vision1 vision
    mv "$ACCORD_CONF.good" "$ACCORD_CONF"
    wait_for 10 log_says "$from" "$ACCORD_CONF: is right again"
}

# second_munged: a munged with the cluster's key for Accord alone, since Slurm can do nothing without its own.
second_munged() {
    setpriv --reuid=munge --regid=munge --clear-groups munged --key-file="$CLUSTER_DIR/munge/key" --origin=127.0.0.1 \
        --socket="$CLUSTER_DIR/munge/second.sock" --pid-file="$CLUSTER_DIR/munge/second.pid" \
        --log-file="$CLUSTER_DIR/munge/second.log" --seed-file="$CLUSTER_DIR/munge/second.seed" 3>&-
}
end_second_munged() {
    local pid
    pid=$(cat "$CLUSTER_DIR/munge/second.pid")
    kill "$pid"
    wait_for 10 sh -c "! kill -0 $pid 2>/dev/null"
}

@test "without munged at the controller a seal made before serves, and a user without one is rejected until it is back" {
    local before
    cp "$ACCORD_CONF" "$ACCORD_CONF.first"
    second_munged
    sed -i 's|^socket = ".*/munge.sock"|socket = "'"$CLUSTER_DIR"'/munge/second.sock"|' "$ACCORD_CONF"
    restart_slurmctld
    submits vision1 vision
    end_second_munged
    submits vision1 vision
    before=$(records)
    unavailable speech1
    assert_output --partial munge
    assert_equal "$(records)" "$before"
    second_munged
    wait_for 10 submits speech1 speech
    end_second_munged
    mv "$ACCORD_CONF.first" "$ACCORD_CONF"
    restart_slurmctld
    submits speech1 speech
}

# journal_on_tmpfs [OPTION]: slurmctld keeps its journal on a file system of 256 KiB until journal_back, mounted with
# OPTION while it starts.
journal_on_tmpfs() {
    stop_slurmctld
    as_slurm mv "$(store)/journal" "$(store)/journal.old"
    as_slurm mkdir "$(store)/journal"
    mount -t tmpfs -o "size=256k,mode=0750,uid=$(id -u slurm),gid=$(id -g slurm)" tmpfs "$(store)/journal"
    # the newest file alone: the chain and the numbers go on from it
    as_slurm cp "$(find "$(store)/journal.old" -name '*.jsonl' -size +0 | sort | tail -n 1)" "$(store)/journal/"
    if [ $# -gt 0 ]; then mount -o "remount,$1" "$(store)/journal"; fi
    start_again
}

journal_back() {
    stop_slurmctld
    as_slurm sh -c "cp $(store)/journal/*.jsonl $(store)/journal.old/"
    umount "$(store)/journal"
    as_slurm rmdir "$(store)/journal"
    as_slurm mv "$(store)/journal.old" "$(store)/journal"
    start_again
}

stop_slurmctld() {
    local pid
    pid=$(slurmctld_pid)
    kill "$pid"
    wait_for 20 slurmctld_gone "$pid"
}

# bats test_tags=E04
@test "a full journal rejects jobs saying so, and goes on once there is room" {
    local before
    journal_on_tmpfs
    submits vision1 vision
    as_slurm sh -c "cat /dev/zero >$(store)/journal/filler 2>/dev/null || true"
    wait_for 30 is_unavailable vision1 vision  # the last block of the file has room for a few
    before=$(records)
    unavailable vision1
    assert_output --partial 'No space left on device'
    unavailable speech1
    assert_equal "$(records)" "$before"
    as_slurm rm "$(store)/journal/filler"
    submits vision1 vision
    assert_equal "$(records)" $((before + 1))
    journal_back
    run check_journal
    assert_success
}

# on_unavailable WHAT: what accord.toml says of decisions that cannot be kept, in force on return.
on_unavailable() {
    sed -i "/^on_unavailable/d; s/^\[store\]/&\non_unavailable = \"$1\"/" "$ACCORD_CONF"
    policy_reload
    policy_reload
}

# passes_unrecorded: a job is let through without a record, told so in the log, and runs: its grant is a good one.
passes_unrecorded() {
    local from before job
    from=$(log_length)
    before=$(records)
    job=$(submit vision1 --gpus=1 --wrap=true)
    assert_equal "$(decision_id "$job")" ''
    assert_equal "$(records)" "$before"
    log_says "$((from + 1))" 'error: accord: decision=none kind=submission user=.* verdict=admitted class=exempt'
    wait_state "$job" COMPLETED
}

# bats test_tags=E04
@test "a journal that is read-only at a start rejects jobs saying so, or admits them if told to, until it is writable" {
    local pid before
    journal_on_tmpfs ro
    pid=$(slurmctld_pid)
    before=$(records)
    unavailable vision1
    assert_output --partial 'Read-only file system'
    unavailable speech1
    on_unavailable admit
    passes_unrecorded
    on_unavailable reject
    unavailable vision1
    assert_equal "$(records)" "$before"
    mount -o remount,rw "$(store)/journal"
    wait_for 10 submits vision1 vision
    assert_equal "$(records)" $((before + 1))
    run slurmctld_lives "$pid"
    assert_success
    journal_back
    run check_journal
    assert_success
}

# A file system cannot be made read-only in an orderly way while slurmctld has the journal open for writing.
# bats test_tags=E04
@test "a journal that can no longer be written rejects jobs saying so, or admits them if told to, until it can be" {
    local pid before file
    pid=$(slurmctld_pid)
    submits vision1 vision
    file=$(find "$(store)/journal" -name '*.jsonl' | sort | tail -n 1)
    before=$(records)
    chattr +i "$file"
    unavailable vision1
    assert_output --partial 'Operation not permitted'
    unavailable speech1
    on_unavailable admit
    passes_unrecorded
    on_unavailable reject
    unavailable vision1
    chattr -i "$file"
    submits vision1 vision
    assert_equal "$(records)" $((before + 1))
    run slurmctld_lives "$pid"
    assert_success
    run check_journal
    assert_success
}

# submit_many USER ACCOUNT: parked jobs one after the other, whatever becomes of them.
submit_many() {
    local i
    for ((i = 0; i < 30; i++)); do submits "$1" "$2" >/dev/null 2>&1 || true; done
}
many_recorded() { [ "$(records)" -ge "$1" ]; }

every_job_has_its_decision() {
    local known job
    known=$(journal | jq --raw-output 'select(.verdict != "rejected") | .id')
    squeue --noheader --format=%A | sort -u | while read -r job; do
        grep -qxF "$(decision_id "$job")" <<<"$known" || {
            echo "job $job carries decision '$(decision_id "$job")', which is not on record"
            return 1
        }
    done
}
no_decision_twice() {
    [ -z "$(scontrol show job | sed -n 's/^ *AdminComment=//p' | sort | uniq --repeated)" ]
}

# counted_once USER ACCOUNT: the plugin's claims, as the record of a rejection has them, are those of the jobs that are
# there, of one GPU each.
counted_once() {
    local user=$1 account=$2 guaranteed lent queued
    ! as_user "$user" sbatch --output=/dev/null --account="$account" --gpus=99 --wrap=true 2>/dev/null || return 1
    guaranteed=$(squeue --noheader --account="$account" --partition=gpu | wc -l)
    lent=$(squeue --noheader --account="$account" --partition=gpu-lend --all | wc -l)
    queued=$(jq ".ledger.contracts[\"$account/gpu\"].queued_jobs // 0" "$(store)/ledger")
    [ "$(last_record '[.inputs.guaranteed.a100 // 0, .inputs.borrowed.a100 // 0] | tojson')" = "[$guaranteed,$((lent - queued))]" ]
}

@test "slurmctld killed in a burst leaves every job with its decision, each number once, and counts nothing twice" {
    local before
    cancel_all
    wait_for 60 nothing_claimed vision1 vision/gpu --gpus=99
    wait_for 60 nothing_claimed speech1 speech/gpu --gpus=99
    before=$(records)
    submit_many vision1 vision &
    submit_many vision2 vision &
    submit_many speech1 speech &
    wait_for 30 many_recorded $((before + 20))
    kill -KILL "$(slurmctld_pid)"
    wait_for 10 slurmctld_gone "$(slurmctld_pid)"
    start_again
    wait
    submits vision1 vision
    run every_job_has_its_decision
    assert_success
    run no_decision_twice
    assert_success
    run check_journal
    assert_success
    assert [ "$(squeue --noheader --all --account=vision | wc -l)" -gt 4 ]
    wait_for 60 counted_once vision1 vision
    wait_for 60 counted_once speech1 speech
}

@test "a restart counts nothing twice: the guarantee can be had whole" {
    local job
    cancel_all
    wait_for 60 claims_guaranteed vision1 vision 2
    restart_slurmctld
    job=$(parked vision1 --account=vision --gpus=2)
    assert_equal "$(record_of "$job" .class)" guaranteed
    job=$(parked vision1 --account=vision --gpus=1)
    assert_equal "$(record_of "$job" .class)" borrowed
}

# start_with_late_clock: slurmctld and accordd, whose clocks are an hour late while CLUSTER_DIR/late is there.
start_with_late_clock() {
    local clock=(env "LATE_CLOCK=$CLUSTER_DIR/late" "LD_PRELOAD=$CLUSTER_DIR/opt/lib/late_clock.so")
    install -m 0755 "$root/test/cluster/.libs/late_clock.so" "$CLUSTER_DIR/opt/lib/"
    "${clock[@]}" slurmctld -f "$SLURM_CONF" 3>&-
    wait_for 20 scontrol ping
    setsid --fork setpriv --reuid=slurm --regid=slurm --init-groups "${clock[@]}" "$CLUSTER_DIR/opt/bin/accordd" \
        >>"$CLUSTER_DIR/log/accordd.log" 2>&1 </dev/null 3>&-
    wait_for 10 accordd_pid
}
accordd_pid() { own_process "^$CLUSTER_DIR/opt/libexec/accordd"; }
accordd_gone() { [ -z "$(accordd_pid)" ]; }
stop_accordd() {
    kill "$(accordd_pid)"
    wait_for 20 accordd_gone
}
metered() { sqlite3 -readonly "$(store)/usage.db" "SELECT $2 FROM usage_interval WHERE job_id = $1"; }
is_metered() { [ -n "$(metered "$1" 1)" ]; }
has_ended() { [ -n "$(metered "$1" end_time)" ]; }

@test "clocks that step an hour back leave decisions in their order and make no use negative" {
    local job before later
    cancel_all
    stop_accordd
    stop_slurmctld
    start_with_late_clock
    job=$(submit vision1 --account=vision --gpus=1 --wrap='sleep 300')
    wait_state "$job" RUNNING
    wait_for 20 is_metered "$job"
    before=$(last_record .time_s)
    touch "$CLUSTER_DIR/late"
    later=$(parked vision1 --account=vision --gpus=1) # Slurm's own scheduler stands still for that hour
    assert_equal "$(last_record .id)" "$(decision_id "$later")"
    assert [ "$(last_record .time_s)" -lt "$before" ]
    scancel "$job" "$later"
    wait_for 30 has_ended "$job"
    assert_equal "$(metered "$job" 'end_time >= start_time')" 1
    wait_for 60 nothing_claimed vision1 vision/gpu --gpus=99
    rm "$CLUSTER_DIR/late"
    submits vision1 vision
    assert [ "$(last_record .time_s)" -ge "$before" ]
    assert_equal "$(sqlite3 -readonly "$(store)/usage.db" 'SELECT count(*) FROM usage_interval WHERE end_time < start_time')" 0
    stop_accordd
    stop_slurmctld
    start_again
    submits vision1 vision
    run check_journal
    assert_success
    run accord audit verify
    assert_success
}

# claims_guaranteed USER ACCOUNT GPUS: such a job is guaranteed and the contract's only claim.
claims_guaranteed() {
    local job
    job=$(parked "$1" --account="$2" --gpus="$3")
    if [ "$(record_of "$job" '[.class, .inputs.guaranteed, .inputs.borrowed] | tojson')" = '["guaranteed",null,null]' ]; then
        return 0
    fi
    scancel "$job"
    return 1
}
