#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What people type for GPUs, and what only a client of libslurm can send, on nodes of whole cards (n[1-2]) and of slices
# (n[3-4]); some nodes' GPUs have shares.

load common
load records

setup_file() {
    make --silent -C "$root" test/cluster/submit_request >&2
    cluster_up --cluster 2x8:a100,2x8:slice
    settle_soon
    install -m 0755 "$root/test/cluster/submit_request" "$CLUSTER_DIR/opt/bin/"
    change_nodes
    pools
    restart_all
    close_gate
    contracts
    accord_apply
    wait_for 30 rules_in_force
    cancel_all
}

# Slices have a name with a dot, as MIG's have; whole cards have shares as well.
change_nodes() {
    sed -i 's/slice/1g.10gb/g' "$CLUSTER_DIR/slurm.conf" "$CLUSTER_DIR/gres.conf"
    sed -i -e 's/^GresTypes=.*/GresTypes=gpu,shard/' -e 's/^\(NodeName=.*Gres=gpu:a100:8\)$/\1,shard:64/' \
        -e '/^PartitionName=gpu /s/Default=YES/Default=NO/' "$CLUSTER_DIR/slurm.conf"
    echo 'NodeName=n[1-2] Name=shard Count=64' >>"$CLUSTER_DIR/gres.conf"
}

# Beside the pool of everything one of whole cards alone, which is the default.
pools() {
    sed -i '/^gpus = /s/slice = /"1g.10gb" = /' "$ACCORD_CONF"
    cat >>"$CLUSTER_DIR/slurm.conf" <<'END'
PartitionName=a100 Nodes=n[1-2] Default=YES PriorityTier=100 PreemptMode=OFF
PartitionName=a100-lend Nodes=n[1-2] PriorityTier=1 PreemptMode=REQUEUE GraceTime=0
END
    cat >>"$ACCORD_CONF" <<'END'

[[pool]]
partition = "a100"
lend_partition = "a100-lend"
gpus = { a100 = 16 }
shards_per_gpu = 8
END
}

restart_all() {
    local pid
    for pid in $(own_process slurmd) $(slurmctld_pid); do kill "$pid"; done
    wait_for 20 slurmctld_gone "$pid"
    start_again
}

# vision has all that speech leaves; speech two whole cards and nothing to borrow.
contracts() {
    mkdir -p "$CLUSTER_DIR/contracts"
    contract_text vision 14 | sed 's/^partition = .*/partition = "a100"/' >"$CLUSTER_DIR/contracts/vision.toml"
    contract_text speech 2 'borrow_limit = 0' | sed 's/^partition = .*/partition = "a100"/' >"$CLUSTER_DIR/contracts/speech.toml"
    contract_text vision 16 '[capacity."1g.10gb"]' 'guaranteed = 16' >"$CLUSTER_DIR/contracts/vision-all.toml"
}

rules_in_force() {
    jq --exit-status '.ledger.shape.partitions | has("a100")' "$CLUSTER_DIR/accord/ledger" >/dev/null &&
        ruled_by vision1 vision 1
}

# sent FIELD…: submits a held job of vision1's through libslurm, whatever becomes of it, and prints how it was counted.
sent() {
    as_user vision1 submit_request vision "$@" >/dev/null 2>&1 || true
    last_record '.gpus | tojson'
}

