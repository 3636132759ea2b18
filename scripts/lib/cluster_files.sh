# SPDX-License-Identifier: GPL-2.0-or-later
# Writes the directory of a development cluster: configuration, keys, fake GPUs, and the programs of this tree.
#
# Reads: dir (the cluster's directory), node_groups (array of "NODES GPUS TYPE"), without (parts of Accord left out).

part_wanted() { [[ ",$without," != *",$1,"* ]]; }

cluster_name() {
    local base
    base=$(basename "$dir" | tr 'A-Z' 'a-z' | tr -c 'a-z0-9\n' '-')
    printf '%s-%s\n' "${base:0:20}" "$(printf '%s' "$dir" | sha256sum | head -c 4)"
}

# write_cluster: everything that is written once, when the cluster is made.
write_cluster() {
    make_folders
    make_fake_gpus
    write_example_tree
    write_slurm_conf
    write_gres_conf
    write_cgroup_conf
    write_plugstack_conf
    write_accord_toml
}

make_folders() {
    install -d -m 0755 "$dir" "$dir/spool" "$dir/dev" "$dir/opt"
    install -d -m 0755 -o slurm -g slurm "$dir/state" "$dir/log" "$dir/run"
    install -d -m 2750 -o slurm -g accord-admin "$dir/accord"
    install -d -m 0755 -o munge -g munge "$dir/munge"
    install -m 0600 -o munge -g munge /dev/null "$dir/munge/key"
    head -c 128 /dev/urandom >"$dir/munge/key"
}

# Copies of /dev/null: Slurm asks of a GPU's file no more than that it is there. The nodes share them.
make_fake_gpus() {
    local group gpus most=0 i
    for group in "${node_groups[@]}"; do
        read -r _ gpus _ <<<"$group"
        most=$((gpus > most ? gpus : most))
    done
    for ((i = 0; i < most; i++)); do
        mknod -m 0666 "$dir/dev/gpu$i" c 1 3 || die "$dir/dev/gpu$i: cannot make a device node here"
    done
}

write_example_tree() {
    local fs=$dir/fs team
    install -d -m 0755 "$fs" "$fs/proj" "$fs/datasets" "$fs/datasets/public"
    for team in vision speech; do
        install -d -m 2770 -o root -g "$team" "$fs/proj/$team"
        printf 'the %s team'\''s own data\n' "$team" >"$fs/proj/$team/data.txt"
        chgrp "$team" "$fs/proj/$team/data.txt"
        chmod 0660 "$fs/proj/$team/data.txt"
    done
    printf 'data for everyone\n' >"$fs/datasets/public/data.txt"
}

