// SPDX-License-Identifier: Apache-2.0
#include <agentforge/testing/fake_host.hpp>

#include <algorithm>
#include <regex>
#include <stdexcept>

#include "base/text.hpp"
#include "base/tool_effects.hpp"
#include "sha256.hpp"
#include "tools/file_view.hpp"
#include "tools/hunks.hpp"
#include "tools/path_rules.hpp"
#include "tools/text_edit.hpp"

namespace agentforge::testing {

namespace {

constexpr std::uint64_t max_whole_read_bytes = 2ULL << 20U;  // Same as in kernel/tools/workspace/role_workspace.hpp.
constexpr std::size_t binary_probe_bytes = 8192;
constexpr std::size_t hit_text_bytes = 300;

Error not_found(const std::string& path) {
    return {"AF-TOOL-031", "'" + path + "' does not exist.", path, "Check the path. list_files shows the files.",
            ErrorKind::not_found};
}
Error is_folder(const std::string& path) {
    return {"AF-TOOL-034", "'" + path + "' is a folder, not a file.", path, "Name a file in it; list_files shows them.",
            ErrorKind::invalid};
}
Error there_already(const std::string& path) {
    return {"AF-TOOL-035", "'" + path + "' already exists.", path,
            "Change it with edit_file. Otherwise leave it and choose another path.", ErrorKind::conflict};
}
bool is_binary(std::string_view bytes) noexcept {
    return bytes.substr(0, binary_probe_bytes).find('\0') != std::string_view::npos;
}
Error binary(const std::string& path, std::size_t size) {
    return {"AF-TOOL-036",
            "'" + path + "' is a binary file of " + std::to_string(size) + " bytes; it is neither shown nor edited.", path,
            "Work with the text files it is made from.", ErrorKind::invalid};
}

}  // namespace

struct FakeWorkspace::State {
    CallRecord& record;
    mutable std::recursive_mutex mutex;  // Not for the plugin, whose calls may not overlap. Turns a race into a report.
    std::map<std::string, std::string, std::less<>> files;
    std::vector<Change> writes;
    std::vector<kernel::PathRule> rules;
    std::set<std::string, std::less<>> locked;
    std::map<std::string, std::deque<Error>, std::less<>> failures;
    std::optional<ToolEffect> effects;
    std::string tool;
    mutable std::optional<Error> undeclared;

    [[nodiscard]] std::optional<Error> scripted_failure(std::string_view function) {
        const auto found = failures.find(function);
        if (found == failures.end() || found->second.empty()) { return std::nullopt; }
        Error error = std::move(found->second.front());
        found->second.pop_front();
        return error;
    }
    [[nodiscard]] bool has_folder(const std::string& path) const {
        if (path == ".") { return true; }
        const auto next = files.lower_bound(path + "/");
        return next != files.end() && next->first.starts_with(path + "/");
    }
    /// Refuses a path if a file exists where one of its folders should be.
    [[nodiscard]] Result<void> folders_free(const std::string& path) const {
        for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
            const std::string folder = path.substr(0, slash);
            if (files.contains(folder)) {
                return Error{"AF-TOOL-034", "'" + folder + "' is a file, not a folder; '" + path + "' cannot be in it.", path,
                             "Check the path. list_files shows the files.", ErrorKind::invalid};
            }
        }
        return {};
    }
    [[nodiscard]] Result<std::string> find(const std::string& path) const {
        if (const auto found = files.find(path); found != files.end()) { return found->second; }
        if (has_folder(path)) { return is_folder(path); }
        AF_CHECK(folders_free(path));
        return not_found(path);
    }
    [[nodiscard]] Result<std::string> writable(std::string_view path) const {
        AF_TRY(auto normal, kernel::normalize_path(path));
        if (normal == ".") { return is_folder(normal); }
        if (locked.contains(normal)) {
            return Error{"AF-TOOL-015",
                         "Path '" + normal + "' is locked: the task's new tests stay as they are until the commit.",
                         {},
                         "Leave it as it is; change other files instead.",
                         ErrorKind::denied};
        }
        for (const auto& rule : rules) {
            if (!rule.allows(normal)) { return kernel::path_not_allowed(normal, "the role", rule.text()); }
        }
        return normal;
    }
    Change changed(const std::string& path, const std::string& before, std::string after) {
        Change change;
        change.path = path;
        change.before_sha256 = sha256(before);
        change.after_sha256 = sha256(after);
        const auto counts = kernel::count_changes(before, after);
        change.lines_added = counts.added;
        change.lines_removed = counts.removed;
        files[path] = std::move(after);
        writes.push_back(change);
        return change;
    }
    Change created(const std::string& path, std::string content) {
        Change change;
        change.path = path;
        change.after_sha256 = sha256(content);
        change.lines_added = kernel::count_lines(content);
        change.created = true;
        files[path] = std::move(content);
        writes.push_back(change);
        return change;
    }
    Change removed(const std::string& path) {
        const auto found = files.find(path);
        Change change;
        change.path = path;
        change.before_sha256 = sha256(found->second);
        change.lines_removed = kernel::count_lines(found->second);
        files.erase(found);
        writes.push_back(change);
        return change;
    }

