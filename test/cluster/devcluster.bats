#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/devcluster: a plain Slurm that comes up, runs jobs, stands beside another and leaves nothing behind.

load common

setup_file() { cluster_up --bare; }

# What a cluster's directory tells of its processes, in whatever program.
processes_of() { grep -lzE "^(SLURM_CONF|ACCORD_CONF)=$1/" /proc/[0-9]*/environ 2>/dev/null | grep -v "/$BASHPID/"; }
daemons_of() {
    local file
    processes_of "$1" | while read -r file; do
        readlink "${file%/environ}/exe" | grep -E '/(slurmctld|slurmd|slurmstepd|munged|accordd)(-wlm)?$'
    done
}
mounts_under() { awk -v dir="$1/" 'index($5, dir) == 1 { print $5 }' /proc/self/mountinfo; }

kill_daemons() {
    local file
    processes_of "$1" | while read -r file; do
        case $(readlink "${file%/environ}/exe") in
            */slurm* | */munged) kill -KILL "$(basename "${file%/environ}")" || true ;;  # it may have ended since
        esac
    done
}

@test "four nodes are idle" {
    run sinfo --noheader --partition=gpu --format='%D %T'
    assert_output '4 idle'
    run "$root/scripts/devcluster" status --dir "$CLUSTER_DIR"
    assert_success
}

@test "a job that asks for four GPUs sees four" {
    run as_user vision1 srun --gres=gpu:4 sh -c 'echo $CUDA_VISIBLE_DEVICES'
    assert_success
    assert_output '0,1,2,3'
}

@test "a job of the lend partition gives way to one of the governed partition and comes back" {
    local lent owner
    lent=$(submit speech1 --partition=gpu-lend --nodes=4 --gpus-per-node=4 --wrap='sleep 300')
    wait_state "$lent" RUNNING
    owner=$(submit vision1 --nodes=4 --gpus-per-node=4 --wrap='sleep 300')
    wait_state "$owner" RUNNING
    wait_state "$lent" PENDING
    assert_equal "$(job_field "$lent" Restarts)" 1
    scancel "$owner"
    wait_state "$lent" RUNNING 60
    cancel_all
}

@test "an ordinary user reaches his team's files and not the other team's" {
    run as_user vision1 cat proj/vision/data.txt datasets/public/data.txt
    assert_success
    run as_user vision1 cat proj/speech/data.txt
    assert_failure
    assert_output --partial 'Permission denied'
}

@test "two clusters stand side by side" {
    local other
    other=$(new_cluster_dir)
    "$root/scripts/devcluster" up --dir "$other" --bare --cluster 1x2:a100,1x8:v100
    run env SLURM_CONF="$other/slurm.conf" sinfo --noheader --partition=gpu --Node --format='%N %G'
    assert_line 'n1 gpu:a100:2'
    assert_line 'n2 gpu:v100:8'
    run sinfo --noheader --partition=gpu --format='%D %T'
    assert_output '4 idle'
    "$root/scripts/devcluster" down --dir "$other"
    [ ! -e "$other" ]
    run "$root/scripts/devcluster" status --dir "$CLUSTER_DIR"
    assert_success
}

@test "up on a cluster that lost daemons starts them again, and its jobs live on" {
    local job
    job=$(submit vision1 --gres=gpu:1 --wrap='sleep 300')
    wait_state "$job" RUNNING
    # slurmctld writes its state some seconds after a change, and forgets what came after.
    touch "$BATS_TEST_TMPDIR/running"
    scontrol update JobId="$job" Comment=kept
    wait_for 30 test "$CLUSTER_DIR/state/job_state" -nt "$BATS_TEST_TMPDIR/running"
    kill -KILL "$(cat "$CLUSTER_DIR/run/slurmctld.pid")" "$(cat "$CLUSTER_DIR/run/slurmd.n3.pid")"
    run "$root/scripts/devcluster" status --dir "$CLUSTER_DIR"
    assert_failure
    assert_line --regexp '^slurmctld +down$'
    assert_line --regexp '^n3 +down$'
    "$root/scripts/devcluster" up --dir "$CLUSTER_DIR"
    assert_equal "$(job_state "$job")" RUNNING
    cancel_all
}

@test "down ends running jobs and leaves no process, no mount and no file" {
    local other
    other=$(new_cluster_dir)
    "$root/scripts/devcluster" up --dir "$other" --bare --nodes 1
    env SLURM_CONF="$other/slurm.conf" sbatch --chdir=/ --output=/dev/null \
        --wrap='trap "" TERM; env -i sleep 987654 & while :; do sleep 1; done'
    wait_for 30 env SLURM_CONF="$other/slurm.conf" sh -c 'squeue --noheader --states=RUNNING | grep -q .'
    mount --bind "$other/fs" "$other/fs/proj"
    "$root/scripts/devcluster" down --dir "$other"
    run daemons_of "$other"
    assert_output ''
    run processes_of "$other"
    assert_output ''
    run sh -c 'grep -lzx "98765[4]" /proc/[0-9]*/cmdline 2>/dev/null'
    assert_output ''
    run mounts_under "$other"
    assert_output ''
    [ ! -e "$other" ]
}

@test "down works after everything was killed" {
    local other
    other=$(new_cluster_dir)
    "$root/scripts/devcluster" up --dir "$other" --bare --nodes 2
    env SLURM_CONF="$other/slurm.conf" sbatch --nodes=2 --chdir=/ --output=/dev/null --wrap='sleep 300'
    wait_for 30 env SLURM_CONF="$other/slurm.conf" sh -c 'squeue --noheader --states=RUNNING | grep -q .'
    kill_daemons "$other"
    "$root/scripts/devcluster" down --dir "$other"
    run processes_of "$other"
    assert_output ''
    [ ! -e "$other" ]
    run "$root/scripts/devcluster" down --dir "$other"
    assert_success
}

@test "a directory that is no cluster is left alone" {
    local other
    other=$(new_cluster_dir)
    touch "$other/mine"
    run "$root/scripts/devcluster" up --dir "$other" --bare
    assert_failure
    run "$root/scripts/devcluster" down --dir "$other"
    assert_failure
    [ -e "$other/mine" ]
    rm -r "$other"
}

@test "what devcluster cannot do it refuses by name" {
    run "$root/scripts/devcluster" up --accounting slurmdbd
    assert_failure 1
    assert_output --partial 'slurmdbd'
    run "$root/scripts/devcluster" up --cluster 2x8
    assert_failure 2
    assert_output --partial '2x8'
    run "$root/scripts/devcluster" up --no-such
    assert_failure 2
    assert_output --partial '--no-such'
}
