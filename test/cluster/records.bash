# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests of submissions and changes read off the record, and how they stop and start slurmctld.

# The next test finds idle nodes.
teardown() {
    show_logs_of_failed_test
    cancel_all
}

# refused USER CODE SBATCH-ARGUMENT…: sbatch fails with one line of Accord's that ends with the reason's code.
refused() {
    local user=$1 code=$2
    shift 2
    run as_user "$user" sbatch --output=/dev/null "$@" --wrap=true
    assert_failure
    assert_line --regexp "^sbatch: error: accord: .* \[$code\]\$"
    assert_equal "$(last_record .verdict)" rejected
    assert_equal "$(last_record .reason)" "$code"
}

# journal: every record, in its order, one JSON object a line.
journal() { cat "$CLUSTER_DIR"/accord/journal/*.jsonl; }

# records: how many there are.
records() { journal | wc -l; }

# last_record FILTER: jq's FILTER of the newest one.
last_record() { journal | tail -n 1 | jq --raw-output "$1"; }

# decision_id JOB: what the job carries, such as 0-17; empty when it carries none.
decision_id() { scontrol show job "$1" | sed -n 's/^ *AdminComment=accord:v1 decision=\([0-9]*-[0-9]*\) *$/\1/p'; }

# record_of JOB FILTER: jq's FILTER of the decision that the job carries.
record_of() { journal | jq --raw-output "select(.id == \"$(decision_id "$1")\") | $2"; }

# parked USER SBATCH-ARGUMENT…: submits a job that waits behind the closed gate, and prints its id.
parked() {
    local user=$1
    shift
    submit "$user" --licenses=gate:1 "$@" --wrap=true 2>/dev/null
}

# gpus_of SBATCH-ARGUMENT…: how many GPUs a parked job of vision1's is counted with, as {"type":[min,max]}.
gpus_of() { record_of "$(parked vision1 "$@")" '.gpus | tojson'; }

# nothing_claimed USER CONTRACT SBATCH-OPTION…: the plugin counts no claim of the contract at this moment, as the record of a
# rejection says; the options ask for more than the contract could ever hold. Claims of jobs that are gone end with
# accordd's next snapshot.
nothing_claimed() {
    local user=$1 contract=$2
    shift 2
    ! as_user "$user" sbatch --output=/dev/null "$@" --wrap=true 2>/dev/null || return 1
    [ "$(last_record '[.contract, .reason, .inputs.guaranteed, .inputs.borrowed] | tojson')" = \
        "[\"$contract\",\"impossible\",null,null]" ]
}

slurmctld_pid() { cat "$CLUSTER_DIR/run/slurmctld.pid"; }
slurmctld_lives() { kill -0 "$1" 2>/dev/null; }
slurmctld_gone() { ! slurmctld_lives "$1"; }

# start_again: starts whatever of the cluster does not run.
start_again() { "$root/scripts/devcluster" up --dir "$CLUSTER_DIR" >&2; }

# restart_slurmctld: ends it in an orderly way and starts it again.
restart_slurmctld() {
    local pid
    pid=$(slurmctld_pid)
    kill "$pid"
    wait_for 20 slurmctld_gone "$pid"
    start_again
}

# check_journal: numbers rise and are there once, and every record names the hash of the one before.
check_journal() {
    journal | jq --slurp --exit-status '
        (map(.id) | length == (unique | length)) and
        ([range(1; length) as $i | .[$i].prev_hash == .[$i - 1].hash] | all) and
        .[0].prev_hash == ("0" * 64)'
}

# settle_soon: accordd gives up decisions that became no job after a second.
settle_soon() { sed -i 's/^settle = .*/settle = "1s"/' "$ACCORD_CONF"; }

# ruled_by USER ACCOUNT VERSION: the plugin judges by this version of the contract, as a held job's record says.
ruled_by() {
    local job
    job=$(submit "$1" --hold --account="$2" --gpus=1 --wrap=true 2>/dev/null)
    [ "$(record_of "$job" .contract_version)" = "$3" ]
}