    /// One edit while it is applied.
    struct OneEdit {
        const FileEdit& edit;
        std::string path = {};
        std::string target = {};
        std::string before = {};
        std::string after = {};
        FileEdited edited = {};
    };
    [[nodiscard]] Result<void> check_paths(const std::vector<FileEdit>& edits) const;
    [[nodiscard]] Result<FileEdited> apply(const FileEdit& edit);
    [[nodiscard]] static Result<void> change_content(OneEdit& one);
    [[nodiscard]] Result<void> check_free(const std::string& path) const;
    void move_changed(OneEdit& one);
};

/// Begins every function of the workspace.
#define AF_FAKE_ENTER(function, details, effect, what)                                \
    const CallRecord::Entry af_entry(state_->record, "workspace." function, details); \
    const std::lock_guard af_lock(state_->mutex);                                     \
    AF_CHECK(need(effect, what));                                                     \
    if (auto af_failure = state_->scripted_failure(function)) { return std::move(*af_failure); }

FakeWorkspace::FakeWorkspace(CallRecord& record) : state_(new State{record, {}, {}, {}, {}, {}, {}, {}, {}, {}}) {}
FakeWorkspace::~FakeWorkspace() = default;

FakeWorkspace& FakeWorkspace::put(std::string path, std::string content) {
    const std::lock_guard lock(state_->mutex);
    state_->files[std::move(path)] = std::move(content);
    return *this;
}

std::optional<std::string> FakeWorkspace::content(std::string_view path) const {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->files.find(path);
    return found == state_->files.end() ? std::nullopt : std::optional<std::string>(found->second);
}

std::map<std::string, std::string, std::less<>> FakeWorkspace::files() const {
    const std::lock_guard lock(state_->mutex);
    return state_->files;
}

std::vector<Change> FakeWorkspace::writes() const {
    const std::lock_guard lock(state_->mutex);
    return state_->writes;
}

FakeWorkspace& FakeWorkspace::allow_writes(std::string rule) {
    auto parsed = kernel::PathRule::parse(rule);
    if (!parsed.ok()) { throw std::invalid_argument(parsed.error().to_string()); }
    const std::lock_guard lock(state_->mutex);
    state_->rules.push_back(std::move(parsed).value());
    return *this;
}

FakeWorkspace& FakeWorkspace::lock(std::string path) {
    const std::lock_guard lock(state_->mutex);
    state_->locked.insert(std::move(path));
    return *this;
}

FakeWorkspace& FakeWorkspace::fail_next(std::string function, Error error) {
    static const std::set<std::string, std::less<>> known = {"read", "list", "search", "create",
                                                             "edit", "move", "remove", "apply"};
    if (!known.contains(function)) {
        throw std::invalid_argument("FakeWorkspace has no function `" + function + "` that can fail");
    }
    const std::lock_guard lock(state_->mutex);
    state_->failures[std::move(function)].push_back(std::move(error));
    return *this;
}

void FakeWorkspace::limit_effects(ToolEffect effects, std::string tool) {
    const std::lock_guard lock(state_->mutex);
    state_->effects = effects;
    state_->tool = std::move(tool);
    state_->undeclared.reset();
}

std::optional<Error> FakeWorkspace::undeclared() const {
    const std::lock_guard lock(state_->mutex);
    return state_->undeclared;
}

Result<void> FakeWorkspace::need(ToolEffect effect, const char* what) const {
    const std::lock_guard lock(state_->mutex);
    if (!state_->effects || kernel::declares(*state_->effects, effect)) { return {}; }
    Error error =
        kernel::undeclared_effect(state_->tool, effect, what, "Add the effect to the tool's spec, or leave the call out.");
    if (!state_->undeclared) { state_->undeclared = error; }
    return error;
}

