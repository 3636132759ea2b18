// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/store_controls.hpp"

#include <fmt/format.h>

#include "policy/utc.hpp"

namespace accord {
namespace {

using State = ControlState;

constexpr std::uint64_t mebi = 1024 * 1024;
constexpr std::uint64_t least_bytes = 64 * mebi, scarce_bytes = 1024 * mebi;
/// accordd's passes are seconds apart; a decision that is older than this was left behind.
constexpr std::int64_t patience_s = 60;

std::string mode_text(unsigned mode) { return fmt::format("{:04o}", mode); }

void check_owner(Controls& controls, const std::string& name, const StoreFacts& facts, const FileFacts& file) {
    if (facts.slurm_user.empty()) return;
    check(controls, name + " owner", file.owner == facts.slurm_user, State::mismatch, file.owner,
          {"slurmctld's plugin and accordd work on it as SlurmUser",
           fmt::format("chown {} {}", facts.slurm_user, file.path)});
}

/// Nobody but owner and group may read, nobody but the owner may write.
void check_mode(Controls& controls, const std::string& name, const FileFacts& file, unsigned right) {
    check(controls, name + " mode", (file.mode & 0027) == 0, State::mismatch, mode_text(file.mode),
          {"the record tells who asked for what, and is evidence only while nobody else can write it",
           fmt::format("chmod {} {}", mode_text(right), file.path)});
}

void check_dir(Controls& controls, const Config& config, const StoreFacts& facts) {
    check(controls, "store dir", facts.dir.there && facts.dir.trouble.empty(), State::missing,
          facts.dir.there ? fmt::format("{} {}", facts.dir.path, facts.dir.trouble) : facts.dir.path + ": not there",
          {"all that Accord knows is kept there",
           fmt::format("install -d -o {} -m 0750 {}", facts.slurm_user.empty() ? "SlurmUser" : facts.slurm_user,
                       config.store_dir)});
    if (!facts.dir.there) return;
    check_owner(controls, "store dir", facts, facts.dir);
    check_mode(controls, "store dir", facts.dir, 0750);
    if (!config.admin_group.empty())
        check(controls, "store dir group", facts.dir.group == config.admin_group, State::warning, facts.dir.group,
              {fmt::format("members of {} cannot read it", config.admin_group),
               fmt::format("chgrp {} {}", config.admin_group, facts.dir.path)});
    check(controls, "store file system", facts.network_filesystem.empty(), State::mismatch,
          facts.network_filesystem.empty() ? "local" : facts.network_filesystem,
          {"locks and shared memory of databases do not hold over a network", "accord.toml: [store] dir = a local folder"});
    check(controls, "store space", facts.free_bytes >= scarce_bytes,
          facts.free_bytes >= least_bytes ? State::warning : State::mismatch,
          fmt::format("{} MiB free", facts.free_bytes / mebi),
          {"when the journal cannot be written, jobs are rejected (store_unavailable)", "make room on " + config.store_dir});
}

void check_journal(Controls& controls, const StoreFacts& facts) {
    check(controls, "journal writable", facts.journal_writable, State::mismatch, facts.journal_writable ? "yes" : "no",
          {"a decision that cannot be recorded is a rejection (store_unavailable)",
           fmt::format("chown -R {} {}/journal", facts.slurm_user, facts.dir.path)});
    check(controls, "job_submit plugin", facts.journal_locked, State::missing,
          facts.journal_locked ? "holds the journal" : "does not hold the journal on this host",
          {"slurmctld has not loaded it, or it found no accord.toml and runs degraded",
           "see slurmctld's log for lines that begin with \"accord: \"; restart slurmctld after changing JobSubmitPlugins"});
    if (facts.journal_locked && facts.contracts_generation)
        check(controls, "contracts taken", facts.served >= facts.contracts_generation, State::mismatch,
              facts.served >= facts.contracts_generation ? "by slurmctld's plugin, as they are in the store"
                                                         : "slurmctld's plugin decides by older ones",
              {"what was applied last is not in force", "see slurmctld's log for lines that begin with \"accord: \""});
}

void check_accordd(Controls& controls, const StoreFacts& facts) {
    const auto& accordd = facts.accordd;
    const auto why = "claims are kept, but no job is promoted or released, and members are not looked up";
    check(controls, "accordd", accordd.running, State::missing, accordd.running ? "running" : "not running",
          {why, "systemctl start accordd"});
    if (accordd.running)
        check(controls, "accordd passes", accordd.well_at(facts.now_s), State::mismatch,
              accordd.last_pass_s ? "the last one " + span_text(facts.now_s - *accordd.last_pass_s) + " ago" : "none yet",
              {why, "see accordd's log; systemctl restart accordd"});
    const auto age = facts.snapshot_age_s ? "changed " + span_text(*facts.snapshot_age_s) + " ago" : "none";
    const auto found = facts.ledger_trouble.empty() ? age : facts.ledger_trouble;
    check(controls, "ledger snapshot", facts.snapshot_age_s && facts.ledger_trouble.empty(), State::missing, found,
          {"without it the plugin counts claims from its own journal alone and knows no partition's shape",
           "see accordd's log"});
    const bool behind = facts.not_loaded > 0 && facts.oldest_not_loaded_age_s > patience_s;
    check(controls, "decisions loaded", !behind, State::mismatch,
          facts.not_loaded == 0 ? "all"
                                : fmt::format("{} are not, the oldest for {}", facts.not_loaded,
                                              span_text(facts.oldest_not_loaded_age_s)),
          {"accordd does not follow the journal", "see accordd's log; systemctl restart accordd"});
}

}  // namespace

Controls check_store(const Config& config, const StoreFacts& facts) {
    Controls controls;
    check_dir(controls, config, facts);
    if (!facts.dir.there) return controls;
    for (const auto& file : facts.files) {
        const auto name = file.path.substr(file.path.rfind('/') + 1);
        check_owner(controls, name, facts, file);
        check_mode(controls, name, file, name == "journal" ? 0750 : 0640);
        check(controls, name, file.trouble.empty(), State::mismatch, file.trouble.empty() ? "readable" : file.trouble,
              {"what it holds cannot be used", "restore it from a copy; see doc/data.md for what can be made anew"});
    }
    check_journal(controls, facts);
    check_accordd(controls, facts);
    const bool refuse = config.node.ungranted == Ungranted::refuse;
    if (!refuse || facts.jobs_without_decision > 0)
        check(controls, "accord.toml [node] ungranted", refuse != (facts.jobs_without_decision > 0), State::warning,
              fmt::format("\"{}\", and {} jobs that Accord never judged", refuse ? "refuse" : "log", facts.jobs_without_decision),
              refuse ? Advice{"those jobs will not start", "accord.toml: [node] ungranted = \"log\", until they have ended"}
                     : Advice{"a job without a grant runs unscoped, and none is left that needs that",
                              "accord.toml: [node] ungranted = \"refuse\""});
    return controls;
}

}  // namespace accord
