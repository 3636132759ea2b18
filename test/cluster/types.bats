#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A cluster of two GPU types: as one pool that has both, and as two pools that share no node.

load common
load records

setup_file() {
    cluster_up --cluster 2x8:a100,2x8:v100
    settle_soon
    close_gate
    sed -i '/^PartitionName=/d' "$CLUSTER_DIR/slurm.conf"
    cp "$CLUSTER_DIR/slurm.conf" "$CLUSTER_DIR/slurm.conf.bare"
    sed -i '/^\[\[pool\]\]/,/^$/d' "$ACCORD_CONF"
    cp "$ACCORD_CONF" "$ACCORD_CONF.bare"
}

# pools NAME…: makes these the governed partitions, the first of them Slurm's default.
pools() {
    local name default=YES
    local -A nodes=([a100]='n[1-2]' [v100]='n[3-4]' [mix]='n[1-4]')
    local -A gpus=([a100]='a100 = 16' [v100]='v100 = 16' [mix]='a100 = 16, v100 = 16')
    cp "$CLUSTER_DIR/slurm.conf.bare" "$CLUSTER_DIR/slurm.conf"
    cp "$ACCORD_CONF.bare" "$ACCORD_CONF.new"
    for name in "$@"; do
        printf 'PartitionName=%s Nodes=%s Default=%s PriorityTier=100 PreemptMode=OFF\n' "$name" "${nodes[$name]}" "$default"
        printf 'PartitionName=%s-lend Nodes=%s PriorityTier=1 PreemptMode=REQUEUE GraceTime=0\n' "$name" "${nodes[$name]}"
        default=NO
    done >>"$CLUSTER_DIR/slurm.conf"
    for name in "$@"; do
        printf '\n[[pool]]\npartition = "%s"\nlend_partition = "%s-lend"\ngpus = { %s }\n' "$name" "$name" "${gpus[$name]}"
    done >>"$ACCORD_CONF.new"
    mv "$ACCORD_CONF.new" "$ACCORD_CONF"
}

# govern NAME…: these pools are in force, each with the contracts that the test has written.
govern() {
    pools "$@"
    scontrol reconfigure
    accord_apply
    wait_for 20 shape_is_known "$@"
}

# shape_is_known NAME…: the snapshot of accordd, from which the plugin knows the partitions, has them.
shape_is_known() {
    local name
    for name in "$@"; do
        jq --exit-status ".ledger.shape.partitions | has(\"$name\")" "$CLUSTER_DIR/accord/ledger" >/dev/null || return
    done
}

# contract_in POOL TYPE GUARANTEED [LINE…]: vision's contract with this pool, in force by the next `govern`.
contract_in() {
    local pool=$1 type=$2
    shift 2
    mkdir -p "$CLUSTER_DIR/contracts"
    contract_text vision "$@" | sed "s/^partition = .*/partition = \"$pool\"/; s/^\[capacity\.a100\]/[capacity.$type]/" \
        >"$CLUSTER_DIR/contracts/vision-$pool.toml"
}

govern_mix() {
    rm -rf "$CLUSTER_DIR/contracts"
    contract_in mix a100 8 'borrow_limit = 0' '[capacity.v100]' 'guaranteed = 8' 'borrow_limit = 0'
    govern mix
    wait_for 20 nothing_claimed vision1 vision/mix --partition=mix --gres=gpu:a100:99 --nodes=1
}

govern_two() {
    rm -rf "$CLUSTER_DIR/contracts"
    contract_in a100 a100 8 'borrow_limit = 8'
    contract_in v100 v100 4 'borrow_limit = 0'
    govern a100 v100
    wait_for 20 nothing_claimed vision1 vision/a100 --partition=a100 --gres=gpu:99 --nodes=1
    wait_for 20 nothing_claimed vision1 vision/v100 --partition=v100 --gres=gpu:99 --nodes=1
}

# claims_of CONTRACT: its guaranteed GPUs by type, as accordd counts them from the jobs that slurmctld has.
claims_of() { jq --compact-output ".ledger.contracts[\"$1\"].guaranteed // {}" "$CLUSTER_DIR/accord/ledger"; }
claims_are() { [ "$(claims_of "$1")" = "$2" ]; }

