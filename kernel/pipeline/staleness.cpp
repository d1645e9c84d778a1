// SPDX-License-Identifier: Apache-2.0
#include "pipeline/staleness.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "git/merges.hpp"
#include "pipeline/delivery/drift.hpp"

namespace agentforge::kernel {

namespace {

bool in_path(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '/' ||
           static_cast<unsigned char>(c) >= 0x80;
}

/// True if the path is not part of a longer path or name. `./src/a.py` is the same file, and a full stop after it ends a
/// sentence.
bool stands_alone(std::string_view text, std::size_t at, std::size_t size) {
    if (at > 0) {
        const bool here = at >= 2 && text.substr(at - 2, 2) == "./" && (at == 2 || !in_path(text[at - 3]));
        if (!here && (in_path(text[at - 1]) || text[at - 1] == '.')) { return false; }
    }
    const std::size_t end = at + size;
    if (end == text.size()) { return true; }
    if (in_path(text[end])) { return false; }
    return text[end] != '.' || end + 1 == text.size() || !in_path(text[end + 1]);
}

/// True if the whole text is a folder above the path, written with its slash or one of `folders`.
bool is_folder_above(std::string_view text, std::string_view path, const Folders& folders) {
    if (text.starts_with("./")) { text.remove_prefix(2); }
    const bool with_slash = text.size() > 1 && text.ends_with('/');
    if (with_slash) { text.remove_suffix(1); }
    return path.size() > text.size() && path.starts_with(text) && path[text.size()] == '/' &&
           (with_slash || folders.contains(text));
}

bool text_names(std::string_view text, std::string_view path, const Folders& folders) {
    if (is_folder_above(text, path, folders)) { return true; }
    for (std::size_t at = text.find(path); at != std::string_view::npos; at = text.find(path, at + 1)) {
        if (stands_alone(text, at, path.size())) { return true; }
    }
    return false;
}

bool value_names(const json::value& value, std::string_view path, const Folders& folders) {
    if (const json::string* text = value.if_string()) { return text_names(*text, path, folders); }
    if (const json::array* list = value.if_array()) {
        return std::ranges::any_of(*list, [&](const json::value& each) { return value_names(each, path, folders); });
    }
    const json::object* object = value.if_object();
    // Checks keys too: file_notes maps paths to text.
    return object != nullptr && std::ranges::any_of(*object, [&](const auto& field) {
               return text_names(field.key(), path, folders) || value_names(field.value(), path, folders);
           });
}

Result<Folders> folders_of(const Repository& repository, const std::string& tree) {
    AF_TRY(const auto files, repository.files_in_tree(tree));
    Folders folders;
    for (const std::string& file : files) {
        for (auto slash = file.rfind('/'); slash != std::string::npos; slash = file.rfind('/', slash - 1)) {
            if (!folders.insert(file.substr(0, slash)).second) { break; }  // Then the folders above it are in the set, too.
        }
    }
    return folders;
}

}  // namespace

bool names_path(const json::object& artifact, std::string_view path, const Folders& folders) {
    return value_names(json::value(artifact), path, folders);
}

Result<Staleness> measure_staleness(const Repository& repository,
                                    const std::map<std::string, json::object, std::less<>>& artifacts, const std::string& base,
                                    const std::string& head, bool checkout) {
    Staleness result;
    result.base = base;
    result.head = head;
    AF_TRY(result.head_tree, repository.tree_of(head));
    const auto found = written_commit(repository.work_directory(), base);
    if (!found.ok() && found.error().kind == ErrorKind::not_found) {
        result.base_is_gone = true;
        return result;
    }
    AF_TRY(const WrittenCommit below, found);
    result.uncommitted_base = below.message.starts_with(uncommitted_title);
    std::vector<std::string> in_checkout;
    if (checkout) { AF_TRY(in_checkout, repository.uncommitted()); }
    if (below.tree == result.head_tree && in_checkout.empty()) { return result; }
    AF_TRY(const auto changes, repository.diff(below.tree, result.head_tree));
    AF_TRY(const Folders folders, folders_of(repository, below.tree));
    std::vector<std::string> paths;
    const auto changed = [&](const std::string& path, char change, bool uncommitted) {
        StaleFile file{path, change, {}, uncommitted, {}};
        for (const auto& [name, artifact] : artifacts) {
            if (names_path(artifact, path, folders)) { file.named_by.push_back(name); }
        }
        if (file.named_by.empty()) { return; }
        paths.push_back(path);
        result.files.push_back(std::move(file));
    };
    for (const TreeChange& change : changes) {
        for (const std::string& path : {change.path, change.old_path}) {
            if (path.empty() || std::ranges::binary_search(in_checkout, path)) { continue; }
            changed(path, path == change.path ? change.status : 'D', false);
        }
    }
    for (const std::string& path : in_checkout) {
        AF_TRY(const bool same, repository.checkout_is_as(below.tree, path));
        if (same) { continue; }
        AF_TRY(const auto before, repository.file_in_tree(below.tree, path));
        std::error_code error;
        const bool there = std::filesystem::exists(std::filesystem::symlink_status(repository.work_directory() / path, error));
        if (there) {
            changed(path, before ? 'M' : 'A', true);
        } else {
            changed(path, 'D', true);
        }
    }
    std::ranges::sort(result.files, {}, &StaleFile::path);
    AF_TRY(auto commits, commits_that_changed(repository.work_directory(), base, head, paths));
    for (StaleFile& file : result.files) { file.commits = std::move(commits[file.path]); }
    return result;
}

std::vector<records::StaleFile> recorded(const std::vector<StaleFile>& files) {
    std::vector<records::StaleFile> list;
    for (const StaleFile& file : files) {
        std::vector<std::string> commits;
        for (const CommitLine& commit : file.commits) { commits.push_back(commit.id + " " + sanitize_utf8(commit.subject)); }
        list.push_back({.path = sanitize_utf8(file.path),
                        .change = std::string(1, file.change),
                        .named_by = file.named_by,
                        .commits = std::move(commits)});
    }
    return list;
}

std::vector<std::string> describe(const std::vector<StaleFile>& files) {
    std::vector<std::string> lines;
    for (const StaleFile& file : files) {
        std::string line = sanitize_utf8(file.path) + " (in";
        for (const std::string& name : file.named_by) { line += (&name == &file.named_by.front() ? " " : ", ") + name; }
        line += ")";
        if (file.uncommitted) {
            line += ": not committed";
        } else if (!file.commits.empty()) {
            line += ": " + file.commits.front().id.substr(0, 8) + " " + ellipsis(sanitize_utf8(file.commits.front().subject), 80);
        }
        if (!file.uncommitted && file.commits.size() > 1) {
            line += ", and " + std::to_string(file.commits.size() - 1) + " more";
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace agentforge::kernel
