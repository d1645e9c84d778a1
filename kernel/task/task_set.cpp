// SPDX-License-Identifier: Apache-2.0
#include "task/task_set.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::array<std::pair<SetPhase, std::string_view>, 7> phases{{{SetPhase::specifying, "specifying"},
                                                                       {SetPhase::specified, "specified"},
                                                                       {SetPhase::branching, "branching"},
                                                                       {SetPhase::delivering, "delivering"},
                                                                       {SetPhase::done, "done"},
                                                                       {SetPhase::undoing, "undoing"},
                                                                       {SetPhase::undone, "undone"}}};

Error no_set(const std::filesystem::path& file, const std::string& why) {
    return Error{"AF-SET-010", "cannot use the file of a set: " + why, file.string(),
                 "restore it from a backup; the set's tasks are unchanged in their repositories", ErrorKind::corrupt};
}

/// Returns the first unknown key. Empty: every key is known.
std::string unknown_key(const json::object& object, std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : object) {
        if (std::ranges::find(known, std::string_view(key)) == known.end()) { return std::string(key); }
    }
    return {};
}

}  // namespace

std::string_view to_string(SetPhase phase) noexcept {
    const auto found = std::ranges::find(phases, phase, &std::pair<SetPhase, std::string_view>::first);
    return found == phases.end() ? "unknown" : found->second;
}

SetPart* TaskSet::part_of_task(std::string_view task) {
    const auto found = std::ranges::find(parts, task, &SetPart::task);
    return found == parts.end() ? nullptr : &*found;
}

Result<TaskSet> load_set(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) {
        return Error{"AF-SET-011", "the file of the set is gone", file.string(),
                     "restore it from a backup: only this file records which branches belong together", ErrorKind::unavailable};
    }
    AF_TRY(const YamlDocument document, load_yaml(file.string()));
    const json::object* top = document.value.if_object();
    if (top == nullptr) { return no_set(file, "it is not a map"); }
    if (const std::string key = unknown_key(*top, {"format", "set_id", "request", "pipeline", "created_at", "phase",
                                                   "specification_task", "test_result", "reason", "parts", "settings"});
        !key.empty()) {
        return no_set(file, "unknown key `" + key + "`");
    }
    TaskSet set;
    set.id = text_of(*top, "set_id");
    set.request = text_of(*top, "request");
    set.pipeline = text_of(*top, "pipeline");
    set.created_at = text_of(*top, "created_at");
    set.specification_task = text_of(*top, "specification_task");
    set.test_result = text_of(*top, "test_result");
    set.reason = text_of(*top, "reason");
    const std::string word = text_of(*top, "phase");
    const auto phase = std::ranges::find(phases, word, &std::pair<SetPhase, std::string_view>::second);
    if (set.id.empty() || phase == phases.end()) {
        return no_set(file, "it names no set, or its phase `" + word + "` is unknown");
    }
    set.phase = phase->first;
    if (const json::value* settings = top->if_contains("settings"); settings != nullptr && settings->is_object()) {
        set.settings = settings->get_object();
    }
    const json::value* parts = top->if_contains("parts");
    if (parts == nullptr || !parts->is_array()) { return no_set(file, "it has no parts"); }
    for (const json::value& each : parts->get_array()) {
        const json::object* entry = each.if_object();
        if (entry == nullptr) { return no_set(file, "a part is not a map"); }
        if (const std::string key = unknown_key(*entry, {"repo", "path", "depends_on", "task", "branch", "commit"});
            !key.empty()) {
            return no_set(file, "unknown key `" + key + "` of a part");
        }
        SetPart part{text_of(*entry, "repo"), text_of(*entry, "path"),   {},
                     text_of(*entry, "task"), text_of(*entry, "branch"), text_of(*entry, "commit")};
        if (const json::value* others = entry->if_contains("depends_on"); others != nullptr && others->is_array()) {
            for (const json::value& other : others->get_array()) {
                if (other.is_string()) { part.depends_on.emplace_back(other.get_string()); }
            }
        }
        if (part.repo.empty() || !part.path.is_absolute()) { return no_set(file, "a part names no repository"); }
        set.parts.push_back(std::move(part));
    }
    return set;
}

