#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# From a contract's [filesystem] to what its jobs see, with every part of Accord in its place.

bats_require_minimum_version 1.5.0
load common
load grants

setup_file() {
    make --silent -C "$root" test/cluster/spank_probe.la >&2
    cluster_up --nodes 2
    cp -L "$root/test/cluster/.libs/spank_probe.so" "$CLUSTER_DIR/opt/plugins/"
    echo "optional $CLUSTER_DIR/opt/plugins/spank_probe.so" >>"$CLUSTER_DIR/plugstack.conf"
    write_contract vision 4 '[filesystem]' "hidden = [\"$CLUSTER_DIR/fs/proj\"]" "rw = [\"$CLUSTER_DIR/fs/proj/vision\"]" \
        "ro = [\"$CLUSTER_DIR/fs/datasets/public\"]" 'private = ["/tmp", "/var/tmp", "/dev/shm"]' 'login_env = true'
    write_contract speech 4 '[filesystem]' "ro = [\"$CLUSTER_DIR/fs/datasets/none\"]"
    accord_apply >&2
    wait_for 30 as_user vision1 srun --gpus=1 --time=5 true
}

look='ls proj; touch datasets/public/new; ls -A /tmp'
as_agreed="vision
touch: cannot touch 'datasets/public/new': Read-only file system"

@test "srun, sbatch and salloc give what the contract says" {
    local job
    run --separate-stderr as_user vision1 srun --gpus=1 --time=5 sh -c "{ $look; } 2>&1"
    assert_output "$as_agreed"
    run as_user vision1 salloc --gpus=1 --time=5 srun sh -c "{ $look; } 2>&1"
    assert_output --partial "$as_agreed"
    job=$(as_user vision1 sbatch --parsable --gpus=1 --time=5 --output=proj/vision/view.txt --wrap="{ $look; } 2>&1")
    wait_state "$job" COMPLETED
    assert_equal "$(cat "$CLUSTER_DIR/fs/proj/vision/view.txt")" "$as_agreed"
}

@test "every task of an array gets it" {
    local job
    job=$(as_user vision1 sbatch --parsable --gpus=1 --time=5 --array=0-3 --output=proj/vision/array-%a.txt --wrap='ls proj')
    wait_for 60 sh -c "! squeue --noheader --jobs=$job | grep -q ."
    assert_equal "$(cat "$CLUSTER_DIR"/fs/proj/vision/array-[0-3].txt)" "$(printf 'vision\n%.0s' 1 2 3 4)"
}

# bats test_tags=C09
@test "a grant that comes with a submission is replaced by the job's own" {
    local wide
    wide=$(sealed_by vision1 "$(grant_text)")
    run --separate-stderr with_grant "$wide" srun --gpus=1 --time=5 sh -c "echo \$ACCORD_DECISION; { $look; } 2>&1"
    assert_success
    refute_line '0-17'
    assert_output --partial "$as_agreed"
}

# bats test_tags=C09
@test "what a user's shell brings along runs as him alone and changes nothing" {
    local job out=$CLUSTER_DIR/fs/proj/vision/spoof.txt uids=$CLUSTER_DIR/fs/proj/vision/loaded.txt
    printf '%s\n' '#include <fcntl.h>' '#include <stdio.h>' '#include <unistd.h>' \
        '__attribute__((constructor)) static void loaded(void) {' \
        "    FILE *to = fopen(\"$uids\", \"a\"); if (to) { fprintf(to, \"%u %u\\n\", getuid(), geteuid()); fclose(to); } }" \
        >"$BATS_TEST_TMPDIR/spoof.c"
    cc -shared -fPIC -o "$BATS_TEST_TMPDIR/spoof.so" "$BATS_TEST_TMPDIR/spoof.c"
    install -m 0755 "$BATS_TEST_TMPDIR/spoof.so" "$CLUSTER_DIR/fs/proj/vision/spoof.so"
    install -m 0666 /dev/null "$uids"
    for command in 'sbatch --wait' 'sbatch --wait --export=ALL,ACCORD_CONTRACT=speech/gpu,SPANK_ACCORD_GRANT=x'; do
        # shellcheck disable=SC2086
        as_user vision1 ACCORD_CONTRACT=speech/gpu ACCORD_CLASS=exempt ACCORD_DECISION=9-9 ACCORD_CONF=/dev/null \
            SPANK_ACCORD_GRANT=forged SPANK_ACCORD_DECISION=9-9 SPANK_ACCORD_CONTRACT=speech/gpu SLURM_JOB_UID=0 \
            LD_PRELOAD="$CLUSTER_DIR/fs/proj/vision/spoof.so" \
            $command --gpus=1 --time=5 --output="$out" --wrap="echo \$ACCORD_CONTRACT \$ACCORD_CLASS; { $look; } 2>&1"
        assert_equal "$(cat "$out")" "vision/gpu guaranteed
$as_agreed"
    done
    assert_equal "$(sort -u "$uids")" "$(id -u vision1) $(id -u vision1)"
}

@test "a job's environment names its contract and the decision that its record names" {
    run --separate-stderr as_user vision1 srun --gpus=1 --time=5 sh -c \
        'echo $ACCORD_CONTRACT $ACCORD_CLASS; scontrol show job $SLURM_JOB_ID | grep -c "decision=$ACCORD_DECISION "'
    assert_output 'vision/gpu guaranteed
1'
}

@test "root's job is exempt and sees the node as it is" {
    run --separate-stderr srun --chdir="$CLUSTER_DIR/fs" --time=5 sh -c 'echo $ACCORD_CLASS; ls proj'
    assert_output 'exempt
speech
vision'
}

@test "a contract's path that the node lacks fails its jobs by name, and the node is not drained" {
    run as_user speech1 srun --gpus=1 --time=5 echo was here
    assert_failure
    assert_output --partial "$CLUSTER_DIR/fs/datasets/none: does not exist"
    refute_output --partial 'was here'
    run no_node_drained
    assert_success
}

@test "nothing of these jobs stays on the nodes" {
    wait_for 30 nodes_idle
    wait_for 30 nodes_clean
    run sh -c "ls -A /tmp /var/tmp /dev/shm | grep -F '.accord:$(cluster)'"
    assert_output ''
}
