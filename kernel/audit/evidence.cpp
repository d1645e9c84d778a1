// SPDX-License-Identifier: Apache-2.0
#include "audit/evidence.hpp"

#include <algorithm>
#include <array>

#include <re2/re2.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/ids.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

/// `task_id`: if given, only the questions of this task.
Result<void> add_files(const fs::path& folder, const std::string& prefix, std::string_view task_id,
                       std::map<std::string, std::string>& files) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        std::error_code none;
        if (!it->is_regular_file(none) || it->is_symlink(none)) { continue; }
        const std::string name = it->path().lexically_relative(folder).string();
        const bool is_ours = task_id.empty() || is_question_of_task(it->path().filename().string(), task_id);
        if (!is_ours || is_transient_file(prefix + name)) { continue; }
        AF_TRY(const std::string bytes, read_file(it->path(), largest_file));
        files[prefix + name] = sha256(bytes);
    }
    if (error && (prefix.empty() || error != std::errc::no_such_file_or_directory)) {
        return Error{"AF-AUDT-009", "cannot read the task's folder: " + error.message(), folder.string(),
                     "check that it is readable", ErrorKind::io};
    }
    return {};
}

}  // namespace

Result<TaskEvidence> TaskEvidence::read(const fs::path& folder, const fs::path& escalations, const fs::path& blobs) {
    TaskEvidence evidence{TaskPaths{folder}, blobs, escalations, {}, {}, {}, {}};
    if (blobs.empty()) { evidence.blobs = evidence.paths.blobs(); }
    const auto header = [&](const json::object& fields) -> Result<void> {
        evidence.header = fields;
        return {};
    };
    const auto record = [&](Record read) -> Result<void> {
        AF_CHECK(fold(evidence.state, read.body));
        evidence.records.push_back(std::move(read));
        return {};
    };
    AF_TRY(evidence.recovery, Journal::read(evidence.paths.journal(), JournalVisitor{header, record}));
    if (evidence.records.empty()) {
        return Error{"AF-AUDT-010", "the journal has no record", evidence.paths.journal().string(),
                     "restore the journal from a backup, or remove this folder and start again", ErrorKind::corrupt};
    }
    return evidence;
}

bool is_unfinished_restore(std::string_view name) { return name.starts_with("artifacts/.restoring-blobs/"); }

bool is_left_over(std::string_view name) {
    static const RE2 torn_or_early(R"(actions\.yaml\.torn-[0-9]+|escalations/[^/]+\.early-[0-9]+\.yaml)");
    return RE2::FullMatch(re2::StringPiece(name.data(), name.size()), torn_or_early) || is_unfinished(name);
}

bool is_transient_file(std::string_view name) {
    // A fork shares these with its parent, which may continue. The chain covers the shared records, and they name their blobs.
    constexpr std::string_view blobs = "artifacts/blobs/";
    const bool shared_blobs = name.starts_with(blobs) && name.find('/', blobs.size()) != std::string_view::npos;
    if (name.starts_with("history/") || shared_blobs || is_unfinished_restore(name) || is_left_over(name)) { return true; }
    constexpr std::string_view questions = "escalations/";
    // Folders beside the questions belong to handlers, and `.told` says who was notified.
    if (name.starts_with(questions) && name.find('/', questions.size()) != std::string_view::npos) { return true; }
    constexpr std::array transient{"lock",       "abort.request",       "pause.request", "plugin_call", "detached.log",
                                   "state.yaml", "working_memory.yaml", ".fold",         ".followed",   ".steps"};
    return std::ranges::find(transient, name) != transient.end() || name == statement_file || name == signature_file;
}

Result<std::map<std::string, std::string>> files_of_task(const TaskEvidence& evidence) {
    std::map<std::string, std::string> files;
    AF_CHECK(add_files(evidence.paths.root, "", "", files));
    if (evidence.blobs != evidence.paths.blobs()) {
        const fs::path own = evidence.blobs / "blobs.yaml";
        AF_TRY(const std::string bytes, read_file(own, largest_file));
        files[(evidence.paths.blobs() / own.filename()).lexically_relative(evidence.paths.root).string()] = sha256(bytes);
    }
    if (!evidence.escalations.empty()) {
        AF_CHECK(add_files(evidence.escalations, "escalations/", evidence.state.task_id, files));
    }
    return files;
}

}  // namespace agentforge::kernel
