#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Which grants a node takes, what a job without one meets, and that no refusal drains a node.

load common
load grants

setup_file() { node_cluster_up --nodes 2; }

teardown() {
    restore_accord_toml
    show_logs_of_failed_test
}

# refused GRANT: the job of this grant ends with one sentence about it, and the node stays.
refused() {
    run with_grant "$1" srun --account=vision echo was here
    assert_failure
    refute_output --partial 'was here'
    assert_output --partial "accord: node n1 refuses job"
    run no_node_drained
    assert_success
    wait_for 30 nodes_idle
}

@test "a job with its own grant runs and is told what it runs as" {
    run with_grant "$(granted)" srun --account=vision sh -c 'echo $ACCORD_CONTRACT $ACCORD_CLASS $ACCORD_DECISION'
    assert_success
    assert_output 'vision/gpu guaranteed 0-17'
}

@test "a job in the lend partition is told that it is borrowed" {
    run with_grant "$(granted)" srun --account=vision --partition=gpu-lend sh -c 'echo $ACCORD_CLASS'
    assert_success
    assert_output 'borrowed'
}

@test "an account is the same in any case" {
    run with_grant "$(granted)" srun --account=VISION echo was here
    assert_success
}

@test "a job without a grant is refused with the reason" {
    refused ''
    run as_user vision1 srun --account=vision true
    assert_output --partial 'it has no grant'
}

@test "a batch job without a grant fails with the reason on its stderr, and the node is not drained" {
    local job out=$CLUSTER_DIR/fs/proj/vision/refused.txt
    job=$(as_user vision1 sbatch --parsable --account=vision --output="$out" --wrap='echo was here')
    wait_state "$job" FAILED
    run cat "$out"
    assert_output --partial 'it has no grant'
    refute_output --partial 'was here'
    run no_node_drained
    assert_success
}

@test "a grant that the user sealed is refused" {
    refused "$(sealed_by vision1 "$(grant_text)")"
    assert_equal "$(grep -c "sealed by uid $(id -u vision1), not by SlurmUser" "$CLUSTER_DIR/log/slurmd.n1.log")" 1
}

@test "a grant that root sealed is refused where SlurmUser is not root" { refused "$(sealed_by root "$(grant_text)")"; }

@test "another user's grant is refused" { refused "$(granted uid="$(id -u vision2)")"; }

@test "another account's grant is refused" { refused "$(granted account='"speech"')"; }

@test "another cluster's and another pool's grant is refused" {
    refused "$(granted cluster='"elsewhere"')"
    refused "$(granted pool='"cpu"')"
}

@test "an ended contract's grant is refused" { refused "$(granted valid_until_s=1767225601)"; }

@test "what is sealed but no grant is refused" {
    refused "$(granted kind='"token"')"
    refused "$(granted version=2)"
    refused "$(granted uid=-1)"
    refused "$(sealed_by slurm 'hello')"
    refused "$(sealed_by slurm "$(grant_text) ")"
    refused 'MUNGE:AwQFAAAA:'
}

@test "a grant serves again after the job was requeued" {
    local job
    job=$(running_job "$(granted)" --requeue)
    scontrol requeue "$job"
    wait_state "$job" PENDING
    wait_state "$job" RUNNING 60
    wait_for 30 test -e "/run/accord/$(cluster)/n1/$job.1/verdict"
    run ls "/run/accord/$(cluster)/n1"
    assert_output "$job.1"
    scancel "$job"
    wait_for 30 nodes_idle
}

@test "without munge on a node its governed jobs are refused" {
    accord_toml 's|^socket = ".*munge.sock"|socket = "/nonexistent/munge.sock"|'
    refused "$(granted)"
}

@test "without a readable accord.toml nobody but root starts" {
    echo 'cluster = ' >"$CLUSTER_DIR/accord.toml"
    refused "$(granted)"
    run srun --chdir=/ echo root was here
    assert_output 'root was here'
}

@test "accord.toml of another cluster is not taken for this one's" {
    accord_toml 's/^cluster = .*/cluster = "elsewhere"/'
    refused "$(granted)"
}

