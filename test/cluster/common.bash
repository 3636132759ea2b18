# SPDX-License-Identifier: GPL-2.0-or-later
# What the cluster tests share. Each file brings its own cluster up in setup_file and takes it down in teardown_file.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/scripts/lib/shell.sh"
load /usr/lib/bats/bats-support/load.bash
load /usr/lib/bats/bats-assert/load.bash

# bats gives each test the PATH of its own start: the cluster's programs go in front of it again.
if [ -n "${CLUSTER_DIR:-}" ]; then PATH=$CLUSTER_DIR/opt/bin:$PATH; fi

# new_cluster_dir: makes an empty directory that ordinary users can reach, outside of what jobs hide or get anew.
# cluster_down removes it, whatever a failed test left there.
new_cluster_dir() {
    local made
    made=$(mktemp -d /srv/accord-test-XXXXXX)
    chmod 0755 "$made"
    printf '%s\n' "$made" | tee -a "$BATS_FILE_TMPDIR/cluster_dirs"
}

# cluster_up [OPTION…]: a cluster of this file's own, with scripts/devcluster's options; sets CLUSTER_DIR, SLURM_CONF,
# ACCORD_CONF and PATH for the file's tests.
cluster_up() {
    CLUSTER_DIR=$(new_cluster_dir)
    export CLUSTER_DIR
    "$root/scripts/devcluster" up --dir "$CLUSTER_DIR" "$@" >&2
    eval "$("$root/scripts/devcluster" env --dir "$CLUSTER_DIR")"
}

cluster_down() {
    local made
    while read -r made; do
        if [ -e "$made/devcluster.conf" ]; then "$root/scripts/devcluster" down --dir "$made" >&2; fi
        rm -rf --one-file-system "$made"
    done <"$BATS_FILE_TMPDIR/cluster_dirs"
}

teardown_file() { cluster_down; }
setup() { mark_logs; }
teardown() { show_logs_of_failed_test; }

