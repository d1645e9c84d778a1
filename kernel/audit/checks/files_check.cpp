// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "audit/checks/audit_part.hpp"
#include "audit/checks/checks.hpp"
#include "audit/recorded_files.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

void check_request(const AuditContext& context, AuditPart& part, const json::object& task) {
    if (text_of(task, "task_id") != context.verdict.task_id) {
        part.fault("task.yaml belongs to task " + text_of(task, "task_id"));
    }
    if (text_of(task, "request") != context.state().request) {
        part.fault("the request in task.yaml differs from the one in the journal");
    }
    json::object request{{"task_id", text_of(task, "task_id")}, {"original_request", text_of(task, "request")}};
    if (const std::string created = text_of(task, "created_at"); !created.empty()) { request.emplace("received_at", created); }
    const auto asked = read_file(context.evidence.paths.inputs() / "original_request.yaml", largest_file);
    if (!asked.ok() || *asked != to_yaml(request)) {
        part.fault("artifacts/inputs/original_request.yaml is not the request of task.yaml");
    }
}

/// Returns the files of journals and blobs that the task may share with the tasks that it continues.
std::set<std::string> files_of_parents(const TaskEvidence& evidence) {
    std::set<std::string> files;
    if (const auto journals = Journal::files(evidence.paths.journal()); journals.ok()) {
        for (const JournalFile& journal : *journals) {
            const std::string parent = journal.path.stem().string();
            files.insert("history/" + parent + ".yaml");
            files.insert("artifacts/blobs/" + parent + "/blobs.yaml");
        }
    }
    return files;
}

/// Checks a file that neither the statement nor the journal covers: it may belong to tasks that this one continues or, outside
/// an archive, to running processes.
void check_uncovered_file(const AuditPlace& place, AuditPart& part, const fs::path& path, const std::set<std::string>& shared) {
    constexpr std::array compared_elsewhere{std::string_view("state.yaml"), std::string_view("working_memory.yaml"),
                                            statement_file, signature_file};
    constexpr std::array archived_by_older_versions{"detached.log", "pause.request"};
    const std::string name = path.string();
    const bool is_in_no_archive = place.is_archive && is_unfinished(path);
    if (std::ranges::find(compared_elsewhere, name) != compared_elsewhere.end()) { return; }
    if (is_left_over(name) && !is_in_no_archive) { return; }
    if (std::ranges::find(archived_by_older_versions, name) != archived_by_older_versions.end()) {
        if (place.is_archive) { part.unchecked("nothing vouches for " + name); }
        return;
    }
    const bool is_of_process = !path.has_parent_path() || is_unfinished_restore(name);
    if (is_in_no_archive || (is_of_process ? place.is_archive : !shared.contains(name))) {
        part.fault((place.is_archive ? "the archive has " : "the folder has ") + name +
                   ", which no archive of this task contains");
    }
}

void check_uncovered_files(const AuditContext& context, AuditPart& part) {
    const fs::path& folder = context.place.folder;
    const auto shared = files_of_parents(context.evidence);
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const fs::path path = it->path().lexically_relative(folder);
        std::error_code none;
        if (it->is_symlink(none)) {
            part.fault(path.string() + " is a link, and no task writes one");
        } else if (!it->is_directory(none) && is_transient_file(path.string())) {
            check_uncovered_file(context.place, part, path, shared);
        }
    }
    if (error) { part.fault("its files cannot be listed: " + error.message()); }
    // Only archives of older versions have it. Outside an archive it is the program's own.
    if (const fs::path notified = context.place.escalations / ".told"; context.place.is_archive && fs::exists(notified, error)) {
        part.unchecked("nothing vouches for escalations/.told");
    }
}

}  // namespace

void check_own_files(AuditContext& context) {
    AuditPart part(context.verdict, "files");
    const auto task = read_file(context.evidence.paths.task(), largest_file);
    if (!task.ok()) {
        part.fault("task.yaml cannot be read: " + task.error().message);
        return;
    }
    const std::string sealed = text_of(context.evidence.header, "task_sha256");
    if (sealed.empty()) { part.unchecked("the journal's header has no hash of task.yaml: an older version began the task"); }
    if (!sealed.empty() && sealed != sha256(*task)) { part.fault("task.yaml is not the file that the journal's header names"); }
    const auto document = parse_yaml(*task, "task.yaml", {largest_file, 4'000'000, 200});
    if (!document.ok() || !document->value.is_object()) {
        part.fault("task.yaml cannot be read");
        return;
    }
    check_request(context, part, document->value.get_object());
    check_uncovered_files(context, part);
    FileFindings found = compare_with_journal(context.evidence);
    for (std::string& fault : found.faults) { part.fault(std::move(fault)); }
    for (std::string& detail : found.unchecked) { part.unchecked(std::move(detail)); }
    part.passed("task.yaml and the request are those that the journal began with");
}

}  // namespace agentforge::kernel
