#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What a job sees of its node: sbatch, srun and salloc alike, before, during and after.

load common
load grants

setup_file() { node_cluster_up --nodes 2; }

# The team's usual scope: its own project, public data, a private /tmp.
usual() {
    local fs=$CLUSTER_DIR/fs
    granted fs="$(scope hidden="$fs/proj" rw="$fs/proj/vision" ro="$fs/datasets/public" private=/tmp "$@")"
}

look='ls proj; cat proj/vision/data.txt; cat proj/speech/data.txt; touch datasets/public/new; ls -A /tmp'
as_usual="vision
the vision team's own data
cat: proj/speech/data.txt: No such file or directory
touch: cannot touch 'datasets/public/new': Read-only file system"

@test "srun's task sees its contract's files and no others" {
    run with_grant "$(usual)" srun --account=vision sh -c "$look"
    assert_output --partial "$as_usual"
    [ ! -e "$CLUSTER_DIR/fs/datasets/public/new" ]
}

@test "sbatch's script and its steps do" {
    local job out=$CLUSTER_DIR/fs/proj/vision/batch.txt
    printf '#!/bin/sh\n{ %s; } 2>&1\necho ---\nsrun sh -c "%s"\n' "$look" "$look" >"$CLUSTER_DIR/fs/job.sh"
    job=$(with_grant "$(usual)" sbatch --parsable --account=vision --output="$out" job.sh)
    wait_state "$job" COMPLETED
    run grep -c "the vision team" "$out"
    assert_output 2
    run grep -c "speech/data.txt: No such file" "$out"
    assert_output 2
    run grep -c "Read-only file system" "$out"
    assert_output 2
}

@test "salloc with srun does" {
    run with_grant "$(usual)" salloc --account=vision srun sh -c "$look"
    assert_output --partial "$as_usual"
}

@test "every task of a job on two nodes does" {
    run with_grant "$(usual)" srun --account=vision --nodes=2 --ntasks=4 ls proj
    assert_success
    assert_output 'vision
vision
vision
vision'
}

@test "what a job writes in its project is there for others" {
    run with_grant "$(usual)" srun --account=vision sh -c 'echo made >proj/vision/made.txt'
    assert_success
    assert_equal "$(cat "$CLUSTER_DIR/fs/proj/vision/made.txt")" made
}

@test "a private folder is the job's own, shared by its steps, and gone with it" {
    local mark=/tmp/mark.$BASHPID
    touch "$mark.outside"
    run with_grant "$(usual)" salloc --account=vision sh -c \
        "srun sh -c 'stat -c %a:%U /tmp; ls -A /tmp; echo x >$mark'; srun cat $mark"
    assert_line '700:vision1'
    assert_line 'x'
    refute_output --partial 'outside'
    [ ! -e "$mark" ]
    rm "$mark.outside"
    wait_for 30 nodes_clean
    run sh -c "ls -A /tmp | grep -F .accord:$(cluster):"
    assert_output ''
}

# own_mounts: the host's mounts that have to do with this cluster, of several side by side.
own_mounts() { grep -F -e "$(cluster)" -e "$CLUSTER_DIR" /proc/self/mountinfo | cut -d' ' -f4-; }

@test "a job's files and mounts go with it, also when it is cancelled" {
    local job before
    before=$(own_mounts)
    job=$(running_job "$(usual private=/dev/shm)")
    run ls "/run/accord/$(cluster)/n1/$job.0"
    assert_output 'grant
private
verdict
view'
    assert_equal "$(stat --format=%a:%u "/run/accord/$(cluster)" "/run/accord/$(cluster)/n1/$job.0" | sort -u)" 700:0
    run sh -c "ls -A /tmp | grep -F '.accord:$(cluster):n1:$job.0'"
    assert_success
    scancel "$job"
    wait_for 30 nodes_clean
    run sh -c "ls -A /tmp /dev/shm | grep -F '.accord:$(cluster)'"
    assert_output ''
    assert_equal "$(own_mounts)" "$before"
}

@test "what a job leaves in its private folder goes, however deep" {
    run with_grant "$(usual)" srun --account=vision sh -c \
        'cd /tmp; i=0; while [ $i -lt 300 ]; do mkdir d && cd d && i=$((i+1)); done; ln -s / root; chmod 0 /tmp/d'
    assert_success
    wait_for 30 nodes_clean
    run sh -c "ls -A /tmp | grep -F '.accord:$(cluster)'"
    assert_output ''
}