Result<FileDescriptor> lock_set(const std::filesystem::path& folder) {
    AF_CHECK(make_directories(folder));
    const std::filesystem::path file = folder / "lock";
    FileDescriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    // A process that only checks the lock holds it for a moment.
    for (int tries = 0; lock.valid() && tries < 20; ++tries) {
        if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) { return lock; }
        if (errno != EWOULDBLOCK) { break; }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        errno = EWOULDBLOCK;
    }
    if (lock.valid() && errno == EWOULDBLOCK) {
        return Error{"AF-SET-008", "another process works on the set", file.string(), "wait until it has ended",
                     ErrorKind::conflict};
    }
    return Error{"AF-SET-008", "cannot lock the set: " + errno_text(errno), file.string(), "check who owns the file",
                 ErrorKind::io};
}

Result<FileDescriptor> create_set(const std::filesystem::path& sets, const TaskSet& set,
                                  const std::optional<std::string>& specification) {
    AF_CHECK(make_directories(sets));
    sweep_abandoned_writes_in(sets);
    std::error_code error;
    const std::filesystem::path made = unfinished_name(sets / set.id);
    const auto fill = [&]() -> Result<FileDescriptor> {
        AF_TRY(FileDescriptor lock, lock_set(made));
        if (specification) { AF_CHECK(write_file_atomic(made / "specification.yaml", *specification, Durability::synced, 0600)); }
        AF_CHECK(save_set(set_file(made), set));
        std::filesystem::rename(made, sets / set.id, error);
        if (error) {
            return Error{"AF-SET-019", "cannot rename the set's folder: " + error.message(), (sets / set.id).string(),
                         "check the folder's permissions and free disk space", ErrorKind::io};
        }
        AF_CHECK(sync_directory(sets));
        return lock;
    };
    auto lock = fill();
    if (!lock.ok()) { std::filesystem::remove_all(made, error); }
    return lock;
}

bool is_set_locked(const std::filesystem::path& set_folder) {
    const FileDescriptor lock(::open((set_folder / "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    return lock.valid() && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

SetListing list_sets(const std::filesystem::path& folder) {
    SetListing found;
    std::error_code error;
    for (const std::filesystem::directory_entry& each : std::filesystem::directory_iterator(folder, error)) {
        if (each.path().filename().string().starts_with('.')) { continue; }  // Unfinished, of `create_set`.
        auto set = load_set(set_file(each.path()));
        if (set.ok() && set->id != each.path().filename()) {
            set = no_set(set_file(each.path()), "it names the set `" + set->id + "`");
        }
        if (set.ok()) {
            set->running = is_set_locked(each.path());
            found.sets.push_back(std::move(*set));
        } else {
            found.problems.push_back(std::move(set).error());
        }
    }
    std::ranges::sort(found.sets, [](const TaskSet& one, const TaskSet& other) {
        return one.created_at != other.created_at ? one.created_at > other.created_at : one.id > other.id;
    });
    std::ranges::sort(found.problems, {}, &Error::where);
    return found;
}

Result<void> save_set(const std::filesystem::path& file, const TaskSet& set) {
    json::array parts;
    for (const SetPart& each : set.parts) {
        parts.push_back(json::object{{"repo", each.repo},
                                     {"path", each.path.string()},
                                     {"depends_on", json::array(each.depends_on.begin(), each.depends_on.end())},
                                     {"task", each.task},
                                     {"branch", each.branch},
                                     {"commit", each.commit}});
    }
    const json::object whole{{"format", 1},
                             {"set_id", set.id},
                             {"request", set.request},
                             {"pipeline", set.pipeline},
                             {"created_at", set.created_at},
                             {"phase", to_string(set.phase)},
                             {"specification_task", set.specification_task},
                             {"test_result", set.test_result},
                             {"reason", set.reason},
                             {"parts", std::move(parts)},
                             {"settings", set.settings}};
    AF_CHECK(make_directories(file.parent_path()));
    return write_file_atomic(file, to_yaml(whole), Durability::synced, 0600);
}

}  // namespace agentforge::kernel
