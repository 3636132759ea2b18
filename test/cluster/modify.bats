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
    write_contract speech 2 'borrow_limit = 2'
    sed -i '/^allowed/a max_walltime = "02:00:00"' "$CLUSTER_DIR/contracts/speech.toml"
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

@test "a stranger's hold leaves no wish, and his change of a job no claim" {
    local job
    job=$(queued_job)
    run as_user outsider1 scontrol hold "$job"
    assert_failure
    run as_user outsider1 scontrol release "$job"
    assert_failure
    run as_user outsider1 scontrol update JobId="$job" TresPerJob="$(spelled gpu:3)"
    assert_failure
    run as_user outsider1 scontrol update JobId="$job" TresPerJob="$(spelled gpu:5)"
    assert_failure
    assert_equal "$(journal | jq "select(.job_id == $job and (.user_hold != null or .claim != {}))")" ''
    run is_held "$job"
    assert_success
}

# full_nodes: whatever is admitted from now on waits.
full_nodes() {
    local job
    job=$(sbatch --parsable --output=/dev/null --partition=gpu --exclusive --nodes=2 --wrap='sleep 300' 2>/dev/null)
    wait_state "$job" RUNNING
}

# waiting CLASS USER SBATCH-ARGUMENT…: a job of the class that waits for nodes; prints its id.
waiting() {
    wait_for 60 waits_as "$@" >&2
    cat "$BATS_TEST_TMPDIR/job"
}
# The claims of the tests before end with accordd's next snapshot.
waits_as() {
    local class=$1 user=$2 job
    shift 2
    job=$(submit "$user" "$@" --wrap=true 2>/dev/null)
    printf '%s\n' "$job" >"$BATS_TEST_TMPDIR/job"
    if [ "$(record_of "$job" .class)" = "$class" ]; then return 0; fi
    scancel "$job"
    return 1
}

# as_it_was JOB: what a change could touch, in one line.
as_it_was() {
    scontrol --oneliner show job "$1" | tr ' ' '\n' |
        grep -E '^(Partition|Priority|Account|NumNodes|NumTasks|NumCPUs|CPUs/Task|MinCPUsNode|MinMemory.*|Tres.*|Requeue|TimeLimit|ReqNodeList|AdminComment|ArrayTaskThrottle)='
}

# kept JOB REASON CHANGE…: its owner's update is refused with the reason, and the job is as it was.
kept() {
    local job=$1 reason=$2 before user
    shift 2
    before=$(as_it_was "$job")
    user=$(job_field "$job" UserId)
    run as_user "${user%(*}" scontrol update JobId="$job" "$@"
    assert_failure
    assert_equal "$*: $(last_refusal '[.kind, .verdict, .reason] | join(" ")')" "$*: modification rejected $reason"
    assert_equal "$(as_it_was "$job")" "$before"
}

# changed JOB CHANGE…: its owner's update passes; prints the job's class and the claim that is added.
changed() {
    local job=$1 user
    shift
    user=$(job_field "$job" UserId)
    as_user "${user%(*}" scontrol update JobId="$job" "$@" >&2
    journal | jq --raw-output --slurp "map(select(.kind == \"modification\" and .verdict != \"rejected\")) | last |
        \"\(.class) \(.claim.a100 // 0)\""
}

# plugin_counts GPUS: the plugin has read a snapshot by which so many are guaranteed to vision.
plugin_counts() {
    ! as_user vision1 sbatch --output=/dev/null --account=vision --gpus=99 --wrap=true 2>/dev/null || return 1
    [ "$(last_record '.inputs.guaranteed.a100 // 0')" = "$1" ]
}

is_22_05() { [[ $(scontrol --version) == *' 22.05.'* ]]; }

# counted_of CONTRACT: the guaranteed GPUs that accordd's snapshot has of it.
counted_of() { jq ".ledger.contracts[\"$1\"].guaranteed.a100 // 0" "$CLUSTER_DIR/accord/ledger"; }
counts() { [ "$(counted_of "$1")" = "$2" ]; }

