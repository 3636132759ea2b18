# SPDX-License-Identifier: GPL-2.0-or-later
# A Debian of another release in a folder of its own, to test with the Slurm that it ships. It is made once, kept
# between runs, and used in mount and process namespaces of its own, so that nothing stays when a run ends.
#
# Reads: root (the tree that is tested).

# suite_of SLURM-RELEASE: the Debian that ships it.
suite_of() {
    case $1 in
        22.05) echo bookworm ;;
        24.11) echo trixie ;;
    esac
}

# As this machine's own packages come from.
mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | sed -n 1p
}

# make_debian SUITE DIR: a folder that is there is a whole one.
make_debian() {
    local suite=$1 dir=$2 from
    [ ! -d "$dir" ] || return 0
    from=$(mirror)
    [ -n "$from" ] || { complain "apt knows no Debian mirror to make $suite from"; return 1; }
    rm -rf "$dir.part"
    mkdir -p "$(dirname "$dir")"
    logged "debian-$suite" debootstrap --variant=minbase "$suite" "$dir.part" "$from" || return 1
    cp /etc/apt/apt.conf.d/*proxy* "$dir.part/etc/apt/apt.conf.d/" 2>/dev/null || true
    mv "$dir.part" "$dir"
}

# copy_tree DIR: the files that git knows or would know. Those that differ are written anew, with the time of now, so that
# they are built again whatever time they had here.
copy_tree() {
    local to=$1/src/accord list=$1/src/files file
    mkdir -p "$to"
    git -C "$root" -c safe.directory="$root" ls-files -z --cached --others --exclude-standard | sort -zu >"$list.new"
    if [ -e "$list" ]; then
        sort -zu "$list" | comm -z -23 - "$list.new" | (cd "$to" && xargs -0r rm -f --)
    fi
    mv "$list.new" "$list"
    while IFS= read -rd '' file; do
        if [ ! -e "$root/$file" ] || cmp -s "$root/$file" "$to/$file"; then continue; fi
        mkdir -p "$to/$(dirname "$file")"
        cp --preserve=mode "$root/$file" "$to/$file" || return
    done <"$list"
}

# lowest_cpu: the CPU that gives the lowest numbers to new namespaces. Linux 6.18 hands them out by CPU, and a namespace
# can be kept (bound onto a file) only from one with a lower number; a node's first one is below all others.
lowest_cpu() {
    local cpu
    for cpu in $(seq 0 $(($(nproc --all) - 1))); do
        taskset --cpu-list "$cpu" unshare --mount perl -e '
            open(my $ns, "<", "/proc/self/ns/mnt") or exit 1;
            my $number = "\0" x 8;
            ioctl($ns, 0x8008b705, $number) or exit 1;  # NS_GET_MNTNS_ID
            print unpack("Q", $number), " $ARGV[0]\n";' "$cpu" 2>/dev/null
    done | sort -n | sed -n '1s/.* //p'
}

# in_debian DIR COMMAND…: as root in it, with this machine's kernel, network and names, and devices of its own.
in_debian() {
    local dir=$1 cpu
    shift
    cpu=$(lowest_cpu)
    cp /etc/resolv.conf "$dir/etc/resolv.conf" 2>/dev/null || true
    cp /etc/hosts "$dir/etc/hosts"
    taskset --cpu-list "${cpu:-0-$(($(nproc --all) - 1))}" \
        unshare --mount --pid --fork --kill-child --propagation=private bash -c '
        set -e
        dir=$1 cpus=$2
        shift 2
        taskset --pid --cpu-list "$cpus" $$ >/dev/null
        mount --bind "$dir" "$dir"
        mount -t proc proc "$dir/proc"
        mount --rbind /sys "$dir/sys"
        mount -t tmpfs -o mode=0755 dev "$dir/dev"
        mount -t tmpfs -o mode=0755 run "$dir/run"
        mkdir "$dir/dev/shm" "$dir/dev/pts"
        mount -t tmpfs -o mode=1777 shm "$dir/dev/shm"
        mount -t devpts -o ptmxmode=0666 devpts "$dir/dev/pts"
        ln -s pts/ptmx "$dir/dev/ptmx"
        ln -s /proc/self/fd "$dir/dev/fd"
        while read -r name major minor; do
            mknod -m 0666 "$dir/dev/$name" c "$major" "$minor"
        done <<END
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
fuse 10 229
END
        cd "$dir"
        pivot_root . .
        umount --lazy .
        cd /
        exec "$@"
    ' bash "$dir" "$(taskset --pid --cpu-list $$ | sed 's/.*: //')" "$@"
}