Result<FileView> FakeWorkspace::read(std::string_view path, const ReadOptions& options) {
    AF_FAKE_ENTER("read", (json::object{{"path", path}}), ToolEffect::reads, "read a file");
    AF_TRY(const std::string normal, kernel::normalize_path(path));
    AF_TRY(const std::string bytes, state_->find(normal));
    if (bytes.size() > max_whole_read_bytes && options.first_line <= 1 && options.last_line == 0) {
        return Error{"AF-TOOL-037",
                     "'" + normal + "' is too large: " + std::to_string(bytes.size()) + " bytes, at most " +
                         std::to_string(max_whole_read_bytes) + " here.",
                     normal, "Give a line range: first_line and last_line.", ErrorKind::invalid};
    }
    if (is_binary(bytes)) { return binary(normal, bytes.size()); }
    AF_TRY(FileView view, kernel::view_of_lines(normal, bytes, options));
    view.sha256 = sha256(bytes);
    view.size_bytes = bytes.size();
    return view;
}

Result<Listing> FakeWorkspace::list(std::string_view directory, const ListOptions& options) {
    AF_FAKE_ENTER("list", (json::object{{"path", directory}}), ToolEffect::reads, "list files");
    AF_TRY(const std::string normal, kernel::normalize_path(directory));
    if (!state_->has_folder(normal)) {
        if (state_->files.contains(normal)) {
            return Error{"AF-TOOL-034", "'" + normal + "' is a file, not a folder.", normal,
                         "Check the path. list_files shows the files.", ErrorKind::invalid};
        }
        AF_CHECK(state_->folders_free(normal));
        return not_found(normal);
    }
    std::optional<kernel::PathRule> filter;
    if (!options.glob.empty()) { AF_TRY(filter, kernel::PathRule::parse(options.glob)); }
    const std::string prefix = normal == "." ? "" : normal + "/";
    // A folder sorts as if its name ended in `/`, and so do the paths below it.
    std::map<std::string, ListEntry> entries;
    for (const auto& [path, content] : state_->files) {
        if (!path.starts_with(prefix)) { continue; }
        for (auto slash = path.find('/', prefix.size()); slash != std::string::npos; slash = path.find('/', slash + 1)) {
            entries.insert_or_assign(path.substr(0, slash + 1), ListEntry{path.substr(0, slash), true, 0});
        }
        entries.insert_or_assign(path, ListEntry{path, false, content.size()});
    }
    Listing listing;
    for (const auto& [key, entry] : entries) {
        if (!options.recursive && entry.path.find('/', prefix.size()) != std::string::npos) { continue; }
        if (filter && (entry.directory || !filter->allows(entry.path))) { continue; }
        if (listing.entries.size() >= options.limit) {
            listing.truncated = true;
            break;
        }
        listing.entries.push_back(entry);
    }
    return listing;
}

Result<SearchHits> FakeWorkspace::search(const SearchQuery& query) {
    AF_FAKE_ENTER("search", (json::object{{"pattern", query.pattern}}), ToolEffect::reads, "search");
    if (query.pattern.empty() || query.pattern.size() > 4096) {
        return Error{"AF-TOOL-021",
                     query.pattern.empty() ? "The pattern is empty." : "The pattern is longer than 4096 bytes.",
                     {},
                     "Give the text to look for.",
                     ErrorKind::invalid};
    }
    std::string expression;
    for (const char c : query.pattern) {
        if (query.literal && std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) { expression += '\\'; }
        expression += c;
    }
    std::regex pattern;
    try {
        pattern.assign(expression, query.ignore_case ? std::regex::ECMAScript | std::regex::icase : std::regex::ECMAScript);
    } catch (const std::regex_error& failure) {
        return Error{"AF-TOOL-021",
                     "The pattern '" + kernel::ellipsis(kernel::sanitize_utf8(query.pattern), 200) +
                         "' is not a regular expression: " + failure.what() + ".",
                     {},
                     "Escape ( ) [ ] { } . * + ? | ^ $ where they are meant literally.",
                     ErrorKind::invalid};
    }
    std::optional<kernel::PathRule> filter;
    if (!query.glob.empty()) { AF_TRY(filter, kernel::PathRule::parse(query.glob)); }
    SearchHits result;
    for (const auto& [path, content] : state_->files) {
        if ((filter && !filter->allows(path)) || is_binary(content) || content.size() > max_whole_read_bytes) { continue; }
        std::uint64_t number = 1;
        for (std::size_t begin = 0; begin < content.size(); ++number) {
            const auto end = std::min(content.find('\n', begin), content.size());
            std::string line = content.substr(begin, end - begin);
            if (line.ends_with('\r')) { line.pop_back(); }
            begin = end + 1;
            if (!std::regex_search(line, pattern)) { continue; }
            if (result.hits.size() >= query.limit) {
                result.truncated = true;
                return result;
            }
            result.hits.push_back({path, number, kernel::ellipsis(kernel::sanitize_utf8(line), hit_text_bytes)});
        }
    }
    return result;
}