@test "a guaranteed job grows within its guarantee, and no further" {
    local job other
    full_nodes
    job=$(waiting guaranteed vision1 --account=vision --gres=gpu:1 --nodes=1)
    other=$(waiting guaranteed vision1 --account=vision --gres=gpu:1 --nodes=1)
    assert_equal "$(changed "$job" Gres=gpu:3)" 'guaranteed 2'
    wait_for 20 counts vision/gpu 4
    kept "$job" headroom Gres=gpu:4
    kept "$job" impossible Gres=gpu:5
    kept "$other" headroom NumNodes=2-2
    kept "$other" headroom MinMemoryNode=20000
    kept "$other" headroom NumCPUs=16
    assert_equal "$(changed "$job" Gres=gpu:1)" 'guaranteed 0'
    wait_for 20 plugin_counts 2
    assert_equal "$(changed "$other" NumNodes=2-2)" 'guaranteed 1'
    wait_for 20 counts vision/gpu 3
    assert_equal "$(job_field "$other" Partition)" gpu
}

@test "a change that Slurm may apply in part must fit in each part" {
    local job
    full_nodes
    job=$(waiting guaranteed vision1 --account=vision --gres=gpu:1 --nodes=2-2)
    kept "$job" impossible NumNodes=1-1 Gres=gpu:3
    assert_equal "$(changed "$job" NumNodes=1-1)" 'guaranteed 0'
    wait_for 20 plugin_counts 1
    assert_equal "$(changed "$job" Gres=gpu:3)" 'guaranteed 2'
    # users may not raise a priority: Slurm stops there, and the plugin has said yes
    run as_user vision1 scontrol update JobId="$job" Gres=gpu:4 NumNodes=1-2 Priority=4000000
    assert_failure
    assert_equal "$(last_refusal .reason)" impossible
}

@test "hosts that are named and nodes that features count widen a claim" {
    local job
    scontrol update NodeName=n1,n2 Features=fast
    full_nodes
    waiting guaranteed vision1 --account=vision --gpus=1
    job=$(waiting guaranteed vision1 --account=vision --ntasks=1 --gres=gpu:2)
    kept "$job" headroom ReqNodeList=n1,n2
    kept "$job" headroom Features='[fast*2]'
    as_user vision1 scontrol update JobId="$job" Features=fast
    job=$(parked vision1 --account=vision --ntasks=1 --gres=gpu:1 --constraint='[fast*2]')
    assert_equal "$(record_of "$job" '.gpus.a100[1]')" 2
}

@test "tasks and GPUs per task are changed as the release changes them" {
    local job
    full_nodes
    job=$(waiting guaranteed vision1 --account=vision --ntasks=2 --gpus-per-task=1 --nodes=1)
    if is_22_05; then
        kept "$job" immutable NumTasks=3
        kept "$job" immutable TresPerTask=
    else
        assert_equal "$(changed "$job" NumTasks=3)" 'guaranteed 1'
        assert_equal "$(changed "$job" TresPerTask=gres/gpu=1)" 'guaranteed 0'
        kept "$job" impossible NumTasks=5
        wait_for 20 counts vision/gpu 3
    fi
}

@test "a change that Slurm would not do, while the job's record would say so, is refused" {
    local job
    full_nodes
    job=$(waiting guaranteed vision1 --account=vision --gres=gpu:2 --nodes=1)
    kept "$job" immutable Gres=gpu:0
    kept "$job" immutable Gres=
    if is_22_05; then
        kept "$job" immutable TresPerNode=gpu:3
        kept "$job" immutable Gres=gpu:a100:1
        kept "$job" no_gpu TresPerNode=
    else
        kept "$job" immutable TresPerNode=
        assert_equal "$(changed "$job" Gres=gpu:a100:1)" 'guaranteed 0'
    fi
}

@test "time limits are judged by the contract, and shorter ones pass" {
    local job
    full_nodes
    job=$(waiting guaranteed speech1 --account=speech --gpus=1 --time=60)
    kept "$job" time_limit TimeLimit=121
    kept "$job" time_limit TimeLimit=UNLIMITED
    assert_equal "$(changed "$job" TimeLimit=120)" 'guaranteed 0'
    assert_equal "$(changed "$job" TimeLimit=30)" 'guaranteed 0'
    assert_equal "$(job_field "$job" TimeLimit)" 00:30:00
}

