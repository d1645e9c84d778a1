// SPDX-License-Identifier: Apache-2.0
// Runs tests as their user would: no recorder, another place, other file names, another order, and none of AgentForge's
// variables.
#include <algorithm>

#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "gates/failures.hpp"
#include "gates/run/language_commands.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_copy = 200UL << 20U;
constexpr std::size_t most_entries = 20'000;
/// Only the command itself exits with this code, whatever its tests print or return.
constexpr int exit_not_measured = 77;

/// Returns why the tree could not be copied, in a few words. Empty: it was copied.
std::string copy_tree(const fs::path& from, const fs::path& to) {
    std::error_code failure;
    std::uintmax_t bytes = 0;
    std::size_t entries = 0;
    fs::create_directories(to, failure);
    for (auto entry = fs::recursive_directory_iterator(from, failure); !failure && entry != fs::recursive_directory_iterator();
         entry.increment(failure)) {
        const auto relative = entry->path().lexically_relative(from);
        if (relative == ".git") {
            if (entry->is_directory(failure)) { entry.disable_recursion_pending(); }
            continue;
        }
        const auto target = to / relative;
        if (++entries > most_entries) { return "the tree has too many files"; }
        if (entry->is_symlink(failure)) {
            fs::copy_symlink(entry->path(), target, failure);
        } else if (entry->is_directory(failure)) {
            fs::create_directories(target, failure);
        } else if (entry->is_regular_file(failure)) {
            bytes += entry->file_size(failure);
            if (bytes > largest_copy) { return "the tree is too large"; }
            fs::copy_file(entry->path(), target, failure);
            if (!failure) { fs::permissions(target, fs::perms::owner_write, fs::perm_options::add, failure); }
        }
        if (failure) { break; }
    }
    return failure ? "the tree could not be copied" : "";
}

/// Writes these files below a folder, and deletes those without content.
Result<void> write_over(const fs::path& root, const std::map<std::string, std::optional<std::string>>& files) {
    for (const auto& [file, text] : files) {
        std::error_code failure;
        fs::remove(root / file, failure);
        if (!text) { continue; }
        AF_CHECK(make_directories((root / file).parent_path()));
        AF_CHECK(write_file_atomic(root / file, *text, Durability::cached));
    }
    return {};
}

std::string name_without_ending(const std::string& file) {
    const auto name = fs::path(file).filename().string();
    return name.substr(0, name.find('.'));
}

/// A folder for the plain run among the machine's temporary files, outside AgentForge's own folders, whose names would reveal the
/// run. A note in the gates' scratch folder names it, and the next plain run removes what a killed process left.
class OutsideFolder {
public:
    static Result<std::unique_ptr<OutsideFolder>> make(const fs::path& notes, SystemIdSource& ids) {
        remove_left_over(notes);
        std::error_code none;
        const std::string name = ids.random_hex(name_length);
        auto folder =
            std::make_unique<OutsideFolder>(notes / (std::string(note_prefix) + name), fs::temp_directory_path(none) / name);
        AF_CHECK(make_directories(notes));
        AF_CHECK(write_file_atomic(folder->note_, folder->path().string(), Durability::cached));
        return folder;
    }
    OutsideFolder(fs::path note, const fs::path& path) : note_(std::move(note)), folder_(std::make_unique<ScratchFolder>(path)) {}
    OutsideFolder(const OutsideFolder&) = delete;
    OutsideFolder& operator=(const OutsideFolder&) = delete;
    ~OutsideFolder() {
        folder_.reset();
        std::error_code none;
        fs::remove(note_, none);
    }
    [[nodiscard]] const fs::path& path() const { return folder_->path(); }

    static void remove_left_over(const fs::path& notes) {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(notes, none)) {
            const std::string name = entry.path().filename().string();
            if (!name.starts_with(note_prefix) || name.size() != note_prefix.size() + name_length) { continue; }
            const auto path = read_file(entry.path(), 4096);
            const fs::path left = fs::temp_directory_path(none) / name.substr(note_prefix.size());
            if (path.ok() && left == *path) { fs::remove_all(left, none); }
            fs::remove(entry.path(), none);
        }
    }

private:
    static constexpr std::string_view note_prefix = "outside-";
    static constexpr std::size_t name_length = 6;

    fs::path note_;
    std::unique_ptr<ScratchFolder> folder_;
};

/// Renames the test files that no file mentions, if `renames`. Returns each file's name in the copy.
std::map<std::string, std::string> rename_unnamed(const fs::path& root, const LanguageCommands::PlainSelection& selection,
                                                  bool renames, SystemIdSource& ids) {
    std::map<std::string, std::string> names;
    for (const auto& file : selection.files) {
        names[file] = file;
        if (!renames) { continue; }
        // A file keeps its name if another file, or the file itself, mentions it.
        const auto own = name_without_ending(file);
        bool named = false;
        for (const auto& other : selection.beside) {
            const auto content = read_file(root / other);
            named = named || (content.ok() && content->find(own) != std::string::npos);
        }
        if (named) { continue; }
        const auto renamed = (fs::path(file).parent_path() / ("t" + ids.random_hex(6) + "_" + fs::path(file).filename().string()))
                                 .generic_string();
        std::error_code failure;
        fs::rename(root / file, root / renamed, failure);
        if (!failure) { names[file] = renamed; }
    }
    return names;
}

