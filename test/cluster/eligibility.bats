#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs that cannot start yet (R5), scrontab jobs (R6) and heterogeneous jobs (R7).

load common
load records

setup_file() {
    make --silent -C "$root" test/cluster/submit_cron >&2
    cluster_up --nodes 2 --gpus 4
    settle_soon
    install -m 0755 "$root/test/cluster/submit_cron" "$CLUSTER_DIR/opt/bin/"
    echo 'ScronParameters=enable' >>"$CLUSTER_DIR/slurm.conf"
    close_gate
    write_contract vision 4
    write_contract speech 4 'borrow_limit = 2'
    sed -i 's/^allowed = .*/allowed = ["batch", "array", "interactive", "het", "cron"]/' "$CLUSTER_DIR"/contracts/*.toml
    accord_apply
    wait_for 10 ruled_by vision1 vision 1
    cancel_all
}

# outcome JOB: of a heterogeneous one, that of its first component.
outcome() { record_of "$1" '[.verdict, .class, .reason, .claim] | tojson'; }
partition_is() { [ "$(job_field "$1" Partition)" = "$2" ]; }
reason_is() { [ "$(job_field "$1" Reason)" = "$2" ]; }
# claims_are CONTRACT CLASS GPUS: as accordd counts them from the jobs that slurmctld has.
claims_are() { [ "$(jq ".ledger.contracts[\"$1/gpu\"].$2.a100 // 0" "$CLUSTER_DIR/accord/ledger")" = "$3" ]; }
# sleeper USER SBATCH-ARGUMENT…
sleeper() { submit "$@" --wrap='sleep 300' 2>/dev/null; }

@test "a held job waits in the lend partition without a claim, and is guaranteed once its user has released it" {
    local held other
    held=$(submit vision1 --hold --licenses=gate:1 --gpus=4 --wrap=true 2>/dev/null)
    assert_equal "$(outcome "$held")" '["admitted","borrowed","not_eligible",{}]'
    assert_equal "$(job_field "$held" Partition) $(job_field "$held" Reason)" 'gpu-lend JobHeldUser'
    other=$(parked vision1 --gpus=4)
    assert_equal "$(outcome "$other")" '["admitted","guaranteed","",{"a100":4}]'
    wait_for 20 claims_are vision guaranteed 4
    claims_are vision borrowed 0
    as_user vision1 scontrol release "$held"
    wait_for 20 claims_are vision borrowed 4
    scancel "$other"
    wait_for 20 partition_is "$held" gpu
    wait_for 20 claims_are vision guaranteed 4
}

@test "a job behind another or with a date claims only in its time" {
    local first behind dated
    wait_for 60 nothing_claimed vision1 vision/gpu --gpus=99
    first=$(sleeper vision1 --gpus=4)
    behind=$(sleeper vision1 --dependency="afterany:$first" --gpus=4)
    dated=$(submit vision1 --begin=now+1hour --gpus=4 --wrap=true 2>/dev/null)
    assert_equal "$(outcome "$behind")" '["admitted","borrowed","not_eligible",{}]'
    assert_equal "$(outcome "$dated")" '["admitted","borrowed","not_eligible",{}]'
    wait_for 20 claims_are vision guaranteed 4
    claims_are vision borrowed 0
    run accord why "$behind"
    assert_output --partial 'it is borrowed and waits for a dependency'
    run accord why "$dated"
    assert_output --partial 'it is borrowed and may begin at '
    wait_state "$first" RUNNING
    scancel "$first"
    wait_state "$behind" RUNNING
}

@test "where a limit could stop it a held job is queued, and its user's release is the sign for accordd's" {
    local job
    job=$(sleeper speech1 --hold --gpus=2)
    assert_equal "$(outcome "$job")" '["queued","queued","not_eligible",{}]'
    wait_for 20 reason_is "$job" JobHeldAdmin
    run accord why "$job"
    assert_output --partial 'its own user holds it'
    run as_user speech1 scontrol release "$job"
    assert_failure
    wait_state "$job" RUNNING
    assert_equal "$(job_field "$job" Partition)" gpu
}

@test "where a limit could stop it a job behind another, or with a date, is queued until its time" {
    local first behind dated
    first=$(sleeper speech1 --gpus=2)
    behind=$(sleeper speech1 --dependency="afterany:$first" --gpus=4)
    dated=$(sleeper speech1 --begin=now+5 --gpus=1)
    assert_equal "$(outcome "$behind")" '["queued","queued","not_eligible",{}]'
    assert_equal "$(outcome "$dated")" '["queued","queued","not_eligible",{}]'
    wait_state "$dated" RUNNING
    partition_is "$behind" gpu-lend
    scancel "$dated"
    wait_for 20 claims_are speech guaranteed 2
    scancel "$first"
    wait_state "$behind" RUNNING
    assert_equal "$(job_field "$behind" Partition)" gpu
}

@test "a job that its user requeues after its end waits until its contract has room for it again" {
    local again other
    again=$(sleeper speech1 --gpus=4)
    wait_state "$again" RUNNING
    scancel "$again"
    wait_for 60 nodes_idle
    wait_for 60 nothing_claimed speech1 speech/gpu --gpus=99
    other=$(sleeper speech1 --gpus=4)
    wait_state "$other" RUNNING
    as_user speech1 scontrol requeue "$again"
    wait_for 20 reason_is "$again" JobHeldAdmin
    partition_is "$again" gpu-lend
    claims_are speech guaranteed 4
    scancel "$other"
    wait_state "$again" RUNNING 60
    partition_is "$again" gpu
}

# het USER FIRST SECOND: a job of two components with these options; prints the id of the first.
het() {
    local script=$CLUSTER_DIR/fs/het.sh
    printf '#!/bin/bash\n#SBATCH %s\n#SBATCH hetjob\n#SBATCH %s\nsleep 300\n' "$2" "$3" >"$script"
    submit "$1" "$script"
}

@test "the components of a heterogeneous job start together, guaranteed where their sum fits" {
    local job
    job=$(het vision1 --gpus=2 --gpus=2)
    assert_equal "$(outcome "$job+0")" '["queued","queued","not_eligible",{}]'
    wait_state "$job" RUNNING
    assert_equal "$(squeue --noheader --all --format=%P%T | sort | uniq -c | xargs)" '2 gpuRUNNING'
    wait_for 20 claims_are vision guaranteed 4
}

@test "a heterogeneous job that fits in part is borrowed as a whole, a component without GPUs too" {
    local job
    job=$(het vision1 --gpus=3 --gpus=2)
    wait_state "$job" RUNNING
    assert_equal "$(squeue --noheader --all --format=%P%T | sort | uniq -c | xargs)" '2 gpu-lendRUNNING'
    scancel "$job"
    wait_for 60 nodes_idle
    job=$(het vision1 --gpus=3 --ntasks=1)
    wait_state "$job" RUNNING
    assert_equal "$(squeue --noheader --all --format=%P%T | sort | uniq -c | xargs)" '2 gpuRUNNING'
}

@test "a rejection at one component leaves no claim of another" {
    local before
    before=$(squeue --noheader --all | wc -l)
    run het vision1 --gpus=2 --gpus=9
    assert_failure
    assert_output --partial '1: accord: asks for 11 a100, and partition gpu has 8'
    assert_output --partial '[impossible]'
    assert_equal "$(squeue --noheader --all | wc -l)" "$before"
    assert_equal "$(outcome "$(parked vision1 --gpus=4)")" '["admitted","guaranteed","",{"a100":4}]'
}

@test "a heterogeneous job of a hundred components is judged by its sum" {
    local script=$CLUSTER_DIR/fs/hundred.sh pid i
    pid=$(slurmctld_pid)
    {
        printf '#!/bin/bash\n#SBATCH --gpus=1\n'
        for ((i = 1; i < 100; i++)); do printf '#SBATCH hetjob\n#SBATCH --gpus=1\n'; done
        echo true
    } >"$script"
    run submit vision1 "$script"
    assert_failure
    assert_output --partial 'accord: asks for 9 a100, and partition gpu has 8'
    sed -i 's/--gpus=1/--gpus=0/' "$script"
    run submit vision1 "$script"
    assert_success
    assert_equal "$(squeue --noheader --all --format=%A | wc -l)" 100
    run slurmctld_lives "$pid"
    assert_success
}

@test "a heterogeneous job that would have to reclaim waits until enough GPUs are idle" {
    local lent job
    write_contract speech 4
    accord_apply
    lent=$(sleeper speech1 --gpus=8 --nodes=2)
    wait_state "$lent" RUNNING
    job=$(het vision1 --gpus=2 --gpus=2)
    wait_for 20 reason_is "$job" JobHeldAdmin
    run accord why "$job"
    assert_output --partial 'released together, as soon as enough GPUs are free for all'
    assert_equal "$(job_state "$lent")" RUNNING
    scancel "$lent"
    wait_state "$job" RUNNING 60
    assert_equal "$(job_field "$lent" JobState)" CANCELLED
}

# cron USER GPUS: the user's new scrontab, of one job; prints its id.
cron() { as_user "$1" submit_cron vision "$2"; }

# replaceable USER GPUS: the plugin knows the user's scrontab jobs from a list: it counts GPUS for any other kind of job, and
# none for a new scrontab, which is refused here.
replaceable() {
    as_user "$1" sbatch --account=vision --gpus=99 --wrap=true 2>/dev/null && return 1
    [ "$(last_record '.inputs.guaranteed.a100')" = "$2" ] || return 1
    cron "$1" gres:gpu:99 2>/dev/null && return 1
    [ "$(last_record '.inputs.guaranteed.a100')" = null ]
}

@test "a scrontab job is decided for good when the scrontab is stored" {
    local job
    job=$(cron vision1 gres:gpu:4)
    assert_equal "$(outcome "$job")" '["admitted","guaranteed","",{"a100":4}]'
    assert_equal "$(record_of "$job" .inputs.type)" cron
    wait_for 20 claims_are vision guaranteed 4
    wait_for 20 replaceable vision1 4
    job=$(cron vision1 gres:gpu:4)
    assert_equal "$(outcome "$job")" '["admitted","guaranteed","",{"a100":4}]'
    wait_for 20 claims_are vision guaranteed 4
    run cron vision1 gres:gpu:9
    assert_failure
    assert_equal "$(last_record '[.verdict, .reason] | join(" ")')" 'rejected impossible'
}
