// SPDX-License-Identifier: GPL-2.0-or-later
// Each part of a contract lists its fields once; writing and reading both walk that list.
#include "store/contract_json.hpp"

#include <iterator>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "store/json_cursor.hpp"
#include "store/json_text.hpp"

namespace accord {

namespace {

template <typename Archive>
void fields(Archive& archive, Owners& owners) {
    archive("business", owners.business);
    archive("operations", owners.operations);
    archive("cost", owners.cost);
    archive("cost_center", owners.cost_center);
}

template <typename Archive>
void fields(Archive& archive, Organization& about) {
    archive("domain_unit", about.domain_unit);
    archive("project", about.project);
    archive("capacity_account", about.capacity_account);
    archive("data_account", about.data_account);
    archive("region", about.region);
    archive("network_path", about.network_path);
    archive("isolation", about.isolation);
}

template <typename Archive>
void fields(Archive& archive, Members& members) {
    archive("users", members.users);
    archive("groups", members.groups);
    archive("max_gpus_per_user", members.max_gpus_per_user);
}

template <typename Archive>
void fields(Archive& archive, Workloads& workloads) {
    archive("allowed", workloads.allowed);
    archive("max_walltime_min", workloads.max_walltime_min);
    archive("max_gpus_per_job", workloads.max_gpus_per_job);
    archive("max_cpus_per_gpu", workloads.max_cpus_per_gpu);
}

template <typename Archive>
void fields(Archive& archive, ExternalControl& control) {
    archive("name", control.name);
    archive("owner", control.owner);
    archive("reviewed_s", control.reviewed_s);
}

template <typename Archive>
void fields(Archive& archive, Capacity& capacity) {
    archive("guaranteed", capacity.guaranteed);
    archive("lend_limit", capacity.lend_limit);
    archive("borrow_limit", capacity.borrow_limit);
}

template <typename Archive>
void fields(Archive& archive, Reclaim& reclaim) {
    archive("max_preemptions", reclaim.max_preemptions);
    archive("interactive_may_borrow", reclaim.interactive_may_borrow);
}

template <typename Archive>
void fields(Archive& archive, Revocation& revocation) {
    archive("running_jobs", revocation.running_jobs);
    archive("grace_s", revocation.grace_s);
    archive("narrowed_jobs", revocation.narrowed_jobs);
}

template <typename Archive>
void fields(Archive& archive, Budget& budget) {
    archive("gpu_hours", budget.gpu_hours);
    archive("period", budget.period);
    archive("on_exhausted", budget.on_exhausted);
    archive("overrun_percent", budget.overrun_percent);
}

template <typename Archive>
void fields(Archive& archive, FilesystemScope& files) {
    archive("hidden", files.hidden);
    archive("rw", files.rw);
    archive("ro", files.ro);
    archive("private", files.private_dirs);
    archive("login_env", files.login_env);
    archive("landlock", files.landlock);
}

template <typename Archive>
void fields(Archive& archive, CredentialFile& file) {
    archive("name", file.name);
    archive("env", file.env);
}

template <typename Archive>
void fields(Archive& archive, CredentialHelper& helper) {
    archive("name", helper.name);
    archive("env", helper.env);
    archive("renew_s", helper.renew_s);
}

template <typename Archive>
void fields(Archive& archive, Credentials& credentials) {
    archive("job_token", credentials.job_token);
    archive("files", credentials.files);
    archive("helpers", credentials.helpers);
}

template <typename Archive>
void fields(Archive& archive, NetworkRule& rule) {
    archive("default", rule.fallback);
    archive("egress", rule.egress);
    archive("ingress", rule.ingress);
}

template <typename Archive>
void fields(Archive& archive, Signal& signal) {
    archive("name", signal.name);
    archive("above", signal.above);
    archive("below", signal.below);
    archive("owner", signal.owner);
    archive("response", signal.response);
}

template <typename Archive>
void fields(Archive& archive, Contract& contract) {
    archive("account", contract.account);
    archive("partition", contract.partition);
    archive("purpose", contract.purpose);
    archive("environment", contract.environment);
    archive("priority_class", contract.priority_class);
    archive("valid_from_s", contract.valid_from_s);
    archive("valid_until_s", contract.valid_until_s);
    archive("owners", contract.owners);
    archive("organization", contract.organization);
    archive("members", contract.members);
    archive("workloads", contract.workloads);
    archive("classification", contract.classification);
    archive("external_control", contract.external_controls);
    archive("share", contract.share);
    archive("fallback", contract.fallback);
    archive("capacity", contract.capacity);
    archive("reclaim", contract.reclaim);
    archive("revocation", contract.revocation);
    archive("budget", contract.budget);
    archive("filesystem", contract.filesystem);
    archive("credentials", contract.credentials);
    archive("network", contract.network);
    archive("review_every_s", contract.review_every_s);
    archive("signal", contract.signals);
}

template <typename E>
concept Enumeration = std::is_enum_v<E>;

/// Appends members to an object; an empty text or list and an unset value are left out.
class Writer {
public:
    explicit Writer(fmt::memory_buffer& to) : to_(to), object_(to) {}
    void end() { object_.end(); }

