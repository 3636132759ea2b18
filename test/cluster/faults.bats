#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Submissions while something that slurmctld's plugin needs is missing, damaged, locked or full, or slurmctld is killed.

load common
load records

setup_file() {
    cluster_up --nodes 2 --gpus 4
    settle_soon
    write_contract vision 4
    write_contract speech 4
    accord_apply
    wait_for 10 ruled_by vision1 vision 1
    wait_for 10 ruled_by speech1 speech 1
}
teardown_file() { cluster_down; }

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

submits() { held "$1" --account="$2" --gpus=1; }

# unavailable USER: a submission is rejected since no decision can be made or kept.
unavailable() {
    run as_user "$1" sbatch --hold --output=/dev/null --gpus=1 --wrap=true
    assert_failure
    assert_output --partial '[store_unavailable]'
}
is_unavailable() { ! submits "$1" "$2"; }

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
    submits vision1 vision
    as_slurm rm "$(store)/contracts.db"
    scontrol reconfigure
    submits vision1 vision
    as_slurm mv "$(store)/saved.db" "$(store)/contracts.db"
    wait_for 10 log_says "$from" 'contracts.db: is right again'
    assert_equal "$(slurmctld_pid)" "$pid"
    run slurmctld_lives "$pid"
    assert_success
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

@test "contracts.db locked for ten seconds stops no submission" {
    local locked=$CLUSTER_DIR/locked locker i
    as_slurm sqlite3 "$(store)/contracts.db" <<EOF &
BEGIN EXCLUSIVE;
.shell touch $locked; sleep 10; rm $locked
COMMIT;
EOF
    locker=$!
    chmod 0777 "$CLUSTER_DIR"
    wait_for 10 test -e "$locked"
    for ((i = 0; i < 20; i++)); do
        submits vision1 vision
        submits speech1 speech
    done
    wait_for 30 test ! -e "$locked"
    wait "$locker"
    chmod 0755 "$CLUSTER_DIR"
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

# submit_many USER ACCOUNT: held jobs one after the other, whatever becomes of them.
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

@test "slurmctld killed in a burst leaves every job with its decision, and each number once" {
    local before
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
    assert [ "$(squeue --noheader --format=%A | wc -l)" -gt 0 ]
}

@test "a restart counts nothing twice: the guarantee can be had whole" {
    local job
    cancel_all
    wait_for 60 claims_guaranteed vision1 vision 2
    restart_slurmctld
    job=$(held vision1 --account=vision --gpus=2)
    assert_equal "$(record_of "$job" .class)" guaranteed
    job=$(held vision1 --account=vision --gpus=1)
    assert_equal "$(record_of "$job" .class)" borrowed
}

# claims_guaranteed USER ACCOUNT GPUS: such a job is guaranteed and the contract's only claim.
claims_guaranteed() {
    local job
    job=$(held "$1" --account="$2" --gpus="$3")
    if [ "$(record_of "$job" '[.class, .inputs.guaranteed, .inputs.borrowed] | tojson')" = '["guaranteed",null,null]' ]; then
        return 0
    fi
    scancel "$job"
    return 1
}
