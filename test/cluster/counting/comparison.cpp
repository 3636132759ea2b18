// SPDX-License-Identifier: GPL-2.0-or-later
#include "comparison.hpp"

#include <fmt/format.h>

namespace accord::test {

namespace {

Verdict agreement() { return {}; }
Verdict explained(const char* reason) { return {Verdict::Kind::explained, reason}; }

template <typename... Args>
Verdict fault(fmt::format_string<Args...> text, Args&&... args) {
    return {Verdict::Kind::fault, fmt::format(text, std::forward<Args>(args)...)};
}

/// Ways to ask for CPUs or memory that may leave GPUs unusable.
bool burdens(const Request& request) {
    for (const char* option : {"--cpus-per-", "--mem", "--mincpus", "--ntasks"})
        if (request.names(option)) return true;
    return false;
}

std::string text_of(const GpuIntervals& gpus) {
    std::string text;
    for (const auto& [type, interval] : gpus)
        text += fmt::format("{}{}{}-{}", text.empty() ? "" : " + ", type.empty() ? "" : type + " ", interval.min, interval.max);
    return text.empty() ? "no GPU" : text;
}

Verdict outside(const GpuIntervals& counted, const Allocation& given) {
    return fault("counted {}, but given {} and shares of {}", text_of(counted), describe(given.gpus), given.parted);
}

/// GPUs counted without a type may be of any.
bool lies_within(const GpuIntervals& counted, const Allocation& given) {
    Gpus fewest = 0, most = 0;
    const auto of_any = counted.contains("") ? counted.at("").max : 0;
    for (const auto& [type, interval] : counted) {
        fewest += interval.min;
        most += interval.max;
        if (given.parted == 0 && !type.empty() && amount_of(given.gpus, type) < interval.min) return false;
    }
    for (const auto& [type, gpus] : given.gpus)
        if (gpus > of_any + (counted.contains(type) ? counted.at(type).max : 0)) return false;
    const auto all = total(given.gpus) + given.parted;
    return all >= fewest && all <= most;
}

/// Why a job may have got fewer than it was counted with.
std::optional<const char*> reason_for_less(const Request& request, Gpus most, const Allocation& given) {
    if (most == given.unusable) return "CPUs or memory leave other GPUs unusable";
    if (burdens(request) && !given.within_share) return "CPUs or memory may be spread so that they leave more GPUs unusable";
    if (request.names("--mincpus")) return "CPUs that a node must have need not be given";
    if (request.names("--gpus-per-socket")) return "CPUs on more sockets bring more GPUs";
    if (request.names("--ntasks-per-node") || (request.names("--gpus-per-task") && request.names("--gres")))
        return "nodes may be filled with tasks";
    if (request.names("--cpus-per-gpu") && request.names("--gpus-per-task")) return "CPUs may be taken for tasks";
    if (request.names("--exclusive") && request.names("--partition=gpu")) return "whole nodes may be of either type";
    if (!request.fixes_nodes()) return "more nodes may be taken";
    return std::nullopt;
}

/// A job that ran, or one task.
Verdict compare_allocation(const Request& request, const Decision& decision, const Allocation& given) {
    if (given.gpus != given.read)
        return fault("given {}, but the job list is read as {}", describe(given.gpus), describe(given.read));
    if (!lies_within(decision.gpus, given)) return outside(decision.gpus, given);
    if (decision.verdict == accord::Verdict::rejected && decision.reason == Reason::impossible)
        return fault("refused as impossible, but given {}: {}", describe(given.gpus), decision.message);
    const auto most = total(maxima(decision.gpus));
    if (total(given.gpus) + given.parted > 0 && given.unusable > most) {
        if (given.within_share) return explained("CPUs within the share are spread unevenly");
        if (request.names("--gpus-per-task") && request.names("--cpus-per-gpu") && request.number_of("--cpus-per-gpu") <= given.share_cpus)
            return explained("Slurm gives more CPUs than are asked for");
        return fault("counted {}, but {} GPUs are left unusable by {}", text_of(decision.gpus), given.unusable, describe(given.gpus));
    }
    if (most == total(given.gpus) + given.parted) return agreement();
    if (const auto reason = reason_for_less(request, most, given)) return explained(*reason);
    return fault("counted {}, but given {} only, and nothing explains it", text_of(decision.gpus), describe(given.gpus));
}

}  // namespace

Verdict compare(const Request& request, const std::optional<Decision>& decision, const Placement& placement) {
    const bool ran = !placement.allocations.empty();
    if (!decision) return ran ? fault("it ran, but was never judged") : agreement();
    if (!ran) {
        if (decision->verdict == accord::Verdict::rejected)
            return decision->allows() ? agreement() : explained("Accord refuses it first");
        return explained("Slurm refuses it after Accord, and its claim comes to nothing");
    }
    Verdict worst = agreement();
    GpuVector all;
    for (const auto& allocation : placement.allocations) {
        auto verdict = compare_allocation(request, *decision, allocation);
        if (verdict.kind > worst.kind) worst = std::move(verdict);
        add(all, allocation.gpus);
    }
    if (decision->verdict != accord::Verdict::rejected && total(all) > total(decision->claim))
        return fault("claimed {}, but given {} at once", describe(decision->claim), describe(all));
    return worst;
}

}  // namespace accord::test