@test "a borrowed job grows within the borrow limit, and stays requeueable" {
    local job
    full_nodes
    waiting guaranteed speech1 --account=speech --gpus=2
    job=$(waiting borrowed speech1 --account=speech --gres=gpu:1 --nodes=1)
    kept "$job" not_requeueable Requeue=0
    kept "$job" borrow_limit Gres=gpu:3
    assert_equal "$(changed "$job" Gres=gpu:2)" 'borrowed 1'
    assert_equal "$(changed "$job" Requeue=1)" 'borrowed 0'
    assert_equal "$(job_field "$job" Partition)" gpu-lend
}

@test "a queued job stays queued as long as it could ever be more" {
    local job
    job=$(queued_job)
    assert_equal "$(changed "$job" TresPerJob="$(spelled gpu:2)")" 'queued 0'
    kept "$job" impossible TresPerJob="$(spelled gpu:5)"
    run is_held "$job"
    assert_success
}
# spelled GRES: as this release's scontrol hands it on.
spelled() { if is_22_05; then echo "gres:$1"; else echo "gres/$1"; fi; }

@test "an array's rest and its tasks change apart from each other" {
    local job
    full_nodes
    job=$(waiting guaranteed vision1 --account=vision --array=0-3%2 --gres=gpu:1 --nodes=1)
    kept "$job" headroom Gres=gpu:3
    assert_equal "$(changed "$job" Gres=gpu:2)" 'guaranteed 2'
    wait_for 20 counts vision/gpu 4
    assert_equal "$(changed "$job" Gres=gpu:1)" 'guaranteed 0'
    wait_for 20 plugin_counts 2
    # slurmctld gives an update's strings to the first of the tasks alone
    as_user vision1 scontrol update JobId="${job}_1-2" Gres=gpu:2
    wait_for 20 counts vision/gpu 3
}

@test "the owner is told why" {
    local job
    full_nodes
    job=$(waiting guaranteed vision1 --account=vision --gres=gpu:1 --nodes=1)
    run as_user vision1 scontrol update JobId="$job" Gres=gpu:5
    assert_failure
    if is_22_05; then
        assert_output --partial 'Requested node configuration is not available'
    else
        assert_output --regexp "accord: job $job asks for (up to )?5 a100, more than vision/gpu could ever hold"
    fi
    run accord why "$job"
    assert_output --regexp "a change to it was judged; decision 0-[0-9]+: rejected: job $job asks for (up to )?5 a100.*\[impossible\]"
}

@test "a job that has run claims no more nodes than before, and keeps their number" {
    local job other before
    wait_for 60 plugin_counts 0
    job=$(submit vision1 --account=vision --nodes=1 --ntasks=2 --gres=gpu:2 --wrap='sleep 300')
    wait_state "$job" RUNNING
    other=$(parked vision1 --account=vision --gpus=1)
    assert_equal "$(record_of "$other" .class)" guaranteed
    wait_for 20 counts vision/gpu 3
    as_user vision1 scontrol requeue "$job"
    wait_state "$job" PENDING
    other=$(parked vision1 --account=vision --gpus=1)
    assert_equal "$(record_of "$other" .class)" guaranteed
    wait_for 20 counts vision/gpu 4
    # Until Slurm's scheduler has looked at it anew its limit of nodes is not known; then what it asks for is too much.
    before=$(as_it_was "$job")
    run as_user vision1 scontrol update JobId="$job" NumNodes=1-2
    assert_failure
    run last_refusal '[.kind, .verdict, .reason] | join(" ")'
    assert_output --regexp '^modification rejected (immutable|headroom)$'
    assert_equal "$(as_it_was "$job")" "$before"
}

@test "an operator's change counts at once, and the record says what Slurm holds" {
    local job
    full_nodes
    job=$(waiting guaranteed vision1 --account=vision --gres=gpu:1 --nodes=1)
    scontrol update JobId="$job" Gres=gpu:2
    assert_equal "$(last_record '.claim.a100')" 1
    scontrol update JobId="$job" Gres=gpu:0
    assert_equal "$(job_field "$job" TresPerNode)" "$(spelled gpu:2)"
    wait_for 20 counts vision/gpu 2
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
    full_nodes
    job=$(waiting guaranteed speech1 --account=speech --gpus=1)
    as_user speech1 scontrol hold "$job"
    as_user speech1 scontrol release "$job"
    scancel --user=root
    wait_state "$job" COMPLETED
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