# claims_are CONTRACT GPUS: what accordd counts of its jobs, of one class all of them.
claims_are() { [ "$(jq --compact-output ".ledger.contracts[\"$1\"] | [.guaranteed // {}, .borrowed // {}] | add" "$CLUSTER_DIR/accord/ledger")" = "$2" ]; }

# bats test_tags=A08
@test "GPUs without the prefix that Slurm wants are none: nothing is claimed, the record says so, the request is as it was" {
    local job
    job=$(as_user vision1 submit_request vision +tres_per_node=gpu:1) || true
    assert_equal "$(last_record '[.verdict, .gpus, .claim] | tojson')" '["admitted",{},{}]'
    assert_regex "$(last_record .message)" '"gpu:1" has no "gres:" or "gres/" before it, so Slurm takes no GPU from it'
    assert_equal "$(last_record .inputs.tres_per_node)" gpu:1
    if [ -n "$job" ]; then assert_equal "$(job_field "$job" TresPerNode)" gpu:1; fi
    assert_equal "$(sent +tres_per_node=gres/gpu:1)" '{"a100":[1,1]}'
}

# bats test_tags=A10
@test "GPUs per task are the same decision however tasks are bound to GPUs" {
    local bind
    for bind in '' --gpu-bind=none --gpu-bind=closest; do
        # shellcheck disable=SC2086
        assert_equal "$bind $(record_of "$(parked vision1 --nodes=1 --ntasks=4 --gpus-per-task=1 $bind)" '[.verdict, .class, .gpus] | tojson')" \
            "$bind [\"admitted\",\"guaranteed\",{\"a100\":[4,4]}]"
    done
}

# bats test_tags=A12
@test "an untyped request does not slip past the cap of a type, and the refusal names type, cap and what was asked" {
    refused speech1 impossible --account=speech --partition=a100 --nodes=1 --gres=gpu:4
    assert_output --partial 'asks for 4 a100, more than speech/a100 could ever hold (guaranteed 2, borrow limit 0'
    assert_equal "$(last_record '.gpus | tojson')" '{"a100":[4,4]}'
}

# bats test_tags=A14
@test "a range of nodes makes a range of GPUs, and GPUs of the whole job are as many on any number of nodes" {
    refused vision1 gpu_type --partition=gpu --nodes=2-4 --gres=gpu:2
    assert_equal "$(last_record '.gpus | tojson')" '{"":[4,8]}'
    assert_equal "$(gpus_of --nodes=2-4 --gpus=8)" '{"a100":[8,8]}'
    # no four nodes have a100, so Slurm refuses it afterwards
    parked vision1 --partition=gpu --nodes=4-16 --gpus=a100:8 || true
    assert_equal "$(last_record '.gpus | tojson')" '{"a100":[8,8]}'
}

# bats test_tags=A16
@test "each task of an exclusive array holds its node's GPUs, and after the first has started none counts for more" {
    local job
    job=$(submit vision1 --array=0-3 --exclusive --gres=gpu:1 --partition=a100 --wrap='sleep 300')
    assert_equal "$(last_record '[.gpus, .claim] | tojson')" '[{"a100":[8,8]},{"a100":16}]'
    wait_for 30 two_run
    wait_for 20 claims_are vision/a100 '{"a100":16}'
    scancel "${job}_0"
    wait_for 60 two_run
    wait_for 20 claims_are vision/a100 '{"a100":16}'
}
two_run() { [ "$(squeue --noheader --states=RUNNING | wc -l)" = 2 ]; }

# bats test_tags=A18
@test "GPUs per socket count on each socket, and without a number of sockets Slurm refuses them" {
    local before
    before=$(slurmctld_pid)
    assert_equal "$(gpus_of --nodes=2 --gpus-per-socket=1 --sockets-per-node=2)" '{"a100":[2,4]}'
    run as_user vision1 sbatch --hold --output=/dev/null --nodes=2 --gpus-per-socket=1 --wrap=true
    assert_failure
    refute_output --partial accord
    assert_equal "$(sent +tres_per_socket=gres:gpu:1 +nodes=2)" '{"a100":[0,16]}'
    assert_equal "$(slurmctld_pid)" "$before"
}

# bats test_tags=A19
@test "shares count as the GPUs that they take, and where the pool knows none they are refused by name" {
    assert_equal "$(gpus_of --partition=a100 --gres=shard:4)" '{"a100":[1,1]}'
    assert_equal "$(gpus_of --partition=a100 --gres=shard:4 --nodes=2)" '{"a100":[2,2]}'
    refused vision1 gpu_type --partition=gpu --gres=shard:4
    assert_output --partial 'partition gpu has no shards'
    run as_user vision1 sbatch --hold --output=/dev/null --partition=a100 --gres=gpu:1,shard:1 --wrap=true
    assert_failure
    refute_output --partial accord
}

# bats test_tags=A21
@test "slices are a type of their own, and an untyped request must name one where there are whole cards too" {
    local job
    job=$(submit vision1 --partition=gpu --nodes=1 --gres=gpu:1g.10gb:2 --wrap='sleep 300')
    assert_equal "$(record_of "$job" '[.class, .gpus, .claim] | tojson')" '["guaranteed",{"1g.10gb":[2,2]},{"1g.10gb":2}]'
    refused vision1 gpu_type --partition=gpu --gres=gpu:2
    assert_output --partial 'name one of 1g.10gb, a100'
}

# bats test_tags=A34
@test "a number is a count: a model number by itself is refused with a hint, with a count it is a type" {
    refused vision1 impossible --gres=gpu:3090
    assert_output --partial 'did you mean gpu:3090:1'
    assert_equal "$(last_record '.gpus | tojson')" '{"a100":[3090,3090]}'
    refused vision1 gpu_type --gres=gpu:3090:1
    assert_equal "$(last_record '.gpus | tojson')" '{"3090":[1,1]}'
    refused vision1 impossible --gres=gpu:1K
    assert_equal "$(last_record '.gpus | tojson')" '{"a100":[1024,1024]}'
    refute_output --partial 'did you mean'
}

@test "what no one means is answered with a reason, and the controller lives" {
    local before ask
    before=$(slurmctld_pid)
    for ask in +tres_per_node=gres:gpu::1 +tres_per_node=gres:gpu:a100: +tres_per_job=gres:gpu:99999999999999999999 \
        +tres_per_node=gres:gpu:a100:1P +tres_per_task=gres:gpu:@ +tres_per_node=@4000 +tres_per_socket=,,,, \
        +tres_per_job=gres:gpu:@4000:1 +cpus_per_tres=gres:gpu:65535 +mem_per_tres=gres:gpu:18446744073709551615 \
        +array_inx=0-9999 +array_inx=0-4000000 +array_inx=1-2:0 +array_inx=%% '+array_inx=0-9%99999999999' +array_inx=@4000 \
        +req_nodes=n[1-999999] '+req_nodes=n[' +req_nodes=@4000 +partition=@4000 +partition=,,, +account=@4000 +name=@4000 \
        +std_out=@4000; do
        as_user vision1 submit_request vision "$ask" >/dev/null 2>"$BATS_TEST_TMPDIR/said" || [ -s "$BATS_TEST_TMPDIR/said" ]
        run slurmctld_lives "$before"
        assert_success
    done
    for ask in nodes min_nodes max_nodes num_tasks min_cpus cpus_per_task ntasks_per_node ntasks_per_tres sockets_per_node \
        pn_min_memory time_limit; do
        for value in 0 1 65534 65535 4294967293 4294967294 4294967295 9223372036854775807 18446744073709551614; do
            as_user vision1 submit_request vision "+$ask=$value" +tres_per_node=gres:gpu:1 >/dev/null 2>"$BATS_TEST_TMPDIR/said" ||
                [ -s "$BATS_TEST_TMPDIR/said" ]
        done
    done
    run slurmctld_lives "$before"
    assert_success
    assert_equal "$(gpus_of --gres=gpu:1)" '{"a100":[1,1]}'
    check_journal
}

@test "an array of ten thousand indices and a heterogeneous job of a hundred parts get an answer" {
    local before part
    local -a parts=()
    before=$(slurmctld_pid)
    run as_user vision1 sbatch --hold --output=/dev/null --array=0-9999 --gres=gpu:1 --wrap=true
    assert_equal "$(last_record '.gpus | tojson')" '{"a100":[1,1]}'
    for part in $(seq 99); do parts+=(: --ntasks=1); done
    run timeout 60 runuser --user=vision1 -- env PATH="$PATH" SLURM_CONF="$SLURM_CONF" \
        salloc --no-shell --immediate=1 --ntasks=1 "${parts[@]}"
    assert_output --regexp '[a-z]'
    run slurmctld_lives "$before"
    assert_success
    assert_equal "$(gpus_of --gres=gpu:1)" '{"a100":[1,1]}'
}