@test "a killed slurmstepd leaves nothing behind" {
    local job stepd task
    job=$(running_job "$(usual)")
    stepd=$(own_process "slurmstepd: \[$job.batch\]")
    task=$(pgrep --parent "$stepd")
    kill -KILL "$stepd" "$task"
    scancel "$job"
    wait_for 60 nodes_clean
    wait_for 60 nodes_idle
}

@test "a slurmd killed with its slurmstepd leaves nothing behind once it is back" {
    local job pid
    job=$(running_job "$(usual)" --no-requeue)
    pid=$(cat "$CLUSTER_DIR/run/slurmd.n1.pid")
    kill -KILL "$pid" $(own_process "slurmstepd: \[$job.batch\]") $(pgrep --parent "$(own_process "slurmstepd: \[$job.batch\]")")
    run test -e "/run/accord/$(cluster)/n1/$job.0"
    assert_success
    "$root/scripts/devcluster" up --dir "$CLUSTER_DIR" >&2
    scancel "$job"
    wait_for 60 nodes_idle
    run with_grant "$(usual)" srun --account=vision --nodelist=n1 ls proj
    assert_output vision
    wait_for 60 nodes_clean
    run sh -c "ls -A /tmp | grep -F '.accord:$(cluster)'"
    assert_output ''
}

@test "a running job outlives its slurmd, and the next step sees what the first did" {
    local job
    job=$(running_job "$(usual)")
    interrupt_slurmd n1
    "$root/scripts/devcluster" up --dir "$CLUSTER_DIR" >&2
    run as_user vision1 srun --jobid="$job" --overlap ls proj
    assert_output vision
    scancel "$job"
    wait_for 60 nodes_idle
    wait_for 60 nodes_clean
}

@test "what a crash left on a disk goes with the next job that had that folder" {
    mkdir -p "/tmp/.accord:$(cluster):n1:9999.0/d/deep" "/tmp/.accord:$(cluster):n7:9999.0"
    run with_grant "$(usual)" srun --account=vision true
    assert_success
    wait_for 30 nodes_clean
    [ ! -e "/tmp/.accord:$(cluster):n1:9999.0" ]
    rmdir "/tmp/.accord:$(cluster):n7:9999.0"
}

@test "a requeued job gets a view of its own" {
    local job
    job=$(with_grant "$(usual)" sbatch --parsable --requeue --account=vision --output=proj/vision/requeue.txt \
        --open-mode=append --wrap='ls -A /tmp; touch /tmp/mark; ls proj; sleep 300')
    wait_for 30 grep -q vision "$CLUSTER_DIR/fs/proj/vision/requeue.txt"
    scontrol requeue "$job"
    wait_state "$job" PENDING
    wait_for 60 sh -c "[ \$(grep -c vision '$CLUSTER_DIR/fs/proj/vision/requeue.txt') = 2 ]"
    run grep -c mark "$CLUSTER_DIR/fs/proj/vision/requeue.txt"
    assert_output 0
    scancel "$job"
    wait_for 30 nodes_clean
}

@test "a path that does not exist refuses the job by name, and the node is not drained" {
    run with_grant "$(usual ro="$CLUSTER_DIR/fs/datasets/none")" srun --account=vision echo was here
    assert_failure
    assert_output --partial "$CLUSTER_DIR/fs/datasets/none: does not exist"
    refute_output --partial 'was here'
    run no_node_drained
    assert_success
    wait_for 30 nodes_clean
}

@test "a link that leaves its folder refuses the job by name" {
    as_user vision1 ln -s ../speech proj/vision/out
    run with_grant "$(usual rw="$CLUSTER_DIR/fs/proj/vision/out")" srun --account=vision echo was here
    assert_failure
    assert_output --partial "$CLUSTER_DIR/fs/proj/vision/out: has a link in it that leaves its folder"
    rm "$CLUSTER_DIR/fs/proj/vision/out"
}

@test "a path outside scope_roots, or of the system's, refuses the job by name" {
    run with_grant "$(usual hidden=/opt)" srun --account=vision true
    assert_failure
    assert_output --partial "/opt: cannot be in a scope"
    run with_grant "$(usual hidden=/etc)" srun --account=vision true
    assert_failure
    assert_output --partial "/etc: cannot be in a scope: /etc is the system's own"
}

