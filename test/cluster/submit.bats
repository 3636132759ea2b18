#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What sbatch, srun and salloc meet in slurmctld: who may, how many GPUs are counted, what the job carries afterwards.

load common
load records

setup_file() {
    make --silent -C "$root" test/cluster/submit_request >&2
    cluster_up --cluster 4x8:a100
    settle_soon
    install -m 0755 "$root/test/cluster/submit_request" "$CLUSTER_DIR/opt/bin/"
    echo 'PartitionName=other Nodes=n1 PriorityTier=1' >>"$CLUSTER_DIR/slurm.conf"
    close_gate
    write_contract vision 16 'borrow_limit = 8'
    write_contract speech 4 'borrow_limit = 0'
    accord_apply
    wait_for 10 ruled_by vision1 vision 1
    cancel_all
}

# bats test_tags=A01
@test "GPUs of the whole job are counted, as if asked for per node" {
    assert_equal "$(gpus_of --partition=gpu --nodes=1 --gpus=4)" '{"a100":[4,4]}'
    assert_equal "$(gpus_of --partition=gpu --nodes=1 --gres=gpu:4)" '{"a100":[4,4]}'
}

# bats test_tags=A02
@test "GPUs per node are counted on every node" {
    assert_equal "$(gpus_of --nodes=4 --gres=gpu:2)" '{"a100":[8,8]}'
}

# bats test_tags=A03
@test "GPUs per task are counted for every task" {
    assert_equal "$(gpus_of --ntasks=3 --gpus-per-task=2)" '{"a100":[6,6]}'
}

# bats test_tags=A04
@test "every way to ask for two GPUs is counted as two" {
    local ask
    for ask in --gres=gpu:2 --gpus-per-node=2 --gpus=2 '--ntasks=1 --gpus-per-task=2' --gres=gpu:a100:2 --gpus=a100:2; do
        # shellcheck disable=SC2086
        assert_equal "$ask $(gpus_of --nodes=1 $ask)" "$ask {\"a100\":[2,2]}"
    done
}

# bats test_tags=A04
@test "every release's spelling of two GPUs is counted as two" {
    local ask
    for ask in +tres_per_node=gres:gpu:2 +tres_per_node=gres/gpu:2 +tres_per_node=gres/gpu=2 +tres_per_node=gres/gpu:a100:2 \
        '+tres_per_task=gres:gpu:2 +nodes=1' '+tres_per_task=gres/gpu=2 +nodes=1' '+tres_per_task=cpu=4,gres/gpu:a100=2 +nodes=1'; do
        # shellcheck disable=SC2086
        as_user vision1 submit_request vision $ask || true # Slurm of another release may not know the spelling
        assert_equal "$ask $(last_record '.gpus | tojson')" "$ask {\"a100\":[2,2]}"
    done
}

# bats test_tags=A05
@test "a typed request is counted once" {
    wait_for 60 nothing_claimed vision1 vision/gpu --gpus=25
    assert_equal "$(gpus_of --nodes=1 --gres=gpu:a100:4)" '{"a100":[4,4]}'
    assert_equal "$(last_record '.claim | add')" 4
}

# bats test_tags=A06
@test "no GPUs and an empty option are no GPU job" {
    local job before
    before=$(slurmctld_pid)
    job=$(parked vision1 --gres=gpu:0)
    assert_equal "$(record_of "$job" '[.verdict, .class, .reason] | join(" ")')" 'admitted borrowed no_gpu'
    assert_equal "$(record_of "$job" '.gpus | add // 0 | tojson')" 0
    # the empty form is Slurm's own to refuse, which not every release does
    run as_user vision1 sbatch --hold --output=/dev/null --gres= --wrap=true
    refute_output --regexp '\[[a-z_]+\]'
    assert_equal "$(last_record '[.verdict, .reason, .gpus, .claim] | tojson')" '["admitted","no_gpu",{},{}]'
    refused outsider1 no_contract --gres=gpu:0
    assert_equal "$(slurmctld_pid)" "$before"
    run slurmctld_lives "$before"
    assert_success
}