# answer_to SBATCH-OPTION…: what is decided for such a job, whatever words it is asked in.
answer_to() { record_of "$(parked vision1 "$@")" '[.verdict, .class, .reason, .contract, .gpus, .claim] | tojson'; }

class_and_place() { record_of "$1" '[.class, .partition, .contract] | join(" ")'; }

# bats test_tags=A02
@test "GPUs per node of an untyped request are counted over its nodes, and in a pool of two types it must name one" {
    govern_mix
    run as_user vision1 sbatch --partition=mix --nodes=4 --gres=gpu:2 --wrap=true
    assert_failure
    assert_line --regexp '^sbatch: error: accord: partition mix has several GPU types, and 8 GPUs are asked for without one: name one of a100, v100, .* \[gpu_type\]$'
    assert_equal "$(last_record '[.verdict, .gpus] | tojson')" '["rejected",{"":[8,8]}]'
    assert_equal "$(answer_to --partition=mix --nodes=2 --gres=gpu:v100:2)" \
        '["admitted","guaranteed","","vision/mix",{"v100":[4,4]},{"v100":4}]'
}

# bats test_tags=A12
@test "an untyped request takes the first type of its contract's fallback that has room, and is rewritten to it" {
    local first second
    rm -rf "$CLUSTER_DIR/contracts"
    contract_in mix a100 4 'borrow_limit = 0' '[capacity.v100]' 'guaranteed = 8' '[capacity]' 'fallback = ["a100", "v100"]'
    govern mix
    wait_for 20 nothing_claimed vision1 vision/mix --partition=mix --gres=gpu:a100:99 --nodes=1
    first=$(submit vision1 --partition=mix --nodes=1 --gres=gpu:4 --wrap='sleep 300')
    second=$(submit vision1 --partition=mix --ntasks=4 --gpus-per-task=1 --wrap='sleep 300')
    assert_equal "$(record_of "$first" '[.class, .claim] | tojson')" '["guaranteed",{"a100":4}]'
    assert_equal "$(record_of "$second" '[.class, .claim] | tojson')" '["guaranteed",{"v100":4}]'
    wait_state "$first" RUNNING
    wait_state "$second" RUNNING
    assert_equal "$(scontrol --details show job "$first" | grep -o 'JOB_GRES=.*')" JOB_GRES=gpu:a100:4
    assert_equal "$(scontrol --details show job "$second" | grep -o 'JOB_GRES=.*')" JOB_GRES=gpu:v100:4
    wait_for 20 claims_are vision/mix '{"a100":4,"v100":4}'
}

@test "a type of the fallback that the named nodes do not have is passed over" {
    local job
    rm -rf "$CLUSTER_DIR/contracts"
    contract_in mix a100 4 '[capacity.v100]' 'guaranteed = 8' '[capacity]' 'fallback = ["a100", "v100"]'
    govern mix
    job=$(submit vision1 --partition=mix --nodelist=n4 --gpus=1 --wrap='sleep 300')
    assert_equal "$(record_of "$job" '[.class, .claim] | tojson')" '["guaranteed",{"v100":1}]'
    wait_state "$job" RUNNING
    job=$(submit vision1 --partition=mix --exclude=n[1-2] --gpus=1 --wrap='sleep 300')
    assert_equal "$(record_of "$job" '[.class, .claim] | tojson')" '["guaranteed",{"v100":1}]'
    wait_state "$job" RUNNING
}

# bats test_tags=A05
@test "a typed request counts as its type alone and once, in the decision and in the running job" {
    local job
    govern_mix
    job=$(submit vision1 --partition=mix --nodes=1 --gres=gpu:v100:4 --wrap='sleep 300')
    assert_equal "$(record_of "$job" '[.gpus, .claim] | tojson')" '[{"v100":[4,4]},{"v100":4}]'
    wait_state "$job" RUNNING
    run scontrol --details show job "$job"
    assert_output --partial 'JOB_GRES=gpu:v100:4'
    wait_for 20 claims_are vision/mix '{"v100":4}'
    assert_equal "$(class_and_place "$(parked vision1 --partition=mix --nodes=1 --gres=gpu:a100:8)")" 'guaranteed mix vision/mix'
    assert_equal "$(class_and_place "$(parked vision1 --partition=mix --nodes=1 --gres=gpu:v100:4)")" 'guaranteed mix vision/mix'
    assert_equal "$(class_and_place "$(parked vision1 --partition=mix --nodes=1 --gres=gpu:v100:1)")" 'queued mix vision/mix'
}