@test "ungranted = \"log\" lets older jobs run, but not a forged grant" {
    accord_toml 's/^ungranted = .*/ungranted = "log"/'
    run as_user vision1 srun --account=vision echo was here
    assert_output 'was here'
    refused "$(sealed_by vision1 "$(grant_text)")"
}

@test "observe mode refuses and changes nothing on a node" {
    accord_toml 's/^mode = .*/mode = "observe"/'
    run with_grant "$(granted fs="$(scope hidden="$CLUSTER_DIR/fs/proj")")" srun --account=vision ls proj
    assert_output 'speech
vision'
    run as_user vision1 srun --account=vision echo was here
    assert_output 'was here'
    run with_grant "$(sealed_by vision1 "$(grant_text)")" srun --account=vision echo was here
    assert_output 'was here'
}

@test "an exempt job runs as the node is, whatever its account" {
    local grant
    grant=$(granted exempt=true contract='""' contract_version=0 valid_until_s=0 uid=0 account='""')
    run env TEST_GRANT="$grant" srun --chdir=/ --account=other sh -c \
        'echo $ACCORD_CLASS; grep NoNewPrivs /proc/self/status'
    assert_line 'exempt'
    assert_line --regexp 'NoNewPrivs:.*0'
}

@test "a job on an ungoverned partition needs no grant and is left alone" {
    echo 'PartitionName=cpu Nodes=ALL' >>"$CLUSTER_DIR/slurm.conf"
    scontrol reconfigure
    wait_for 10 sh -c 'sinfo --noheader --partition=cpu | grep -q idle'
    run as_user vision1 srun --partition=cpu sh -c 'echo "class=$ACCORD_CLASS"; grep NoNewPrivs /proc/self/status'
    assert_success
    assert_line 'class='
    assert_line --regexp 'NoNewPrivs:.*0'
}

# bats test_tags=C07
@test "a task on a node that has no verdict of its job is refused" {
    local job
    job=$(running_job "$(granted)")
    rm "/run/accord/$(cluster)/n1/$job.0/verdict"
    run as_user vision1 srun --jobid="$job" --overlap echo was here
    assert_failure
    assert_output --partial "accord: node n1 has no verdict for job $job"
    refute_output --partial 'was here'
    run no_node_drained
    assert_success
    scancel "$job"
    wait_for 30 nodes_idle
}

# bats test_tags=C07
@test "another start's verdict is not taken" {
    local job
    job=$(running_job "$(granted)")
    cp -a "/run/accord/$(cluster)/n1/$job.0" "/run/accord/$(cluster)/n1/$job.1"
    run as_user vision1 srun --jobid="$job" --overlap echo was here
    assert_failure
    assert_output --partial "has no verdict"
    scancel "$job"
    wait_for 30 nodes_idle
    wait_for 30 nodes_clean
}

# what_doctor_finds NODE-CONTROL: its state on this host as a compute node.
what_doctor_finds() { accord doctor --node --json | jq --raw-output ".[] | select(.control == \"$1\") | .state"; }

# bats test_tags=C07
@test "a node whose plugstack.conf lacks the plugin, or makes it optional, is found by doctor" {
    local file=$CLUSTER_DIR/plugstack.conf
    cp "$file" "$file.first"
    assert_equal "$(what_doctor_finds plugstack.conf) $(what_doctor_finds 'plugstack.conf required')" 'ok ok'
    sed -i '/spank_accord/d' "$file"
    run accord doctor --node
    assert_failure 1
    assert_output --partial "required spank_accord.so"
    assert_equal "$(what_doctor_finds plugstack.conf)" missing
    sed 's/^required \(.*spank_accord\)/optional \1/' "$file.first" >"$file"
    run accord doctor --node
    assert_failure 1
    assert_equal "$(what_doctor_finds 'plugstack.conf required')" mismatch
    mv "$file.first" "$file"
}

@test "a refused job leaves nothing on its node" {
    refused ''
    wait_for 30 nodes_clean
}
