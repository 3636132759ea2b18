#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# accord doctor asks every node of a real cluster, and finds the one that differs. All nodes share the machine's files: a
# node with files of its own is a slurmd in a mount namespace, where they lie over the shared ones.

load common

setup_file() { cluster_up; }

teardown() {
    show_logs_of_failed_test
    cancel_all
    if [ -e "$CLUSTER_DIR/own" ]; then
        restart_slurmd n4 true
        rm -r "$CLUSTER_DIR/own"
    fi
}

slurmd_of() { own_process "^slurmd .*-N $1\$"; }
slurmd_ended() { [ -z "$(slurmd_of "$1")" ]; }
node_ready() { [ "$(sinfo --noheader --nodes="$1" --partition=gpu --format=%T)" = idle ]; }

# restart_slurmd NODE COMMAND: after COMMAND, in a mount namespace of its own.
restart_slurmd() {
    local node=$1
    kill "$(slurmd_of "$node")"
    wait_for 15 slurmd_ended "$node"
    unshare --mount sh -c "$2 && exec slurmd -f '$SLURM_CONF' -N $node" </dev/null >>"$CLUSTER_DIR/log/slurmd.$node.out" 2>&1 3>&-
    wait_for 30 slurmd_answers "$node"
    wait_for 30 node_ready "$node"
}
slurmd_answers() { timeout 20 srun --quiet --partition=gpu-lend --nodelist="$1" --input=none true || [ $? -eq 1 ]; }

# n4_has FILE: n4 sees own/FILE where others see FILE of the cluster.
n4_has() { restart_slurmd n4 "mount --bind $CLUSTER_DIR/own/${1##*/} $CLUSTER_DIR/$1"; }
own_file() { mkdir -p "$CLUSTER_DIR/own" && cat >"$CLUSTER_DIR/own/$1"; }

right_line() { cat "$CLUSTER_DIR/plugstack.conf"; }

# findings: "NODE CONTROL: STATE" of everything that doctor found on nodes.
findings() { accord doctor --json | jq -r '.[] | select(.node != null) | "\(.node) \(.control): \(.state)"'; }
answered() { accord doctor --json | jq -r '.[] | select(.control == "nodes").found'; }

# bats test_tags=C07
@test "nodes that are all well have no finding" {
    run findings
    assert_output ''
    assert_equal "$(answered)" '4 of 4 answered'
    run accord doctor
    assert_success
}

# bats test_tags=C07
@test "the one node without the plugin's line is named, with the line and the restart" {
    own_file plugstack.conf </dev/null
    n4_has plugstack.conf
    run findings
    assert_output 'n4 plugstack.conf: missing'
    run accord doctor
    assert_failure 1
    assert_output --partial "missing: node n4: plugstack.conf: no line names spank_accord.so"
    assert_output --partial "change: $CLUSTER_DIR/plugstack.conf: required spank_accord.so; then restart slurmd"
}

# bats test_tags=C07
@test "a line that slurmd has not seen at its start makes the node refuse, and doctor says so" {
    own_file plugstack.conf </dev/null
    n4_has plugstack.conf
    right_line | own_file plugstack.conf
    run findings
    assert_output 'n4 jobs: mismatch'
    run accord doctor
    assert_output --partial 'node n4: jobs: node n4 has no verdict for job'
    assert_output --partial 'change: restart slurmd there'
}

# bats test_tags=C07
@test "an optional plugin with other settings is told from the other nodes" {
    { cat "$ACCORD_CONF"; echo '# of n4 alone'; } | own_file other.toml
    echo "optional $CLUSTER_DIR/opt/plugins/spank_accord.so conf=$CLUSTER_DIR/own/other.toml" | own_file plugstack.conf
    n4_has plugstack.conf
    run findings
    assert_output 'n4 plugstack.conf required: mismatch
n4 accord.toml contents: mismatch
n4 plugstack.conf conf=: warning'
}

# bats test_tags=C07
@test "another build of the plugin is found" {
    { cat "$CLUSTER_DIR/opt/plugins/spank_accord.so"; echo; } | own_file spank_accord.so
    n4_has opt/plugins/spank_accord.so
    run findings
    assert_output 'n4 spank_accord.so contents: mismatch'
}

# bats test_tags=C07
@test "nodes that are busy or drained are told as not asked, and are no error" {
    local busy
    busy=$(sbatch --parsable --partition=gpu --nodelist=n2 --exclusive --output=/dev/null --wrap='sleep 1000' 2>/dev/null)
    wait_state "$busy" RUNNING
    scontrol update NodeName=n3 State=DRAIN Reason=test
    run accord doctor
    scontrol update NodeName=n3 State=RESUME
    assert_success
    assert_line --regexp '^node n2: answer +warning +not asked: Requested nodes are busy$'
    assert_line --regexp '^node n3: answer +warning +not asked: down or draining$'
    assert_line --regexp '^nodes +ok +2 of 4 answered$'
    assert_equal "$(job_state "$busy")" RUNNING
}

# bats test_tags=C07
@test "who is neither root nor SlurmUser is told that nodes are not asked" {
    run as_user vision1 accord doctor
    assert_line --regexp '^nodes +warning +not asked: only root and SlurmUser ask them$'
    assert_equal "$(squeue --noheader --all --name=accord-doctor)" ''
}
