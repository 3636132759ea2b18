#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# From contract files to what slurmctld does with the next job.

load common

setup_file() { cluster_up --nodes 1; }
teardown_file() {
    cluster_down
    userdel accordlate 2>/dev/null || true
    userdel accordmember 2>/dev/null || true
    groupdel accordgroup 2>/dev/null || true
}

# one_gpu USER ACCOUNT: a job of one GPU; prints what sbatch says, and cancels it.
one_gpu() {
    local job
    job=$(submit "$1" --account="$2" --gres=gpu:1 --wrap 'sleep 600' 2>&1) || {
        printf '%s\n' "$job"
        return 1
    }
    scancel "$(tail -n 1 <<<"$job")"
    printf '%s\n' "$job"
}

@test "a contract that is applied governs the next job, and slurmctld is not reconfigured" {
    run one_gpu vision1 vision
    assert_failure
    assert_output --partial '[no_contract]'
    write_contract vision 2
    accord apply "$CLUSTER_DIR/contracts"
    one_gpu vision1 vision
    run one_gpu outsider1 vision
    assert_failure
    assert_output --partial '[not_member]'
    run accord decisions --reason not_member
    assert_output --partial ' outsider1 '
}

# bats test_tags=H02,H04
@test "one bad file stops all, and the contracts in force stay so" {
    write_contract speech 1
    write_contract vision '"2"'
    run accord_apply
    assert_failure 1
    assert_output --partial "contracts/vision.toml:21: capacity.a100.guaranteed: found the string \"2\""
    one_gpu vision1 vision
    run one_gpu speech1 speech
    assert_failure
    assert_output --partial '[no_contract]'
    write_contract vision 2
    accord_apply
    one_gpu speech1 speech
}

# bats test_tags=H01,H02,H03,H04
@test "each kind of mistake names its line and what would be right, and what is in force stays" {
    local line expected
    while IFS='|' read -r line expected; do
        write_contract vision 2
        sed -i "s/$line/" "$CLUSTER_DIR/contracts/vision.toml"
        run accord apply "$CLUSTER_DIR/contracts"
        assert_failure 1
        assert_output --partial "contracts/vision.toml:$expected"
        one_gpu vision1 vision
    done <<'EOF'
^guaranteed/guarentee|21: capacity.a100.guarentee: unknown key; did you mean guaranteed?
^guaranteed.*/guaranteed = 2\nvalid_until = 2099-12-31|22: capacity.a100.valid_until: unknown key here; it belongs to the top level
^valid_until.*/valid_until = 2099-12-31Z|6: valid_until: found 2099-12-31Z, and a date has no zone
^guaranteed.*/guaranteed = 2.0|21: capacity.a100.guaranteed: found the float 2.0
^account.*/account = 2|2: account: found the integer 2
EOF
    assert_equal "$(accord contract list --json | jq --compact-output 'map(.version) | unique')" '[1]'
    write_contract vision 2
}

# bats test_tags=H03
@test "a contract ends with the end of its last day, named in UTC" {
    local yesterday
    yesterday=$(date --date=yesterday +%F)
    sed -i "s/^valid_until = .*/valid_until = $yesterday/" "$CLUSTER_DIR/contracts/speech.toml"
    accord_apply
    run one_gpu speech1 speech
    assert_output --partial '[not_active]'
    assert_output --partial "$(date --utc --date="$(date +%F) - 1 second" +%FT%TZ)"
}

# bats test_tags=G04
@test "who does not exist when a contract names him is a member once he does" {
    sed -i 's/^groups = .*/&\nusers = ["accordlate"]/' "$CLUSTER_DIR/contracts/vision.toml"
    run accord_apply
    assert_success
    assert_output --partial 'there is no user accordlate yet'
    useradd --system --no-create-home --home-dir /nonexistent --shell /bin/bash accordlate
    wait_for 60 one_gpu accordlate vision
}

# bats test_tags=G04
@test "a group that does not exist when a contract names it brings its members once it does" {
    write_contract speech 2
    sed -i 's/^groups = .*/groups = ["speech", "accordgroup"]/' "$CLUSTER_DIR/contracts/speech.toml"
    run accord_apply
    assert_success
    assert_output --partial 'there is no group accordgroup yet'
    one_gpu speech1 speech
    groupadd --system accordgroup
    useradd --system --no-create-home --home-dir /nonexistent --shell /bin/bash --gid accordgroup accordmember
    wait_for 60 one_gpu accordmember speech
}

@test "the store belongs to SlurmUser, whoever applied what is in it" {
    run stat --format='%U %G %a' "$CLUSTER_DIR/accord/contracts.db"
    assert_output 'slurm accord-admin 640'
    run accord contract history vision --json
    assert_output --partial '"who": "root"'
}

@test "once accord apply has returned, every job is judged by what was applied" {
    local limit version
    for limit in 0 1 2 3 2; do
        write_contract vision 2 "borrow_limit = $limit"
        run accord apply "$CLUSTER_DIR/contracts"
        assert_success
        refute_output --partial warning
        version=$(sed -n 's#^vision/gpu: changed, version \([0-9]*\),.*#\1#p' <<<"$output")
        one_gpu vision1 vision
        assert_equal "$(accord decisions --json | jq 'last.contract_version')" "$version"
    done
    assert_equal "$(accord doctor --json | jq -r '.[] | select(.control == "contracts taken").state')" ok
}

@test "accord apply says so where slurmctld hangs and has not taken it up" {
    local pid
    pid=$(cat "$CLUSTER_DIR/run/slurmctld.pid")
    write_contract vision 2 'borrow_limit = 1'
    kill -STOP "$pid"
    run accord apply "$CLUSTER_DIR/contracts"
    kill -CONT "$pid"
    assert_success
    assert_output --partial 'warning: slurmctld has not taken this up yet'
    run accord apply "$CLUSTER_DIR/contracts"
    refute_output --partial warning
}
