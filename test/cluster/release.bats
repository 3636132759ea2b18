#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Plugins that are built for another release of Slurm than the one that opens them: who says so, and what Slurm does then.

load common
load records

setup_file() {
    cluster_up --nodes 1
    write_contract vision 4
    accord_apply
    wait_for 10 ruled_by vision1 vision 1
}

setup() {
    plugins=$CLUSTER_DIR/opt/plugins
    mark_logs
}
teardown() {
    show_logs_of_failed_test
    if node_set_aside; then scontrol update NodeName=n1 State=RESUME; fi
    start_again # with the build's own plugins
    cancel_all
}
node_set_aside() { [ "$(timeout 5 sinfo --noheader --Node --partition=gpu --format=%E 2>/dev/null)" = 'Prolog error' ]; }

# version_of MAJOR MINOR MICRO
version_of() { printf '%d.%02d.%d\n' "$@"; }

# Sets major, minor and micro to this Slurm's own.
own_release() { IFS=' .' read -r _ major minor micro < <(slurmctld -V | tr -d '[:alpha:]-' | sed 's/^/x/'); minor=$((10#$minor)); }

# built_for PLUGIN MAJOR MINOR MICRO: writes another plugin_version into the cluster's copy, which keeps its name.
built_for() {
    local file=$plugins/$1 value section address offset
    read -r value section < <(readelf --wide --dyn-syms "$file" | awk '$8 == "plugin_version" { print $2, $7 }')
    read -r address offset < <(readelf --wide --section-headers "$file" | sed -n "s/^ *\[ *$section\] *//p" | awk '{ print $3, $4 }')
    cp "$file" "$file.new"
    printf "$(printf '\\x%02x\\x%02x\\x%02x' "$4" "$3" "$2")" |
        dd of="$file.new" bs=1 seek=$((0x$value - 0x$address + 0x$offset)) conv=notrunc status=none
    mv "$file.new" "$file"
}

doctor_says() {
    run accord doctor
    assert_failure 1
    assert_output --partial "$1: built for Slurm $2, and Slurm is $(version_of "$major" "$minor" "$micro") here"
    assert_output --partial "install the Accord that is built for Slurm $(version_of "$major" "$minor" "$micro")"
}

doctor_finds() { [ "$(accord doctor --json | jq --raw-output ".[] | select(.control == \"$1\") | .state, .found" | paste -sd' ')" = "$2" ]; }

# bats test_tags=C08
@test "doctor names the release that the plugins are built for" {
    local major minor micro name
    own_release
    for name in job_submit_accord.so spank_accord.so; do
        run doctor_finds "$name release" "ok $(version_of "$major" "$minor" "$micro")"
        assert_success
    done
}

# bats test_tags=C08
@test "slurmctld does not start with a job_submit plugin of another release, and its log and doctor name both" {
    local major minor micro
    own_release
    built_for job_submit_accord.so "$major" "$minor" $((micro + 1))
    kill "$(slurmctld_pid)"
    wait_for 20 slurmctld_gone "$(slurmctld_pid)"
    : >"$CLUSTER_DIR/log/slurmctld.log"
    slurmctld -f "$SLURM_CONF" 3>&- || true
    wait_for 20 grep -q 'fatal: failed to initialize job_submit plugin' "$CLUSTER_DIR/log/slurmctld.log"
    run cat "$CLUSTER_DIR/log/slurmctld.log"
    assert_output --regexp "Incompatible Slurm plugin .*job_submit_accord.so version \($(version_of "$major" "$minor" $((micro + 1)))\)"
    doctor_says 'job_submit_accord.so release' "$(version_of "$major" "$minor" $((micro + 1)))"
}

# bats test_tags=C08
@test "a SPANK plugin of another release fails sbatch and srun by its name, and sets the node aside before a job's script runs" {
    local major minor micro job mark=$CLUSTER_DIR/fs/proj/vision/ran
    own_release
    job=$(submit vision1 --hold --wrap="touch $mark")
    built_for spank_accord.so "$major" $((minor + 1)) "$micro"
    run as_user vision1 srun true
    assert_failure
    assert_output --regexp "Incompatible Slurm plugin .*spank_accord.so version \($(version_of "$major" $((minor + 1)) "$micro")\)"
    run as_user vision1 sbatch --wrap=true
    assert_failure
    doctor_says 'spank_accord.so release' "$(version_of "$major" $((minor + 1)) "$micro")"
    as_user vision1 scontrol release "$job"
    wait_for 30 node_set_aside
    assert [ ! -e "$mark" ]
}

# bats test_tags=C08
@test "a SPANK plugin of the same release's next patch works" {
    local major minor micro
    own_release
    built_for spank_accord.so "$major" "$minor" $((micro + 1))
    run doctor_finds 'spank_accord.so release' "ok $(version_of "$major" "$minor" $((micro + 1)))"
    assert_success
    run as_user vision1 srun echo ran
    assert_success
    assert_line ran
}
