-- SPDX-License-Identifier: GPL-2.0-or-later
-- What a site would write for job_submit/lua in place of Accord: the same questions about the contracts that scripts/bench
-- applies, with no record of the answers. Claims are counted anew for every job, since Slurm keeps nothing for the script
-- that survives a restart.

local pool = { governed = "gpu", lend = "gpu-lend", gpus = 16, type = "a100" }

local contracts = {
    vision = { guaranteed = 0, max_walltime = 2880, members = "vision" },
    speech = { guaranteed = 16, max_walltime = 2880, members = "speech" },
}

-- GPUs that one of the request's TRES strings asks for; nil for another type than the pool's.
local function gpus_in(text)
    local gpus = 0
    for token in string.gmatch(text or "", "[^,]+") do
        local rest = string.match(token, "^gres[:/]gpu(.*)$")
        if rest then
            local kind, count = string.match(rest, "^[:](%a[%w_.-]*)[:=]?(%d*)$")
            if not kind then count = string.match(rest, "^[:=](%d+)$") end
            if kind and kind ~= pool.type then return nil end
            gpus = gpus + (tonumber(count) or 1)
        end
    end
    return gpus
end

local function set(value) return value and value ~= slurm.NO_VAL and value ~= slurm.NO_VAL16 and value or nil end

-- The most GPUs that the job may come to hold.
local function gpus_of(job)
    local in_all, per_node = gpus_in(job.tres_per_job), gpus_in(job.tres_per_node)
    local per_task, per_socket = gpus_in(job.tres_per_task), gpus_in(job.tres_per_socket)
    if not (in_all and per_node and per_task and per_socket) then return nil end
    local nodes, tasks = set(job.max_nodes) or set(job.min_nodes) or 1, set(job.num_tasks) or 1
    return math.max(in_all, per_node * math.max(nodes, 1), per_task * tasks, per_socket * nodes)
end

local function claims_of(account)
    local claims = { guaranteed = 0, borrowed = 0 }
    for _, job in pairs(slurm.jobs) do
        if job.account == account and job.job_state <= 2 then  -- pending, running, suspended
            local gpus = tonumber(string.match(job.tres_fmt_req_str or "", "gres/gpu=(%d+)")) or 0
            if job.partition == pool.governed then claims.guaranteed = claims.guaranteed + gpus end
            if job.partition == pool.lend then claims.borrowed = claims.borrowed + gpus end
        end
    end
    return claims
end

local function reject(text)
    slurm.log_user("%s", text)
    return slurm.ERROR
end

function slurm_job_submit(job, partitions, uid)
    local partition = job.partition or pool.governed
    if partition == pool.lend then return reject("submit to " .. pool.governed) end
    if partition ~= pool.governed then return slurm.SUCCESS end
    local account = string.lower(job.account or job.default_account or "")
    local contract = contracts[account]
    if not contract then return reject("account " .. account .. " has no contract in " .. partition) end
    if not string.find(job.user_name or "", "^" .. contract.members) then
        return reject("you are not a member of " .. account)
    end
    if set(job.time_limit) and job.time_limit > contract.max_walltime then return reject("the time limit is too long") end
    local gpus = gpus_of(job)
    if not gpus then return reject("partition " .. partition .. " has only " .. pool.type) end
    if gpus > pool.gpus then return reject("partition " .. partition .. " has " .. pool.gpus .. " GPUs") end

    local claims = claims_of(account)
    job.account = account
    if gpus > 0 and claims.guaranteed + gpus <= contract.guaranteed then
        job.partition = pool.governed
        slurm.log_user("guaranteed: %d GPUs of %s (%d of %d in use)", gpus, account, claims.guaranteed + gpus, contract.guaranteed)
    else
        job.partition = pool.lend
        slurm.log_user("borrowed: %d GPUs for %s (%d of its %d guaranteed are free); may be preempted and requeued", gpus,
                       account, contract.guaranteed - claims.guaranteed, contract.guaranteed)
    end
    slurm.log_info("accord bench: uid %d, account %s, %d GPUs, partition %s", uid, account, gpus, job.partition)
    return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
    if job.account or job.partition then return reject("cancel and submit again") end
    return slurm.SUCCESS
end