/// Writes into `result` how the run ended.
void judge_plainly(const ProcessOutcome& outcome, std::chrono::seconds timeout, LanguageCommands::PlainRun& result) {
    const auto text = sanitize_utf8(outcome.out + "\n" + outcome.err);
    constexpr std::string_view said = "agentforge: not measured: ";
    if (outcome.timed_out) {
        result.reason = "the plain run did not finish in " + std::to_string(timeout.count()) + " s";
    } else if (const auto at = text.rfind(said); outcome.exit_code == exit_not_measured && at != std::string::npos) {
        result.reason = ellipsis(first_line(std::string_view(text).substr(at + said.size())), 300);
    } else {
        result.measured = true;
        result.passed = outcome.exit_code == 0;
        result.words = ellipsis(last_output_line(outcome.err.empty() ? outcome.out : outcome.err), 300);
    }
}

bool takes(const LanguageCommand& command, std::string_view placeholder) {
    return std::find(command.argv.begin(), command.argv.end(), placeholder) != command.argv.end();
}

/// False if the command runs the whole suite.
bool selects_tests(const LanguageCommand& command) {
    return takes(command, "{files}") || takes(command, "{tests}") || takes(command, "{directories}");
}

/// `names`: the name of each file in the copy.
std::vector<std::string> files_reversed(const LanguageCommands::PlainSelection& selection,
                                        const std::map<std::string, std::string>& names) {
    std::vector<std::string> files;
    for (auto file = selection.files.rbegin(); file != selection.files.rend(); ++file) { files.push_back(names.at(*file)); }
    return files;
}

std::vector<std::string> tests_reversed(const LanguageCommands::PlainSelection& selection,
                                        const std::map<std::string, std::string>& names) {
    std::vector<std::string> tests;
    for (auto test = selection.tests.rbegin(); test != selection.tests.rend(); ++test) {
        const auto file = test->substr(0, test->find("::"));
        const auto known = names.find(file);
        tests.push_back(known == names.end() ? *test : known->second + test->substr(file.size()));
    }
    return tests;
}

/// Removes AgentForge's own variables.
std::map<std::string, std::string> without_own(std::map<std::string, std::string> environment) {
    std::erase_if(environment, [](const auto& variable) { return variable.first.starts_with("AGENTFORGE"); });
    return environment;
}

}  // namespace

void remove_plain_runs(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> scratch;
    for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
         !error && it != end; it.increment(error)) {
        const fs::path name = it->path().filename();
        if (name == "gates") { scratch.push_back(it->path() / "scratch"); }
        if (name == "gates" || name == "work") { it.disable_recursion_pending(); }  // Below are files of the repository.
    }
    for (const fs::path& notes : scratch) { OutsideFolder::remove_left_over(notes); }
}

Result<LanguageCommands::PlainRun> LanguageCommands::run_plainly(const Language& language, const std::string& tree,
                                                                 const PlainSelection& selection, const Stop& stop) {
    PlainRun result;
    AF_TRY(const auto* chosen, runner(language, tree));
    if (chosen == nullptr || !chosen->plain) {
        result.reason = "there is no plain way to run these tests";
        return result;
    }
    if (!selects_tests(*chosen->plain) && !selection.all_pass) {
        result.reason = "other tests of the suite do not pass";
        return result;
    }
    AF_CHECK(place(language, tree, stop));
    SystemIdSource ids;
    AF_TRY(const auto outside, OutsideFolder::make(scratch_directory_, ids));
    AF_TRY(const auto scratch, ScratchFolder::make(outside->path().string()));
    Filling filling;
    filling.scratch = scratch->path();
    filling.results = scratch->path() / "results";
    filling.unique = ids.random_hex(12);
    const auto copy = scratch->path() / ids.random_hex(8) / ids.random_hex(8);
    if (result.reason = copy_tree(checkout_.top(), copy); !result.reason.empty()) { return result; }
    const auto inside = checkout_.path().lexically_relative(checkout_.top());
    filling.root = inside == "." ? copy : copy / inside;
    const auto names = rename_unnamed(filling.root, selection, chosen->plain_renames, ids);
    filling.files = files_reversed(selection, names);
    filling.tests = tests_reversed(selection, names);
    if (takes(*chosen->plain, "{before}")) {
        const auto copy_before = scratch->path() / ids.random_hex(8) / ids.random_hex(8);
        if (result.reason = copy_tree(copy, copy_before); !result.reason.empty()) { return result; }
        filling.before = inside == "." ? copy_before : copy_before / inside;
        AF_CHECK(write_over(filling.before, selection.before));
    }
    filling.build = fs::path(scratch_directory_) / "build" / (language.name + "-" + chosen->name + "-plain");
    AF_CHECK(make_directories(filling.build));
    auto command = *chosen->plain;
    command.timeout = std::min(command.timeout, selection.at_most);
    command.name = "";
    auto call = request(language, command, filling, without_own(chosen->environment), "");
    call.environment = without_own(std::move(call.environment));
    call.max_output_bytes = 4UL << 20U;
    auto outcome = start(language, "plain", call, stop);
    if (!outcome.ok()) {
        if (!is_failed_command(outcome.error())) { return std::move(outcome).error(); }
        result.reason = outcome.error().message;
        return result;
    }
    judge_plainly(*outcome, command.timeout, result);
    return result;
}

}  // namespace agentforge::kernel