# A failed test shows what the daemons logged during it. Whoever defines a setup or teardown of his own calls these two.
mark_logs() {
    local log
    for log in "${CLUSTER_DIR:-/nonexistent}"/log/*.log; do
        if [ -e "$log" ]; then stat --format='%s %n' "$log"; fi
    done >"$BATS_TEST_TMPDIR/logs"
}

show_logs_of_failed_test() {
    local size log
    [ -z "${BATS_TEST_COMPLETED:-}" ] || return 0
    while read -r size log; do
        if [ "$(stat --format=%s "$log" 2>/dev/null || echo 0)" -gt "$size" ]; then
            printf -- '--- %s\n' "$log"
            tail -c "+$((size + 1))" "$log" | tail -n 25
        fi
    done <"$BATS_TEST_TMPDIR/logs"
}

# as_user USER COMMAND…: with a user's environment and this cluster's, in the cluster's tree of files.
as_user() {
    local user=$1
    shift
    runuser --user="$user" -- env --ignore-environment --chdir="$CLUSTER_DIR/fs" PATH="$PATH" LANG=C.UTF-8 \
        HOME="$CLUSTER_DIR/fs" USER="$user" LOGNAME="$user" SHELL=/bin/bash \
        SLURM_CONF="$SLURM_CONF" ACCORD_CONF="$ACCORD_CONF" "$@"
}

# submit USER SBATCH-ARGUMENT…: prints the job's id alone; what sbatch says stays on stderr.
submit() {
    local user=$1
    shift
    as_user "$user" sbatch --parsable --output=/dev/null "$@"
}

# job_field JOB FIELD: a field of `scontrol show job`, such as Partition or JobState.
job_field() {
    scontrol --oneliner show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | sed -n 1p
}

job_state() { job_field "$1" JobState; }
job_is() { [ "$(job_state "$1")" = "$2" ]; }

# wait_state JOB STATE [SECONDS]: as `scontrol show job` names states, in capitals.
wait_state() {
    wait_for "${3:-30}" job_is "$1" "$2" || {
        scontrol show job "$1" >&2
        return 1
    }
}

# cancel_all: ends every job, so that the next test finds idle nodes.
cancel_all() {
    local jobs
    mapfile -t jobs < <(squeue --noheader --all --format=%A)
    if [ "${#jobs[@]}" -gt 0 ]; then scancel "${jobs[@]}" || true; fi
    wait_for 60 nodes_idle
}

nodes_idle() { [ -z "$(squeue --noheader --all)" ] && ! sinfo --noheader --Node --format=%T | grep -qvx idle; }

# What differs between Slurm's releases.
slurm_before() { [[ $(slurmctld -V) < "slurm-wlm $1" ]]; }

# From 23.11 on slurmctld is a new process after a reconfigure.
reconfigure_is_restart() { ! slurm_before 23.11; }

# interrupt_slurmd NODE: ends its slurmd, so that `devcluster up` starts another that knows of the jobs that run on. A
# slurmd of 24.11 that SIGKILL ended comes back without that knowledge: the next step of such a job waits 20 s in vain for
# its prolog and the node drains, on a Slurm without Accord, too.
interrupt_slurmd() {
    local pid signal=KILL
    pid=$(cat "$CLUSTER_DIR/run/slurmd.$1.pid")
    slurm_before 23.02 || signal=TERM
    kill "-$signal" "$pid"
    wait_for 20 process_gone "$pid"
}
process_gone() { ! kill -0 "$1" 2>/dev/null; }

# own_process PATTERN: the process of this cluster, of several side by side, whose command line matches. Newer releases
# write slurmstepd's title over its environment; its log is the cluster's all the same.
own_process() {
    local pid
    for pid in $(pgrep --full "$1"); do
        if grep -qzxF -- "SLURM_CONF=$SLURM_CONF" "/proc/$pid/environ" ||
            [ -n "$(find "/proc/$pid/fd" -lname "$CLUSTER_DIR/*" -print -quit)" ]; then
            printf '%s\n' "$pid"
        fi
    done
}

# write_contract ACCOUNT GUARANTEED [LINE…]: a contract for the members of group ACCOUNT on the devcluster's pool, in
# CLUSTER_DIR/contracts; further lines follow at its end, each in a table of its own or within [capacity.a100].
write_contract() {
    local file=$CLUSTER_DIR/contracts/$1.toml
    mkdir -p "$CLUSTER_DIR/contracts"
    contract_text "$@" >"$file"
}

contract_text() {
    local account=$1 guaranteed=$2
    shift 2
    cat <<EOF
schema = 1
account = "$account"
partition = "gpu"
purpose = "What the tests of the cluster run"
valid_from = 2020-01-01
valid_until = 2099-12-31

[owners]
business = "root"
operations = "root"
cost = "root"
cost_center = "CC-1"

[members]
groups = ["$account"]

[workloads]
allowed = ["batch", "array", "interactive"]

[capacity.a100]
guaranteed = $guaranteed
EOF
    if [ $# -gt 0 ]; then printf '\n%s' "$@"; echo; fi
}

# accord_apply: brings the contracts written so far into force; slurmctld's plugin decides by them when it returns.
accord_apply() { accord apply "$CLUSTER_DIR/contracts"; }

# close_gate: from now on a job that asks for the licence "gate" is eligible, and waits for it as long as it lives.
close_gate() {
    echo 'Licenses=gate:100000' >>"$CLUSTER_DIR/slurm.conf"
    scontrol reconfigure
    wait_for 20 scontrol create reservation ReservationName=gate Licenses=gate:100000 StartTime=now Duration=UNLIMITED \
        Users=root Flags=LICENSE_ONLY >&2
}

# policy_reload: makes the plugin read its settings and the store, and waits until it has read. What it read may be older
# than this call the first time, not the second.
policy_reload() {
    local before
    before=$(policies_read)
    touch "$ACCORD_CONF"
    wait_for 30 policies_read_since "$before"
}

policies_read() { grep -c 'accord: policy in force' "$CLUSTER_DIR/log/slurmctld.log" || true; }
policies_read_since() { [ "$(policies_read)" -gt "$1" ]; }
