#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The cluster that scripts/devcluster makes is governed as it comes: contracts applied to it decide at once.

load common

setup_file() {
    cluster_up
    write_contract vision 8
    write_contract speech 8
    accord_apply
}

@test "every daemon is up, accordd among them" {
    run "$root/scripts/devcluster" status --dir "$CLUSTER_DIR"
    assert_success
    assert_line --regexp '^accordd +[0-9]+$'
}

@test "a member's job is guaranteed, sees its GPUs and runs in its own view of the files" {
    run as_user vision1 srun --gres=gpu:4 sh -c 'echo $CUDA_VISIBLE_DEVICES $ACCORD_CONTRACT $ACCORD_CLASS'
    assert_success
    assert_line '0,1,2,3 vision/gpu guaranteed'
}

@test "an outsider's job is rejected with the reason" {
    run as_user outsider1 sbatch --account=vision --gres=gpu:1 --wrap=true
    assert_failure
    assert_line --regexp '^sbatch: error: accord: .* \[not_member\]$'
}

@test "after accordd and slurmctld were killed, up starts them again and they know the contracts" {
    kill -KILL "$(cat "$CLUSTER_DIR/run/slurmctld.pid")"
    kill -KILL "$("$root/scripts/devcluster" status --dir "$CLUSTER_DIR" | sed -n 's/^accordd *//p')"
    "$root/scripts/devcluster" up --dir "$CLUSTER_DIR"
    run as_user speech1 srun --gres=gpu:1 sh -c 'echo $ACCORD_CONTRACT'
    assert_success
    assert_line 'speech/gpu'
}

@test "down leaves nothing of a governed cluster, whose nodes were in the middle of a job" {
    local other
    other=$(new_cluster_dir)
    "$root/scripts/devcluster" up --dir "$other" --nodes 1
    # root is exempt as soon as accordd has looked up who is.
    wait_for 30 env SLURM_CONF="$other/slurm.conf" sbatch --chdir=/ --output=/dev/null --gres=gpu:1 \
        --partition=gpu --wrap='sleep 300'
    wait_for 30 env SLURM_CONF="$other/slurm.conf" sh -c 'squeue --noheader --states=RUNNING | grep -q .'
    "$root/scripts/devcluster" down --dir "$other"
    run grep -F "$other" /proc/self/mountinfo
    assert_output ''
    run find /run/accord -mindepth 1 -path "*$(basename "$other" | tr 'A-Z' 'a-z')*"
    assert_output ''
    [ ! -e "$other" ]
}