    template <typename T>
    void operator()(const char* name, const T& value) {
        if (is_unset(value)) return;
        object_.name(name);
        write(value);
    }

private:
    template <typename T>
    static bool is_unset(const T& value) {
        if constexpr (requires { value.has_value(); }) return !value.has_value();
        else if constexpr (requires { value.empty(); }) return value.empty();
        else return false;
    }

    void write(const std::string& text) { append_json_string(to_, text); }
    void write(std::int64_t number) { fmt::format_to(std::back_inserter(to_), "{}", number); }
    void write(bool truth) { fmt::format_to(std::back_inserter(to_), "{}", truth); }
    template <Enumeration E>
    void write(const E& value) {
        append_json_string(to_, to_string(value));
    }
    template <typename T>
    void write(const std::optional<T>& value) {
        write(*value);
    }
    template <typename T>
    void write(const std::vector<T>& list) {
        write_list(list);
    }
    template <typename T>
    void write(const std::set<T>& set) {
        write_list(set);
    }
    template <typename T>
    void write(const std::map<std::string, T>& table) {
        JsonObject inner(to_);
        for (const auto& [name, value] : table) {
            inner.name(name);
            write(value);
        }
        inner.end();
    }
    template <typename T>
    void write(const T& record) {
        Writer inner(to_);
        fields(inner, const_cast<T&>(record));  // a writer only reads
        inner.end();
    }

    template <typename List>
    void write_list(const List& list) {
        to_.push_back('[');
        bool first = true;
        for (const auto& item : list) {
            if (!std::exchange(first, false)) to_.push_back(',');
            write(item);
        }
        to_.push_back(']');
    }

    fmt::memory_buffer& to_;
    JsonObject object_;
};

/// Fills records from the text, in the order of their fields; what is not there keeps its default.
class Reader {
public:
    explicit Reader(JsonCursor& from) : from_(from) {}

    template <typename T>
    void operator()(const char* name, T& value) {
        if (from_.take_member(name)) read(value);
    }

    template <typename T>
    void read(T& record) {
        if constexpr (Enumeration<T>) {
            read_name(record);
        } else {
            from_.begin_object();
            fields(*this, record);
            from_.end_object();
        }
    }
    void read(std::string& text) { from_.read(text); }
    void read(std::int64_t& number) { from_.read(number); }
    void read(bool& truth) { from_.read(truth); }
    template <typename T>
    void read(std::optional<T>& value) {
        read(value.emplace());
    }
    template <typename T>
    void read(std::vector<T>& list) {
        from_.array([&] { read(list.emplace_back()); });
    }
    template <typename T>
    void read(std::set<T>& set) {
        from_.array([&] {
            T value{};
            read(value);
            set.insert(value);
        });
    }
    template <typename T>
    void read(std::map<std::string, T>& table) {
        from_.map([&](const std::string& name) { read(table[name]); });
    }

private:
    static constexpr int most_names = 8;  ///< more than any enumeration here has

    template <Enumeration E>
    void read_name(E& value) {
        std::string name;
        from_.read(name);
        for (int i = 0; i < most_names; ++i)
            if (name == to_string(static_cast<E>(i))) {
                value = static_cast<E>(i);
                return;
            }
        from_.require(false);
    }

    JsonCursor& from_;
};

}  // namespace

std::string to_json(const Contract& contract) {
    fmt::memory_buffer text;
    Writer writer(text);
    fields(writer, const_cast<Contract&>(contract));  // a writer only reads
    writer.end();
    return {text.data(), text.size()};
}

Result<Contract> contract_from_json(std::string_view json) {
    Contract contract;
    JsonCursor cursor(json);
    Reader(cursor).read(contract);
    cursor.require(cursor.rest().empty());
    if (cursor.ok()) return contract;
    return fail("invalid",
                fmt::format("contract: cannot read it from the store: it breaks off at \"{}\"", cursor.complaint()));
}

}  // namespace accord