# bats test_tags=A25
@test "GPUs per task without a task count: one task, or Slurm's own refusal" {
    local before
    assert_equal "$(gpus_of --nodes=1 --gpus-per-task=2)" '{"a100":[2,2]}'
    before=$(slurmctld_pid)
    run as_user vision1 sbatch --hold --output=/dev/null --nodes=2 --cpus-per-task=4 --gpus-per-task=1 --wrap=true
    assert_failure
    refute_output --partial accord
    # past sbatch's own check it is counted as every GPU of its nodes, and Slurm refuses it afterwards
    run as_user vision1 submit_request vision +tres_per_task=gres:gpu:1 +nodes=2 +cpus_per_task=4
    assert_failure
    refute_output --regexp '\[[a-z_]+\]'
    assert_equal "$(last_record '.gpus | tojson')" '{"a100":[0,16]}'
    assert_equal "$(slurmctld_pid)" "$before"
    run slurmctld_lives "$before"
    assert_success
}

# bats test_tags=A27
@test "a user whom no contract knows is told so, with a name and without one, and the controller stays up" {
    local before
    before=$(slurmctld_pid)
    refused outsider1 no_contract --gpus=1
    assert_equal "$(last_record '[.uid, .account] | tojson')" "[$(id -u outsider1),\"\"]"
    run setpriv --reuid=54321 --regid=54321 --clear-groups env --chdir=/ sbatch --output=/dev/null --gpus=1 --wrap=true
    assert_failure
    assert_line --regexp '^sbatch: error: accord: user 54321 has no active contract in partition gpu: .* \[no_contract\]$'
    assert_equal "$(slurmctld_pid)" "$before"
    run slurmctld_lives "$before"
    assert_success
}

# bats test_tags=A28
@test "account and partition are found whatever their spelling or absence" {
    local job
    job=$(parked vision1 --account=VISION --gpus=1)
    assert_equal "$(job_field "$job" Account)" vision
    job=$(parked vision1 --gpus=1)
    assert_equal "$(job_field "$job" Account)" vision
    assert_equal "$(record_of "$job" .partition)" gpu
    refused vision1 mixed_partitions --partition=gpu,other --gpus=1
    refused vision1 lend_partition --partition=gpu-lend --gpus=1
    refused vision1 no_contract --account=speech1 --gpus=1
    refused vision1 not_member --account=speech --gpus=1
}

@test "a job for another partition passes and leaves no record" {
    local before job
    before=$(records)
    job=$(submit outsider1 --hold --partition=other --wrap=true)
    assert_equal "$(decision_id "$job")" ''
    assert_equal "$(records)" "$before"
}

# claims: what accordd counts for vision from the jobs that slurmctld has.
claims() { jq --compact-output '.ledger.contracts["vision/gpu"] // {} | [.guaranteed.a100, .borrowed.a100]' "$CLUSTER_DIR/accord/ledger"; }
claims_are() { [ "$(claims)" = "$1" ]; }

# bats test_tags=A32
@test "steps are free: an allocation is counted once, while they run and after" {
    local before job i
    before=$(records)
    as_user vision1 salloc --no-shell --nodes=1 --gres=gpu:2
    job=$(squeue --noheader --format=%A)
    wait_for 30 claims_are '[2,null]'
    for i in 1 2 3; do
        run as_user vision1 srun --jobid="$job" --gres=gpu:1 sh -c 'echo $CUDA_VISIBLE_DEVICES'
        assert_success
        assert_output 0
    done
    assert_equal "$(records)" $((before + 1))
    assert_equal "$(last_record '.gpus | tojson')" '{"a100":[2,2]}'
    parked vision1 --gpus=1
    wait_for 30 claims_are '[3,null]'
}

