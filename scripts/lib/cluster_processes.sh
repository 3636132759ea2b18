# SPDX-License-Identifier: GPL-2.0-or-later
# Starts, finds and ends the processes of a development cluster, and removes its mounts.
#
# Reads: dir (the cluster's directory). A process belongs to the cluster if its environment says so: every daemon is
# started with SLURM_CONF=dir/slurm.conf, and Slurm hands that on to slurmstepd and to the jobs. So processes are found
# after a crash as well, and no stale pid file can point at a stranger.

cluster_env() {
    env -i PATH="$PATH" LANG=C.UTF-8 SLURM_CONF="$dir/slurm.conf" ACCORD_CONF="$dir/accord.toml" "$@"
}

# as_daemon COMMAND…: the same without the caller's descriptors, but the first three: a lock or a pipe of his would
# last as long as the daemon.
as_daemon() {
    (
        for fd in /proc/self/fd/*; do
            fd=${fd##*/}
            if [ "$fd" -gt 2 ]; then exec {fd}>&-; fi
        done
        cluster_env "$@"
    )
}

# pids_of PROGRAM…: the cluster's processes that run one of these programs. Debian's alternatives count, too: slurmd is
# slurmd-wlm.
pids_of() {
    local file program
    local -a names=()
    for program in "$@"; do
        names+=(-o -lname "*/$program" -o -lname "*/$program-wlm" -o -lname "*/$program (deleted)"
            -o -lname "*/$program-wlm (deleted)")
    done
    while read -r file; do
        if belongs "${file//[^0-9]/}"; then printf '%s\n' "${file//[^0-9]/}"; fi
    done < <(find /proc/[0-9]*/exe -maxdepth 0 \( -false "${names[@]}" \) 2>/dev/null)
}

# belongs PID: newer releases write a title over the environment of slurmstepd and slurmscriptd; their log is in the
# directory all the same.
belongs() {
    grep -qzxF -- "SLURM_CONF=$dir/slurm.conf" "/proc/$1/environ" 2>/dev/null ||
        [ -n "$(find "/proc/$1/fd" -lname "$dir/*" -print -quit 2>/dev/null)" ]
}

# pids_of_tasks: what jobs run on the nodes: what descends from slurmstepd, and what says so in its environment where
# that has gone (a shell of salloc's does not).
pids_of_tasks() {
    local pid file name
    name=$(cluster_name)
    for pid in $(pids_of slurmstepd); do descendants_of "$pid"; done
    while read -r file; do
        if grep -qz '^SLURMD_NODENAME=' "$file" 2>/dev/null; then printf '%s\n' "${file//[^0-9]/}"; fi
    done < <(grep -lzxF -- "SLURM_CLUSTER_NAME=$name" /proc/[0-9]*/environ 2>/dev/null)
}

descendants_of() {
    local child
    for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
        printf '%s\n' "$child"
        descendants_of "$child"
    done
}

pid_of_node() {
    local pid
    for pid in $(pids_of slurmd); do
        if grep -qzxF -- "$1" "/proc/$pid/cmdline" 2>/dev/null; then printf '%s\n' "$pid"; fi
    done
}

start_munged() {
    [ -z "$(pids_of munged)" ] || return 0
    as_daemon setpriv --reuid=munge --regid=munge --clear-groups munged --key-file="$dir/munge/key" \
        --socket="$dir/munge/munge.sock" --pid-file="$dir/munge/munged.pid" --log-file="$dir/munge/munged.log" \
        --seed-file="$dir/munge/munged.seed" --origin=127.0.0.1
}

start_slurmctld() {
    [ -z "$(pids_of slurmctld)" ] || return 0
    as_daemon slurmctld -f "$dir/slurm.conf" >>"$dir/log/slurmctld.out" 2>&1
}

# start_slurmd NODE
start_slurmd() {
    [ -z "$(pid_of_node "$1")" ] || return 0
    install -d -m 0755 "$dir/spool/$1"
    as_daemon slurmd -f "$dir/slurm.conf" -N "$1" >>"$dir/log/slurmd.$1.out" 2>&1
}

start_accordd() {
    [ -z "$(pids_of accordd)" ] || return 0
    as_daemon setsid --fork setpriv --reuid=slurm --regid=slurm --init-groups "$dir/opt/bin/accordd" \
        >>"$dir/log/accordd.log" 2>&1 </dev/null
}

# end_processes SECONDS FINDER…: asks the processes that FINDER lists to end, and kills those that have not by then.
end_processes() {
    local seconds=$1
    shift
    signal_all TERM "$@"
    if ! wait_for "$seconds" none_left "$@" 2>/dev/null; then
        signal_all KILL "$@"
        wait_for 5 none_left "$@" || return 1
    fi
}

none_left() { [ -z "$("$@")" ]; }

signal_all() {
    local signal=$1 pid
    shift
    for pid in $("$@"); do kill "-$signal" "$pid" 2>/dev/null || true; done
}

# Jobs end while the daemons still live, so that their epilogs clean up after them; without slurmctld there is nobody
# to ask. Their processes are killed at once: Slurm would give those that ignore SIGTERM its KillWait of 30 s.
end_jobs() {
    local jobs
    [ -n "$(pids_of slurmctld)" ] || return 0
    mapfile -t jobs < <(cluster_jobs)
    [ "${#jobs[@]}" -gt 0 ] || return 0
    cluster_env timeout 30 scancel "${jobs[@]}" || true
    signal_all KILL pids_of_tasks
    wait_for 10 no_jobs || complain "some jobs did not end; their processes are killed"
}

cluster_jobs() { cluster_env timeout 5 squeue --noheader --all --format=%A; }
no_jobs() { [ -z "$(cluster_jobs)" ]; }

# end_cluster: ends everything in the order in which nothing waits for what is already gone.
end_cluster() {
    end_jobs
    end_processes 5 pids_of slurmd
    end_processes 1 pids_of_tasks
    end_processes 1 pids_of slurmstepd
    end_processes 10 pids_of slurmctld
    end_processes 5 pids_of accordd
    end_processes 5 pids_of munged
}

# Mount points under the cluster's directory and under its nodes' state, the innermost first.
cluster_mounts() {
    local point under
    while read -r _ _ _ _ point _; do
        point=$(printf '%b' "$point")
        for under in "$dir" "/run/accord/$(cluster_name)"; do
            if [[ $point = "$under" || $point = "$under"/* ]]; then printf '%s\n' "$point"; fi
        done
    done </proc/self/mountinfo | tac
}

remove_mounts() {
    local point
    while read -r point; do umount "$point" 2>/dev/null || umount --lazy "$point"; done < <(cluster_mounts)
    [ -z "$(cluster_mounts)" ] || die "$dir: still has mounts: $(cluster_mounts | tr '\n' ' ')"
}