# bats test_tags=A01
@test "--gpus is decided as --gres is, for a job of one node" {
    local by_job
    govern_two
    by_job=$(answer_to --partition=a100 --gpus=4 --nodes=1)
    assert_equal "$by_job" '["admitted","guaranteed","","vision/a100",{"a100":[4,4]},{"a100":4}]'
    assert_equal "$(answer_to --partition=a100 --gres=gpu:4 --nodes=1)" "$by_job"
}

# bats test_tags=A28
@test "no partition is the default one, and of a list the first is taken in which the job is guaranteed, else borrows" {
    govern_two
    assert_equal "$(class_and_place "$(parked vision1 --account=VISION --gpus=1)")" 'guaranteed a100 vision/a100'
    assert_equal "$(class_and_place "$(parked vision1 --partition=v100,a100 --gpus=1)")" 'guaranteed v100 vision/v100'
    assert_equal "$(class_and_place "$(parked vision1 --partition=a100,v100 --gpus=1)")" 'guaranteed a100 vision/a100'
    # six of a100 and three of v100 are left
    assert_equal "$(class_and_place "$(parked vision1 --partition=v100,a100 --gpus=6)")" 'guaranteed a100 vision/a100'
    assert_equal "$(class_and_place "$(parked vision1 --partition=v100,a100 --gpus=4)")" 'borrowed a100 vision/a100'
}

# bats test_tags=A28
@test "a list with a partition of which the account has no contract takes the other, and an outsider is refused" {
    local job
    govern_two
    contract_text speech 4 | sed 's/^partition = .*/partition = "v100"/; s/a100\]/v100]/' >"$CLUSTER_DIR/contracts/speech.toml"
    accord_apply
    wait_for 10 parked speech1 --partition=v100 --gpus=1
    job=$(parked speech1 --partition=a100,v100 --gpus=1)
    assert_equal "$(class_and_place "$job")" 'guaranteed v100 speech/v100'
    assert_equal "$(job_field "$job" Partition)" v100
    run as_user outsider1 sbatch --partition=a100,v100 --gpus=1 --wrap=true
    assert_failure
    assert_output --partial 'in partition a100'
    assert_output --partial '[no_contract]'
    run as_user speech1 sbatch --gpus=1 --wrap=true
    assert_failure
    assert_output --partial 'in partition a100'
    assert_output --partial '[no_contract]'
}

# bats test_tags=G05
@test "one account's contracts with two partitions count each for itself" {
    govern_two
    assert_equal "$(class_and_place "$(parked vision1 --partition=a100 --gpus=8)")" 'guaranteed a100 vision/a100'
    assert_equal "$(class_and_place "$(parked vision1 --partition=v100 --gpus=4)")" 'guaranteed v100 vision/v100'
    assert_equal "$(class_and_place "$(parked vision1 --partition=a100 --gpus=8)")" 'borrowed a100 vision/a100'
    assert_equal "$(class_and_place "$(parked vision1 --partition=v100 --gpus=1)")" 'queued v100 vision/v100'
    wait_for 20 claims_are vision/a100 '{"a100":8}'
    wait_for 20 claims_are vision/v100 '{"v100":4}'
}

# bats test_tags=G05
@test "a second file for the same account and partition is refused with both places, and the first stays in force" {
    local folder=$CLUSTER_DIR/contracts
    govern_two
    sed 's/^guaranteed = .*/guaranteed = 2/' "$folder/vision-a100.toml" >"$folder/vision-again.toml"
    run accord apply "$folder"
    assert_failure 1
    assert_output "$folder/vision-again.toml:2: account: contract vision/a100 is already in $folder/vision-a100.toml:2: keep one of them"
    policy_reload
    policy_reload
    assert_equal "$(class_and_place "$(parked vision1 --partition=a100 --gpus=8)")" 'guaranteed a100 vision/a100'
}