# bats test_tags=A33
@test "a rejection is one line with everything to act on, and of a het job it names the component" {
    refused vision1 impossible --account=vision --gpus=25
    assert_line --regexp 'accord: asks for 25 a100, more than vision/gpu could ever hold \(guaranteed 16, borrow limit 8, 32 in partition gpu; [0-9]+ in use\): ask for 24 or fewer, or ask root \[impossible\]$'
    assert_equal "$(grep -c accord <<<"$output")" 1
    run as_user vision1 sbatch --output=/dev/null --gpus=1 : --gpus=1 --wrap=true
    assert_failure
    assert_line --regexp '^sbatch: error: 0: accord: .* \[workload_type\]$'
    assert_equal "$(grep -c accord <<<"$output")" 1
}

# bats test_tags=B07
@test "the same command is guaranteed while there is headroom, borrowed beyond it, and queued beyond that" {
    local job wanted
    wait_for 60 nothing_claimed vision1 vision/gpu --gpus=99
    for wanted in 'gpu guaranteed' 'gpu guaranteed' 'gpu-lend borrowed' 'gpu-lend queued'; do
        job=$(submit vision1 --gpus=8 --wrap='sleep 300')
        assert_equal "$(job_field "$job" Partition) $(record_of "$job" .class)" "$wanted"
    done
    assert_equal "$(job_field "$job" Priority)" 0
}

@test "an array is counted by what may run at once" {
    local job
    job=$(parked vision1 --account=vision --array=0-9%2 --gpus=4)
    assert_equal "$(record_of "$job" '.gpus | tojson')" '{"a100":[4,4]}'
    job=$(parked vision1 --account=vision --array=0-99 --gpus=4)
    assert_equal "$(job_field "$job" ArrayTaskThrottle)" 6
}

@test "a job without a time limit gets the contract's longest, one over it is refused" {
    local job
    write_contract vision 16 'borrow_limit = 8'
    sed -i 's/^allowed = .*/&\nmax_walltime = "02:00:00"/' "$CLUSTER_DIR/contracts/vision.toml"
    accord_apply
    wait_for 10 ruled_by vision1 vision 2
    job=$(parked vision1 --gpus=1)
    assert_equal "$(job_field "$job" TimeLimit)" 02:00:00
    refused vision1 time_limit --gpus=1 --time=03:00:00
    refused vision1 time_limit --gpus=1 --time=UNLIMITED
}

@test "srun is told its class and sees its decision" {
    run as_user vision1 srun --account=vision --gpus=1 sh -c 'echo $ACCORD_DECISION'
    assert_success
    assert_line --regexp '^srun: accord: '
    assert_line "$(journal | jq --raw-output 'select(.kind == "submission") | .id' | tail -n 1)"
}

@test "entries of Accord's that a user brings are replaced" {
    local job
    run as_user vision1 submit_request vision SPANK_ACCORD_GRANT=forged SPANK_TOOL=1 SPANK_ACCORD_DECISION=0-999
    assert_success
    job=$output
    assert_equal "$(decision_id "$job")" "$(last_record .id)"
    scontrol release "$job"
    wait_state "$job" COMPLETED
}

@test "a prolog environment of 200 KiB is refused, and a job with one of 60 KiB runs" {
    local large job
    for large in '@100 @100' @200; do
        # shellcheck disable=SC2086
        run as_user vision1 submit_request vision $large
        assert_failure
        assert_output --partial '[env_too_large]'
        assert_equal "$(last_record .reason)" env_too_large
    done
    job=$(as_user vision1 submit_request vision @60)
    scontrol release "$job"
    wait_state "$job" COMPLETED
}

@test "a job that sends mail runs, and the controller survives it" {
    local before job
    before=$(slurmctld_pid)
    job=$(submit vision1 --gpus=1 --mail-type=ALL --mail-user=vision1 --wrap=true)
    wait_state "$job" COMPLETED
    run slurmctld_lives "$before"
    assert_success
}

@test "the jobs and the record agree in the end" {
    run check_journal
    assert_success
}