@test "a path that the user may not reach refuses the job" {
    run with_grant "$(usual ro="$CLUSTER_DIR/fs/proj/speech/data.txt")" srun --account=vision true
    assert_failure
    assert_output --partial "$CLUSTER_DIR/fs/proj/speech/data.txt: cannot be reached: Permission denied"
}

# bats test_tags=C02
@test "a task knows where it is" {
    run with_grant "$(usual)" srun --account=vision --chdir="$CLUSTER_DIR/fs/proj/vision" sh -c \
        'pwd -P; readlink /proc/self/cwd; ls data.txt'
    assert_output "$CLUSTER_DIR/fs/proj/vision
$CLUSTER_DIR/fs/proj/vision
data.txt"
}

# bats test_tags=C02
@test "a task whose working directory the view has anew is in the new one" {
    local mark=mark.$BASHPID
    touch "/tmp/$mark"
    run with_grant "$(usual)" srun --account=vision --chdir=/tmp sh -c \
        "pwd -P; readlink /proc/self/cwd; ls -A; touch inside; ls -A /tmp; [ . -ef /tmp ]"
    rm "/tmp/$mark"
    assert_success
    assert_output '/tmp
/tmp
inside'
    [ ! -e /tmp/inside ]
}

@test "a working directory that the view does not show refuses the task" {
    chmod 0755 "$CLUSTER_DIR/fs/proj/speech"
    run with_grant "$(usual)" srun --account=vision --chdir="$CLUSTER_DIR/fs/proj/speech" echo was here
    chmod 2770 "$CLUSTER_DIR/fs/proj/speech"
    assert_failure
    assert_output --partial "the working directory $CLUSTER_DIR/fs/proj/speech is not in the job's view"
    refute_output --partial 'was here'
}

@test "standard output in a file that the view does not show refuses the task" {
    local job out=/tmp/outside.$BASHPID
    job=$(with_grant "$(usual)" sbatch --parsable --account=vision --output="$out" --wrap='echo was here')
    wait_state "$job" FAILED
    run cat "$out"
    assert_output --partial "accord: $out is not in the job's view"
    refute_output --partial 'was here'
    rm "$out"
}

@test "a job without a scope keeps the node's view, and gains no rights" {
    run with_grant "$(granted)" srun --account=vision sh -c 'ls proj; grep NoNewPrivs /proc/self/status'
    assert_line speech
    assert_line --regexp 'NoNewPrivs:.*1'
}

@test "no_new_privs = false leaves set-uid programs to work" {
    accord_toml 's/^ungranted = .*/&\nno_new_privs = false/'
    run with_grant "$(usual)" srun --account=vision grep NoNewPrivs /proc/self/status
    restore_accord_toml
    assert_output --regexp 'NoNewPrivs:.*0'
}

# bats test_tags=C06,D04
@test "Slurm's own files stay, even where a contract hides the folder that they are in" {
    local job out=$CLUSTER_DIR/fs/proj/vision/needs.txt fs=$CLUSTER_DIR/fs
    job=$(with_grant "$(granted fs="$(scope hidden="$CLUSTER_DIR" rw="$fs/proj/vision" private=/tmp)")" \
        sbatch --parsable --account=vision --chdir="$fs/proj/vision" --output="$out" \
        --wrap="ls $CLUSTER_DIR $fs; srun --ntasks=1 echo a step; scontrol show config | grep -c ClusterName")
    wait_state "$job" COMPLETED
    run cat "$out"
    assert_line 'a step'
    assert_line '1'
    refute_line --partial 'datasets'
    refute_line --partial 'accord.toml'
}

# hooks_have_one_thread: runs a job, and looks at what the other plugin wrote down.
hooks_have_one_thread() {
    truncate --size=0 "$CLUSTER_DIR/threads"
    run with_grant "$(usual)" srun --account=vision hostname
    assert_success
    wait_for 30 grep -q epilog "$CLUSTER_DIR/threads"
    run sort "$CLUSTER_DIR/threads"
    assert_output 'epilog 1
prolog 1
task_init 1
task_init_privileged 1'
}

# bats test_tags=C01
@test "every hook has one thread" { hooks_have_one_thread; }

