#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Accord's counts beside what Slurm gives: hundreds of requests, each run on idle nodes. Five pools lie over the same nodes
# of two GPU types, one after the other in use.

load common
load records

setup_file() {
    make --silent -C "$root" test/cluster/counting/compare_counts >&2
    cluster_up --cluster 3x4:a100,3x4:v100 --without spank
    settle_soon
    change_nodes
    change_pools
    restart_cluster
    write_contracts
    accord_apply
    wait_for 30 shapes_are_known
}

# CPUs and memory are given out like GPUs, and users may reserve cores. The a100 have MPS, the v100 shares, eight each.
change_nodes() {
    sed -i -e '/^PrologFlags=/d' -e 's/^SelectTypeParameters=.*/SelectTypeParameters=CR_Core_Memory/' \
        -e 's/^GresTypes=.*/GresTypes=gpu,shard,mps/' -e 's/^\(NodeName=.*Gres=gpu:v100:4\)$/\1,shard:32/' \
        -e 's/^\(NodeName=.*Gres=gpu:a100:4\)$/\1,mps:400/' "$CLUSTER_DIR/slurm.conf"
    printf 'DefMemPerCPU=1000\nAllowSpecResourcesUsage=YES\nKillWait=1\n' >>"$CLUSTER_DIR/slurm.conf"
    printf 'NodeName=%s Name=%s Count=%s\n' 'n[4-6]' shard 32 'n[1-3]' mps 400 >>"$CLUSTER_DIR/gres.conf"
}

# new_pool NAME NODES GPUS SLURM-OPTION…: a governed partition and its lend partition.
new_pool() {
    local name=$1 nodes=$2 gpus=$3
    shift 3
    printf 'PartitionName=%s Nodes=%s PriorityTier=100 PreemptMode=OFF %s\n' "$name" "$nodes" "$*"
    printf 'PartitionName=%s-lend Nodes=%s PriorityTier=1 PreemptMode=REQUEUE GraceTime=0 %s\n' "$name" "$nodes" "$*"
    printf '\n[[pool]]\npartition = "%s"\nlend_partition = "%s-lend"\ngpus = { %s }\n' "$name" "$name" "$gpus" >&3
    if [ "$name" = v100 ]; then echo 'shards_per_gpu = 8' >&3; fi
}

change_pools() {
    {
        new_pool a100 'n[1-3]' 'a100 = 12'
        new_pool v100 'n[4-6]' 'v100 = 12'
        new_pool whole 'n[1-3]' 'a100 = 12' OverSubscribe=EXCLUSIVE
        new_pool pairs 'n[1-3]' 'a100 = 12' MinNodes=2
    } >>"$CLUSTER_DIR/slurm.conf" 3>>"$ACCORD_CONF"
}

# What nodes are made of is read at the daemons' start only.
restart_cluster() {
    local pid
    for pid in $(own_process slurmd) $(slurmctld_pid); do kill "$pid"; done
    wait_for 20 slurmctld_gone "$pid"
    start_again
}

# A contract with each pool, for all that it has.
write_contracts() {
    local pool type
    mkdir -p "$CLUSTER_DIR/contracts"
    for pool in a100 v100 whole pairs; do
        if [ "$pool" = v100 ]; then type=v100; else type=a100; fi
        contract_text vision 12 |
            sed "s/^partition = .*/partition = \"$pool\"/; s/^\[capacity\.a100\]/[capacity.$type]/" >"$CLUSTER_DIR/contracts/$pool.toml"
    done
    write_contract vision 12 '[capacity.v100]' 'guaranteed = 12'
}

shapes_are_known() {
    jq --exit-status '.ledger.shape.partitions | has("pairs") and has("gpu")' "$CLUSTER_DIR/accord/ledger" >/dev/null
}

# mode MODE: what Accord does with its decisions from now on.
mode() {
    sed -i "s/^mode = .*/mode = \"$1\"/" "$ACCORD_CONF"
    policy_reload
    policy_reload
}

# compare SEED COUNT: prints the result, to the test's own output as well.
compare() {
    run "$root/test/cluster/counting/compare_counts" vision1 "$CLUSTER_DIR/accord/journal" "$@"
    printf '# %s\n' "${lines[-1]}" >&3
    assert_success
}

@test "what Slurm gives lies within what was counted, is the most of it or has a known reason not to be" {
    mode observe
    compare 1 400
}

@test "so it does where the contracts are enforced, and what Slurm refuses leaves no claim" {
    local pool
    mode enforce
    compare 2 60
    wait_for 60 nothing_claimed vision1 vision/gpu --partition=gpu --gpus=a100:13
    for pool in a100 whole pairs; do
        wait_for 60 nothing_claimed vision1 "vision/$pool" --partition="$pool" --gpus=a100:13
    done
}