bool FakeWorkspace::exists(std::string_view path) {
    const CallRecord::Entry entry(state_->record, "workspace.exists", {{"path", path}});
    const std::lock_guard lock(state_->mutex);
    const auto normal = kernel::normalize_path(path);
    return need(ToolEffect::reads, "look for a file").ok() && normal.ok() &&
           (state_->files.contains(*normal) || state_->has_folder(*normal));
}

Result<Change> FakeWorkspace::create(std::string_view path, std::string_view content, bool overwrite) {
    AF_FAKE_ENTER("create", (json::object{{"path", path}}), ToolEffect::writes, "create a file");
    AF_TRY(const std::string normal, state_->writable(path));
    if (state_->has_folder(normal)) { return is_folder(normal); }
    AF_CHECK(state_->folders_free(normal));
    const auto found = state_->files.find(normal);
    if (found == state_->files.end()) { return state_->created(normal, std::string(content)); }
    if (!overwrite) { return there_already(normal); }
    return state_->changed(normal, found->second, std::string(content));
}

Result<Change> FakeWorkspace::edit(std::string_view path, std::string_view search, std::string_view replace) {
    AF_FAKE_ENTER("edit", (json::object{{"path", path}}), ToolEffect::writes, "edit a file");
    AF_TRY(const std::string normal, state_->writable(path));
    AF_TRY(const std::string before, state_->find(normal));
    if (is_binary(before)) { return binary(normal, before.size()); }
    AF_TRY(auto edit, kernel::replace_once(before, search, replace, normal));
    return state_->changed(normal, before, std::move(edit.content));
}

Result<Change> FakeWorkspace::move(std::string_view from, std::string_view to) {
    AF_FAKE_ENTER("move", (json::object{{"from", from}, {"to", to}}), ToolEffect::writes, "move a file");
    AF_TRY(const std::string source, state_->writable(from));
    AF_TRY(const std::string target, state_->writable(to));
    if (source == target) {
        return Error{"AF-TOOL-043", "'" + source + "' is already there; nothing would change.", source,
                     "Give another path to move it to.", ErrorKind::invalid};
    }
    AF_TRY(std::string content, state_->find(source));
    if (state_->has_folder(target)) { return is_folder(target); }
    AF_CHECK(state_->folders_free(target));
    if (state_->files.contains(target)) { return there_already(target); }
    state_->removed(source);
    return state_->created(target, std::move(content));
}

Result<Change> FakeWorkspace::remove(std::string_view path) {
    AF_FAKE_ENTER("remove", (json::object{{"path", path}}), ToolEffect::writes, "delete a file");
    AF_TRY(const std::string normal, state_->writable(path));
    AF_CHECK([&]() -> Result<void> {
        AF_TRY(const std::string content, state_->find(normal));
        static_cast<void>(content);
        return {};
    }());
    return state_->removed(normal);
}

/// Works on a copy, which replaces the files if everything succeeds.
Result<std::vector<FileEdited>> FakeWorkspace::apply(const std::vector<FileEdit>& edits) {
    json::array named;
    for (const FileEdit& edit : edits) { named.emplace_back(edit.path); }
    AF_FAKE_ENTER("apply", (json::object{{"paths", std::move(named)}}), ToolEffect::writes, "edit files");
    const auto files = state_->files;
    const auto writes = state_->writes;
    auto done = apply_each(edits);
    if (!done.ok()) {
        state_->files = files;
        state_->writes = writes;
    }
    return done;
}