# bats test_tags=C09
@test "what a user puts into his environment changes nothing" {
    run with_grant "$(usual)" env ACCORD_CONTRACT=speech/gpu ACCORD_CLASS=guaranteed ACCORD_CONF=/dev/null \
        SPANK_ACCORD_GRANT=forged SPANK_ACCORD_DECISION=9-9 SLURMD_NODENAME=n2 SLURM_CLUSTER_NAME=elsewhere \
        SLURM_RESTART_COUNT=5 SLURM_JOB_ACCOUNT=speech \
        srun --account=vision --partition=gpu-lend sh -c "echo \$ACCORD_CONTRACT \$ACCORD_CLASS \$ACCORD_DECISION; $look"
    assert_output --partial "vision/gpu borrowed 0-17
$as_usual"
}

# fake_libraries NAME…: prints a folder of the user's with libraries of these names that end whatever loads them.
fake_libraries() {
    local folder name
    folder=$(as_user vision1 mktemp -d "$CLUSTER_DIR/fs/proj/vision/fake-XXXXXX")
    chmod 0755 "$folder"
    printf '__attribute__((constructor)) static void loaded(void) { __builtin_trap(); }\n' >"$BATS_TEST_TMPDIR/fake.c"
    cc -shared -fPIC -o "$BATS_TEST_TMPDIR/fake.so" "$BATS_TEST_TMPDIR/fake.c"
    for name in "$@"; do install -m 0755 "$BATS_TEST_TMPDIR/fake.so" "$folder/$name"; done
    printf '%s\n' "$folder"
}

# bats test_tags=C10
@test "no library of the user's is loaded on a node" {
    local fake
    fake=$(fake_libraries libaccord.so libaccord.so.0 libmunge.so.2 libfmt.so.9 libstdc++.so.6)
    run with_grant "$(usual)" srun --account=vision --export="ALL,LD_LIBRARY_PATH=$fake,LD_PRELOAD=" ls proj
    assert_success
    assert_output vision
    # the plugins have no search path of their own, and need nothing that only a search path would find
    run readelf --dynamic "$CLUSTER_DIR/opt/plugins/spank_accord.so" "$CLUSTER_DIR/opt/plugins/job_submit_accord.so"
    refute_output --regexp '\((RPATH|RUNPATH)\)'
    refute_output --partial 'libaccord.so'
}

# bats test_tags=C10
@test "a libaccord in the submitter's own search path is loaded neither there nor on a node" {
    local fake out=$CLUSTER_DIR/fs/proj/vision/library.txt
    fake=$(fake_libraries libaccord.so libaccord.so.0 spank_accord.so)
    run with_grant "$(usual)" LD_LIBRARY_PATH="$fake" srun --account=vision ls proj
    assert_success
    assert_output vision
    run with_grant "$(usual)" LD_LIBRARY_PATH="$fake" sbatch --wait --account=vision --output="$out" --wrap='ls proj'
    assert_success
    assert_equal "$(cat "$out")" vision
}

# bats test_tags=C16
@test "the view does not depend on what of the environment goes along" {
    local export
    for export in ALL NONE NIL; do
        run with_grant "$(usual)" srun --account=vision --export="$export" /bin/ls "$CLUSTER_DIR/fs/proj"
        assert_output vision
    done
    local job
    for export in NONE NIL; do
        job=$(with_grant "$(usual)" sbatch --parsable --account=vision --export="$export" \
            --output="proj/vision/export-$export.txt" --wrap='/bin/ls proj')
        wait_state "$job" COMPLETED
        assert_equal "$(cat "$CLUSTER_DIR/fs/proj/vision/export-$export.txt")" vision
    done
}

# bats test_tags=C01
@test "beside job_container/tmpfs every hook has one thread and the contract's view is the one that counts" {
    mkdir -p "$CLUSTER_DIR/containers"
    sed -i -e 's/^PrologFlags=.*/PrologFlags=Alloc,Contain/' -e '$aJobContainerType=job_container/tmpfs' "$CLUSTER_DIR/slurm.conf"
    printf 'AutoBasePath=true\nBasePath=%s/containers\n' "$CLUSTER_DIR" >"$CLUSTER_DIR/job_container.conf"
    restart_daemons
    hooks_have_one_thread
    run with_grant "$(usual)" srun --account=vision sh -c "$look"
    assert_output --partial "$as_usual"
    touch "/tmp/mark.$BASHPID"
    run with_grant "$(granted)" srun --account=vision ls proj /tmp
    rm "/tmp/mark.$BASHPID"
    assert_line speech
    refute_output --partial mark
    wait_for 30 nodes_clean
}
