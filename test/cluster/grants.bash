# SPDX-License-Identifier: GPL-2.0-or-later
# For the tests of the node alone: a cluster without job_submit, whose jobs bring the grants that a test gives them.

# node_cluster_up [OPTION…]: the cluster, with the plugin beside Accord's that adds grants and counts threads.
node_cluster_up() {
    make --silent -C "$root" test/cluster/spank_probe.la >&2
    cluster_up --without job_submit,accordd "$@"
    cp -L "$root/test/cluster/.libs/spank_probe.so" "$CLUSTER_DIR/opt/plugins/"
    install -m 0666 /dev/null "$CLUSTER_DIR/threads"
    echo "required $CLUSTER_DIR/opt/plugins/spank_probe.so $CLUSTER_DIR/threads" >>"$CLUSTER_DIR/plugstack.conf"
    cp "$CLUSTER_DIR/accord.toml" "$CLUSTER_DIR/accord.toml.first"
}

cluster() { basename "$(scontrol show config | sed -n 's/^ClusterName *= *//p')"; }

# grant_text [KEY=JSON…]: a grant of vision1 for the account vision, with whatever keys a test wants otherwise.
# "fs=JSON" is the value of filesystem.
grant_text() {
    local -A key=([account]='"vision"' [cluster]="\"$(cluster)\"" [contract]='"vision/gpu"' [contract_version]=1
        [exempt]=false [fs]="$(scope)" [issued_s]=1767225600 [kind]='"grant"' [pool]='"gpu"'
        [uid]="$(id -u vision1)" [valid_until_s]=4102444800 [version]=1)
    local pair
    for pair in "$@"; do key[${pair%%=*}]=${pair#*=}; done
    printf '{"account":%s,"cluster":%s,"contract":%s,"contract_version":%s,"exempt":%s,"filesystem":%s,' \
        "${key[account]}" "${key[cluster]}" "${key[contract]}" "${key[contract_version]}" "${key[exempt]}" "${key[fs]}"
    printf '"issued_s":%s,"kind":%s,"pool":%s,"uid":%s,"valid_until_s":%s,"version":%s}' \
        "${key[issued_s]}" "${key[kind]}" "${key[pool]}" "${key[uid]}" "${key[valid_until_s]}" "${key[version]}"
}

# scope [LIST=PATH…]: the JSON of a scope; hidden=PATH, rw=PATH, ro=PATH and private=PATH, each as often as wanted.
scope() {
    local -A list=()
    local pair kind
    for pair in "$@"; do
        kind=${pair%%=*}
        list[$kind]+="${list[$kind]:+,}\"${pair#*=}\""
    done
    printf '{"hidden":[%s],"private":[%s],"ro":[%s],"rw":[%s]}' \
        "${list[hidden]:-}" "${list[private]:-}" "${list[ro]:-}" "${list[rw]:-}"
}

# sealed_by USER TEXT
sealed_by() {
    runuser --user="$1" -- munge --socket="$CLUSTER_DIR/munge/munge.sock" --restrict-uid=0 --string="$2" | tr -d '\n'
}

# granted [KEY=JSON…]: such a grant as SlurmUser seals it.
granted() { sealed_by slurm "$(grant_text "$@")"; }

# with_grant GRANT COMMAND…: vision1's command, whose job brings the grant.
with_grant() {
    local grant=$1
    shift
    as_user vision1 TEST_GRANT="$grant" TEST_DECISION=0-17 "$@"
}

# running_job GRANT [SBATCH-ARGUMENT…]: prints the id of a batch job of vision1's whose script is running. (Slurm says
# RUNNING already before the prolog.)
running_job() {
    local grant=$1 job mark
    shift
    mark=$(mktemp --dry-run "$CLUSTER_DIR/fs/proj/vision/running-XXXXXX")
    job=$(with_grant "$grant" sbatch --parsable --account=vision --output=/dev/null "$@" \
        --wrap="touch $mark; exec sleep 300")
    wait_for 30 test -e "$mark"
    rm "$mark"
    printf '%s\n' "$job"
}

# accord_toml SED-EXPRESSION: changes the nodes' settings until restore_accord_toml.
accord_toml() { sed -i -e "$1" "$CLUSTER_DIR/accord.toml"; }
restore_accord_toml() { cp "$CLUSTER_DIR/accord.toml.first" "$CLUSTER_DIR/accord.toml"; }

no_node_drained() { ! sinfo --noheader --Node --format=%T | grep -q drain; }

# Nothing of any job is left on this cluster's nodes.
nodes_clean() {
    [ ! -e "/run/accord/$(cluster)" ] && ! grep -q " /run/accord/$(cluster)/" /proc/self/mountinfo
}

# Ends slurmctld and the slurmds, and starts them with whatever their configuration says by now.
restart_daemons() {
    local pid
    for pid in $(cat "$CLUSTER_DIR"/run/slurm*.pid); do
        kill "$pid"
        wait_for 20 sh -c "! kill -0 $pid 2>/dev/null"
    done
    "$root/scripts/devcluster" up --dir "$CLUSTER_DIR" >&2
}