# first_free_port COUNT: the first of COUNT consecutive TCP ports that nobody uses. The search starts at a place that
# follows from dir, so that two clusters rarely meet even while one of them restarts its daemons.
first_free_port() {
    local count=$1 lowest=17000 span=15000 start tried port i
    local -A used=()
    while read -r port; do used[$((16#$port))]=1; done \
        < <(awk 'FNR > 1 { sub(/.*:/, "", $2); print $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
    start=$((16#$(printf '%s' "$dir" | sha256sum | head -c 6) % span))
    for ((tried = 0; tried < span; tried += count)); do
        port=$((lowest + (start + tried) % span))
        for ((i = 0; i < count; i++)); do [ -z "${used[$((port + i))]:-}" ] || continue 2; done
        printf '%s\n' "$port"
        return 0
    done
    die "no $count consecutive free ports"
}

# Slurm's own plugin folder, behind this tree's plugins.
slurm_plugin_dir() {
    local found
    for found in /usr/lib/*/slurm-wlm /usr/lib64/slurm /usr/lib/slurm /usr/local/lib/slurm; do
        if [ -e "$found/select_cons_tres.so" ]; then
            printf '%s\n' "$found"
            return 0
        fi
    done
    die "Slurm's plugins are not installed: run scripts/deps"
}

node_lines() {
    local port=$1 group count gpus type first=1 last
    for group in "${node_groups[@]}"; do
        read -r count gpus type <<<"$group"
        last=$((first + count - 1))
        printf 'NodeName=n[%d-%d] NodeAddr=127.0.0.1 Port=[%d-%d] CPUs=16 Boards=1 SocketsPerBoard=2' \
            "$first" "$last" "$((port + first))" "$((port + last))"
        printf ' CoresPerSocket=8 ThreadsPerCore=1 RealMemory=20000 Gres=gpu:%s:%d\n' "$type" "$gpus"
        first=$((last + 1))
    done
}

node_count() {
    local group count sum=0
    for group in "${node_groups[@]}"; do
        read -r count _ <<<"$group"
        sum=$((sum + count))
    done
    printf '%s\n' "$sum"
}

write_slurm_conf() {
    local port plugin_dir
    port=$(first_free_port $(($(node_count) + 1)))
    plugin_dir=$(slurm_plugin_dir)
    {
        cat <<EOF
# A development cluster on loopback, made by scripts/devcluster.
ClusterName=$(cluster_name)
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=slurm
AuthType=auth/munge
CredType=cred/munge
# A requeued job may start again cred_expire seconds later.
AuthInfo=socket=$dir/munge/munge.sock,cred_expire=5
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd.%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.%n.log
MailProg=/bin/true
PluginDir=$dir/opt/plugins:$plugin_dir
PlugStackConfig=$dir/plugstack.conf
PrologFlags=Alloc
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
PriorityType=priority/multifactor
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
GresTypes=gpu
EOF
        if part_wanted job_submit; then echo "JobSubmitPlugins=accord"; fi
        node_lines "$port"
        cat <<EOF
PartitionName=gpu Nodes=ALL Default=YES PriorityTier=100 PreemptMode=OFF
PartitionName=gpu-lend Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE GraceTime=0
EOF
    } >"$dir/slurm.conf"
}

write_gres_conf() {
    local group count gpus type first=1
    for group in "${node_groups[@]}"; do
        read -r count gpus type <<<"$group"
        printf 'NodeName=n[%d-%d] Name=gpu Type=%s File=%s\n' \
            "$first" "$((first + count - 1))" "$type" "$dir/dev/gpu[0-$((gpus - 1))]"
        first=$((first + count))
    done >"$dir/gres.conf"
}

# No cgroup is needed. Releases from 23.02 on take a word for that; before, slurmd looks for the cgroup filesystem unless
# a plugin is named, which then does nothing.
write_cgroup_conf() {
    case $(slurmctld -V) in
        *' 22.'*) echo 'CgroupPlugin=cgroup/v1' ;;
        *) echo 'CgroupPlugin=disabled' ;;
    esac >"$dir/cgroup.conf"
}

write_plugstack_conf() {
    if part_wanted spank; then
        echo "required $dir/opt/plugins/spank_accord.so conf=$dir/accord.toml"
    fi >"$dir/plugstack.conf"
}

# "a100 = 16, v100 = 8": what the pool holds of each type.
pool_gpus() {
    local group count gpus type line=''
    local -A sum=()
    for group in "${node_groups[@]}"; do
        read -r count gpus type <<<"$group"
        sum[$type]=$((${sum[$type]:-0} + count * gpus))
    done
    for type in $(printf '%s\n' "${!sum[@]}" | sort); do line+=", $type = ${sum[$type]}"; done
    printf '%s\n' "${line#, }"
}

write_accord_toml() {
    cat >"$dir/accord.toml" <<EOF
# A development cluster, made by scripts/devcluster.
cluster = "$(cluster_name)"
mode = "enforce"
admin_group = "accord-admin"

[store]
dir = "$dir/accord"

[munge]
socket = "$dir/munge/munge.sock"

[accordd]
settle = "15s"
socket = "$dir/run/accordd.sock"
metrics = ""

[node]
scope_roots = ["$dir", "$dir/fs", "/home", "/proj", "/scratch", "/datasets", "/tmp", "/var/tmp", "/dev/shm"]
ungranted = "refuse"

[[pool]]
partition = "gpu"
lend_partition = "gpu-lend"
gpus = { $(pool_gpus) }

[governance]
acknowledgements = []
four_eyes = false
EOF
}

# built_program PROGRAM: its path in the tree. One of libtool's is a wrapper until it is installed, and the real one is
# beside it in .libs.
built_program() {
    local path
    for path in "tools/$1/.libs/$1" "tools/$1/$1" ".libs/$1" "$1"; do
        if [ -f "$root/$path" ]; then
            printf '%s\n' "$path"
            return 0
        fi
    done
    return 1
}

# built_parts: what of this tree a cluster takes, one path a line, relative to the tree. A cluster without some part
# takes the accord command where it is built.
built_parts() {
    if part_wanted job_submit; then echo plugins/job_submit/.libs/job_submit_accord.so; fi
    if part_wanted spank; then echo plugins/spank/.libs/spank_accord.so; fi
    if part_wanted accordd; then built_program accordd || echo tools/accordd/accordd; fi
    built_program accord || if [ -z "$without" ]; then echo accord; fi
    if [ -e "$root/.libs/libaccord.so.0" ]; then echo .libs/libaccord.so.0; fi
}

check_built() {
    local part
    while read -r part; do
        [ -e "$root/$part" ] || die "$part: is not built: run ./bootstrap && ./configure && make in $root"
    done < <(built_parts)
}

# replace_file FROM TO: in one step, since a cluster that runs opens it at any moment. Who has it open keeps the old one.
replace_file() {
    cp -L "$1" "$2.new"
    mv -f "$2.new" "$2"
}

# install_build: copies this tree's programs into the cluster, where every user can reach them and a later `make` does
# not change them under a running cluster.
install_build() {
    local opt=$dir/opt part name
    install -d -m 0755 "$opt/plugins" "$opt/lib" "$opt/libexec" "$opt/bin"
    while read -r part; do
        name=${part##*/}
        case $part in
            plugins/*) replace_file "$root/$part" "$opt/plugins/$name" ;;
            *.so.*) replace_file "$root/$part" "$opt/lib/$name" ;;
            *)
                replace_file "$root/$part" "$opt/libexec/$name"
                printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$opt/lib" "$opt/libexec/$name" >"$opt/bin/$name"
                chmod 0755 "$opt/bin/$name"
                ;;
        esac
    done < <(built_parts)
}
