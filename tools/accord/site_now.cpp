// SPDX-License-Identifier: GPL-2.0-or-later
#include "site_now.hpp"

#include <unistd.h>

#include <utility>

#include "command.hpp"
#include "store/contracts_db.hpp"
#include "store/journal_lines.hpp"
#include "store_access.hpp"

namespace accord {

Result<std::vector<PolicyContract>> contracts_in(const std::string& contracts_db) {
    std::vector<PolicyContract> contracts;
    if (::access(contracts_db.c_str(), F_OK) != 0) return contracts;
    const auto db = ContractsDb::open(contracts_db, ContractsDb::Open::read_only);
    if (!db) return tl::unexpected<Error>(db.error());
    const auto snapshot = db->snapshot();
    if (!snapshot) return tl::unexpected<Error>(snapshot.error());
    for (const auto& one : snapshot->contracts)
        contracts.push_back({one.contract, one.version, one.state, one.member_uids, one.hash});
    return contracts;
}

namespace {

/// The controller whose decisions the ledger counts: the only one with a journal here, else the first.
Result<std::uint32_t> controller_of(const StorePaths& paths) {
    const auto controllers = journal_controllers(paths.journal);
    if (!controllers) return tl::unexpected<Error>(controllers.error());
    return controllers->empty() ? 0 : controllers->front();
}

}  // namespace

Result<SiteNow> read_site_now() {
    auto config = site_config();
    if (!config) return tl::unexpected<Error>(config.error());
    const auto paths = store_to_read(*config);
    if (!paths) return tl::unexpected<Error>(paths.error());
    auto contracts = contracts_in(paths->contracts_db);
    if (!contracts) return tl::unexpected<Error>(contracts.error());
    const auto controller = controller_of(*paths);
    if (!controller) return tl::unexpected<Error>(controller.error());
    auto now = ledger_now(*paths, *controller);
    if (!now) return tl::unexpected<Error>(now.error());
    auto record = Record::open(*paths);
    if (!record) return tl::unexpected<Error>(record.error());
    const auto accordd = accordd_state(*paths);
    if (!accordd) return tl::unexpected<Error>(accordd.error());
    return SiteNow{std::move(*config), std::move(*contracts), std::move(*now), std::move(*record), *accordd};
}

}  // namespace accord