/// Refuses a file that is named twice, and a move without a change.
Result<void> FakeWorkspace::State::check_paths(const std::vector<FileEdit>& edits) const {
    std::set<std::string> paths;
    const auto once = [&paths](const std::string& normal) -> Result<void> {
        if (paths.insert(normal).second) { return {}; }
        return Error{"AF-TOOL-048", "'" + normal + "' is named twice. Nothing was changed.", normal,
                     "Put all changes of one file together.", ErrorKind::invalid};
    };
    for (const FileEdit& edit : edits) {
        AF_TRY(const std::string path, writable(edit.path));
        AF_CHECK(once(path));
        if (edit.move_to.empty()) { continue; }
        AF_TRY(const std::string target, writable(edit.move_to));
        if (edit.kind != FileEditKind::change) {
            return Error{"AF-TOOL-042", "'" + path + "' can only be moved together with a change. Nothing was changed.", path,
                         "Leave out the move.", ErrorKind::invalid};
        }
        if (target != path) { AF_CHECK(once(target)); }
    }
    return {};
}

/// Computes the content after the edit.
Result<void> FakeWorkspace::State::change_content(OneEdit& one) {
    const FileEdit& edit = one.edit;
    one.after = one.before;
    if (edit.kind == FileEditKind::overwrite) {
        if (is_binary(one.before)) { return binary(one.path, one.before.size()); }
        one.after = kernel::in_the_form_of(one.before, edit.content);
        if (one.after == one.before) {
            return Error{"AF-TOOL-043", "'" + one.path + "' has this content already.", one.path,
                         "Go on: there is nothing to do here.", ErrorKind::invalid};
        }
    } else if (edit.kind == FileEditKind::change && edit.hunks.empty() && one.target == one.path) {
        return Error{"AF-TOOL-042", "There is no change for '" + one.path + "'. Nothing was changed.", one.path,
                     "Give the change, or leave out the file.", ErrorKind::invalid};
    } else if (!edit.hunks.empty()) {
        if (is_binary(one.before)) { return binary(one.path, one.before.size()); }
        AF_TRY(auto hunks, kernel::apply_hunks(one.before, edit.hunks, one.path));
        one.after = std::move(hunks.content);
        one.edited.regions = std::move(hunks.regions);
        one.edited.tolerant = hunks.tolerant;
    }
    return {};
}

Result<void> FakeWorkspace::State::check_free(const std::string& path) const {
    if (has_folder(path)) { return is_folder(path); }
    AF_CHECK(folders_free(path));
    if (files.contains(path)) { return there_already(path); }
    return {};
}

void FakeWorkspace::State::move_changed(OneEdit& one) {
    removed(one.path);
    const auto counts = kernel::count_changes(one.before, one.after);
    one.edited.change = created(one.target, std::move(one.after));
    one.edited.change.before_sha256 = sha256(one.before);
    one.edited.change.created = false;
    one.edited.change.lines_added = counts.added;
    one.edited.change.lines_removed = counts.removed;
    one.edited.moved_from = one.path;
}

Result<FileEdited> FakeWorkspace::State::apply(const FileEdit& edit) {
    OneEdit one{edit};
    AF_TRY(one.path, writable(edit.path));
    one.target = edit.move_to.empty() ? one.path : writable(edit.move_to).value();
    if (edit.kind != FileEditKind::create) { AF_TRY(one.before, find(one.path)); }
    AF_CHECK(change_content(one));
    if (edit.kind == FileEditKind::create || one.target != one.path) { AF_CHECK(check_free(one.target)); }
    if (edit.kind == FileEditKind::create) {
        one.edited.change = created(one.path, edit.content);
    } else if (edit.kind == FileEditKind::remove) {
        one.edited.change = removed(one.path);
    } else if (one.target != one.path) {
        move_changed(one);
    } else {
        one.edited.change = changed(one.path, one.before, std::move(one.after));
    }
    return std::move(one.edited);
}

Result<std::vector<FileEdited>> FakeWorkspace::apply_each(const std::vector<FileEdit>& edits) {
    if (edits.empty()) {
        return Error{"AF-TOOL-042", "There is no edit to apply.", {}, "Name at least one file.", ErrorKind::invalid};
    }
    AF_CHECK(state_->check_paths(edits));
    std::vector<FileEdited> done;
    for (const FileEdit& edit : edits) {
        AF_TRY(FileEdited edited, state_->apply(edit));
        done.push_back(std::move(edited));
    }
    return done;
}

}  // namespace agentforge::testing
