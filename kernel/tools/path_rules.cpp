// SPDX-License-Identifier: Apache-2.0
#include "tools/path_rules.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "tools/acting_files.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t max_glob_bytes = 1024;
constexpr std::size_t max_globs = 200;
constexpr std::size_t max_path_bytes = 4096;
constexpr std::size_t max_component_bytes = 255;

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\n' || text.front() == '\r')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n' || text.back() == '\r')) {
        text.remove_suffix(1);
    }
    return text;
}

/// `folders`: whether a match of a folder above the path counts.
bool covers(const Glob& glob, const std::vector<std::string_view>& path, bool folders) {
    if (!glob.names_folder() && glob.matches(path, path.size())) { return true; }
    if (!folders || path.empty()) { return false; }
    for (std::size_t count = path.size() - 1; count > 0; --count) {
        if (glob.matches(path, count)) { return true; }
    }
    return false;
}

/// True for a quotation mark that its writer took for syntax: a `"` anywhere, and a `'` at either end of a name. An apostrophe
/// within a name (`it's.md`) is an ordinary character.
bool quotes(std::string_view glob, std::size_t at) {
    if (glob[at] == '"') { return true; }
    if (glob[at] != '\'') { return false; }
    return at == 0 || at + 1 == glob.size() || glob[at - 1] == '/' || glob[at + 1] == '/';
}

/// Returns what is wrong with one glob, or empty.
std::string glob_defect(std::string_view glob) {
    if (glob.empty()) { return "it is empty"; }
    if (glob.size() > max_glob_bytes) { return "it is longer than " + std::to_string(max_glob_bytes) + " bytes"; }
    if (!is_valid_utf8(glob)) { return "it is not valid UTF-8"; }
    if (path_components(glob).empty()) { return "it names nothing"; }
    if (glob.front() == '!') { return "it has a second '!'; write '\\!' for a file whose name begins with one"; }
    for (std::size_t i = 0; i < glob.size(); ++i) {
        const auto c = static_cast<unsigned char>(glob[i]);
        if (c < 0x20 || c == 0x7F) { return "it contains a control character"; }
        if (c == '{' || c == '}') {
            return "braces have no meaning in these patterns; write out each alternative, separated by commas";
        }
        if (quotes(glob, i)) {
            return "quotation marks have no meaning in these patterns; spaces need none, and '\\" + std::string(1, glob[i]) +
                   "' matches the mark itself";
        }
        if (c == '\\' && ++i >= glob.size()) { return "it ends in a backslash"; }
        if (c == '[') {
            const auto end = bracket_end(glob, i);
            if (end == std::string_view::npos) { return "its '[' is not closed"; }
            if (glob.substr(i, end - i).find('/') != std::string_view::npos) { return "its '[…]' contains a '/'"; }
            i = end - 1;
        }
    }
    for (const auto part : path_components(glob)) {
        if (part == "..") { return "'..' leads out of the workspace"; }
    }
    return {};
}

/// Splits at commas that are neither escaped nor inside `[…]`.
std::vector<std::string_view> split_globs(std::string_view text) {
    std::vector<std::string_view> globs;
    std::size_t begin = 0;
    std::size_t i = 0;
    while (i <= text.size()) {
        if (i == text.size() || text[i] == ',') {
            globs.push_back(trim(text.substr(begin, i - begin)));
            begin = i + 1;
        } else if (text[i] == '\\' && i + 1 < text.size()) {
            ++i;
        } else if (text[i] == '[') {
            const auto end = bracket_end(text, i);
            if (end != std::string_view::npos) { i = end - 1; }
        }
        ++i;
    }
    return globs;
}

/// `@name` with only letters, digits, `_` and `-`. `@scope/x` and `@*` are ordinary globs.
bool looks_like_symbol(std::string_view glob) {
    if (glob.size() < 2 || glob.front() != '@') { return false; }
    return std::all_of(glob.begin() + 1, glob.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view path) { return covers(Glob(pattern), path_components(path), true); }

Result<PathRule> PathRule::parse(std::string_view text, std::shared_ptr<const PathSymbols> symbols) {
    PathRule rule;
    rule.symbols_ = std::move(symbols);
    rule.text_ = std::string(trim(text));
    for (auto glob : split_globs(text)) {
        Entry entry;
        if (glob.starts_with('!')) {
            entry.negated = true;
            glob = trim(glob.substr(1));
        }
        if (const auto defect = glob_defect(glob); !defect.empty()) {
            return Error{
                "AF-TOOL-020", "The pattern '" + ellipsis(sanitize_utf8(glob), 200) + "' cannot be read: " + defect + ".",
                ellipsis(sanitize_utf8(text), 300),
                "Write gitignore-style globs separated by commas, such as 'src/**/*.py, !src/vendor/'.", ErrorKind::invalid};
        }
        entry.symbol = looks_like_symbol(glob);
        if (entry.symbol && glob != "@tests" && glob != "@sources" && glob != "@created") {
            return Error{"AF-TOOL-020", "The pattern '" + ellipsis(std::string(glob), 200) + "' is not a known symbol.",
                         ellipsis(sanitize_utf8(text), 300),
                         "The symbols are @tests, @sources and @created; write '\\" + ellipsis(std::string(glob), 200) +
                             "' for a file of that name.",
                         ErrorKind::invalid};
        }
        entry.pattern = std::string(glob);
        entry.glob = Glob(glob);
        rule.entries_.push_back(std::move(entry));
        if (rule.entries_.size() > max_globs) {
            return Error{"AF-TOOL-020",
                         "The rule has more than " + std::to_string(max_globs) + " patterns.",
                         {},
                         "Use fewer, wider patterns.",
                         ErrorKind::invalid};
        }
    }
    const bool created = std::any_of(rule.entries_.begin(), rule.entries_.end(),
                                     [](const Entry& entry) { return entry.symbol && entry.pattern == "@created"; });
    if (created && (!rule.binds_one_tool() || rule.entries_.front().negated)) {
        return Error{"AF-TOOL-020", "The pattern '@created' is combined with others or follows a '!'.",
                     ellipsis(sanitize_utf8(text), 300),
                     "Give `@created` alone; the rules of the role's other tools say where it may write.", ErrorKind::invalid};
    }
    return rule;
}

const PathSymbols::Symbol* PathRule::meaning_of(const Entry& entry) const {
    if (!entry.symbol || symbols_ == nullptr) { return nullptr; }
    if (entry.pattern == "@created") { return &symbols_->created; }
    return entry.pattern == "@tests" ? &symbols_->tests : &symbols_->sources;
}

bool PathRule::allowed_by(const Entry& entry, std::string_view path, const std::vector<std::string_view>& parts) const {
    if (entry.symbol) {
        const auto* symbol = meaning_of(entry);
        return symbol != nullptr && symbol->allowed && symbol->allowed(path);
    }
    return covers(entry.glob, parts, entry.glob.names_folder() || !entry.glob.ends_in_wildcard());
}

bool PathRule::allows(std::string_view path) const {
    const auto parts = path_components(path);
    bool positive = false;
    bool matched = false;
    for (const auto& entry : entries_) {
        if (entry.negated) {
            const auto* symbol = meaning_of(entry);
            const bool forbidden = !entry.symbol ? covers(entry.glob, parts, true)
                                                 : symbol == nullptr || !symbol->forbidden || symbol->forbidden(path);
            if (forbidden) { return false; }
            continue;
        }
        positive = true;
        if (!matched) { matched = allowed_by(entry, path, parts); }
    }
    return matched || !positive;
}

bool PathRule::matches_any(std::string_view path) const {
    const auto parts = path_components(path);
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return !entry.negated && allowed_by(entry, path, parts); });
}

std::string PathRule::explained() const {
    std::string text = text_;
    for (const auto* name : {"@tests", "@sources", "@created"}) {
        const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                        [&](const Entry& each) { return each.symbol && each.pattern == name; });
        if (entry == entries_.end()) { continue; }
        const auto* symbol = meaning_of(*entry);
        text += std::string(" (") + name +
                (symbol == nullptr || symbol->meaning.empty() ? " means nothing here)" : ": " + symbol->meaning + ")");
    }
    return text;
}

std::string plain_component(std::string_view component) {
    // As in git's own check (core.protectHFS, core.protectNTFS): any spelling that some file system reads as `.git` counts as
    // `.git`.
    std::string plain;
    for (std::size_t i = 0; i < component.size(); ++i) {
        // KELVIN SIGN
        if (component.substr(i, 3) == "\xE2\x84\xAA") {
            plain += 'k';
            i += 2;
            continue;
        }
        // LATIN SMALL LETTER LONG S
        if (component.substr(i, 2) == "\xC5\xBF") {
            plain += 's';
            i += 1;
            continue;
        }
        const auto three = component.substr(i, 3);
        const auto c = static_cast<unsigned char>(component[i]);
        if (three.size() == 3 && c == 0xE2) {
            const auto second = static_cast<unsigned char>(three[1]);
            const auto third = static_cast<unsigned char>(three[2]);
            const bool ignored = (second == 0x80 && ((third >= 0x8C && third <= 0x8F) || (third >= 0xAA && third <= 0xAE))) ||
                                 (second == 0x81 && third >= 0xAA && third <= 0xAF);
            if (ignored) {
                i += 2;
                continue;
            }
        }
        if (three == "\xEF\xBB\xBF") {
            i += 2;
            continue;
        }
        plain += lower(component[i]);
    }
    if (const auto stream = plain.find(':'); stream != std::string::npos) { plain.resize(stream); }
    while (!plain.empty() && (plain.back() == '.' || plain.back() == ' ')) { plain.pop_back(); }
    return plain;
}

bool is_protected_name(std::string_view component) {
    const std::string plain = plain_component(component);
    return plain == ".git" || plain == ".agentforge" || plain == "git~1" || plain == "agentf~1";
}

namespace {

std::string quoted_path(std::string_view path) { return "'" + ellipsis(sanitize_utf8(path), 200) + "'"; }

Error malformed_path(std::string message) {
    return {"AF-TOOL-012",
            std::move(message),
            {},
            "Give a path relative to the workspace, such as 'src/app.py'.",
            ErrorKind::invalid};
}

Error path_outside(std::string_view path, const char* why) {
    return {"AF-TOOL-010",
            "The path " + quoted_path(path) + " leads out of the workspace: " + why + ".",
            {},
            "Give a path relative to the workspace, without '..'; '.' is the workspace itself.",
            ErrorKind::denied};
}

Error path_protected(std::string_view path, std::string_view component) {
    return {"AF-TOOL-011",
            "The path " + quoted_path(path) + " is protected: '" + std::string(component) + "' is off limits for every role.",
            {},
            "Work with the project's own files; AgentForge manages version control and its own records.",
            ErrorKind::denied};
}

Result<void> check_path_text(std::string_view path) {
    if (path.empty()) { return malformed_path("The path is empty."); }
    if (path.size() > max_path_bytes) {
        return malformed_path("The path has " + std::to_string(path.size()) + " bytes; at most " +
                              std::to_string(max_path_bytes) + " are allowed.");
    }
    if (!is_valid_utf8(path)) { return malformed_path("The path " + quoted_path(path) + " is not valid UTF-8."); }
    for (std::size_t i = 0; i < path.size(); ++i) {
        const auto c = static_cast<unsigned char>(path[i]);
        const bool c1 = c == 0xC2 && i + 1 < path.size() && static_cast<unsigned char>(path[i + 1]) < 0xA0;
        if (c < 0x20 || c == 0x7F || c1) {
            return malformed_path("The path " + quoted_path(path) + " contains a control character.");
        }
        if (c == '\\') {
            return malformed_path("The path " + quoted_path(path) + " contains a backslash; folders are separated by '/'.");
        }
    }
    return {};
}

}  // namespace

Result<std::string> normalize_path(std::string_view path) {
    AF_CHECK(check_path_text(path));
    if (path.front() == '/') { return path_outside(path, "it is absolute"); }
    std::string result;
    bool first = true;
    for (const auto part : path_components(path)) {
        if (part == ".") { continue; }
        if (part == "..") { return path_outside(path, "it holds '..'"); }
        if (first && part == "~") { return path_outside(path, "'~' is the home folder"); }
        first = false;
        if (part.size() > max_component_bytes) {
            return malformed_path("The path " + quoted_path(path) + " has a name longer than " +
                                  std::to_string(max_component_bytes) + " bytes.");
        }
        if (is_protected_name(part)) { return path_protected(path, part); }
        if (!result.empty()) { result += '/'; }
        result += part;
    }
    if (result.empty()) { result = "."; }
    return result;
}

Error path_not_allowed(std::string_view path, std::string_view role, std::string_view constraint) {
    return {
        "AF-TOOL-013",
        "Path '" + std::string(path) + "' is not allowed for " + std::string(role) + ". Constraint: " + std::string(constraint),
        {},
        "Choose a path that the constraint allows ('!' excludes).",
        ErrorKind::denied};
}

Result<RolePaths> RolePaths::make(std::string role, const std::map<std::string, std::string, std::less<>>& constraints,
                                  const std::vector<std::string>& locked_files, std::shared_ptr<const PathSymbols> symbols,
                                  std::vector<std::string> specified) {
    RolePaths paths;
    paths.specified_ = std::move(specified);
    for (const auto& [tool, text] : constraints) {
        auto rule = PathRule::parse(text, symbols);
        if (!rule.ok()) {
            auto error = std::move(rule).error();
            error.where = "path constraint of " + tool + ", role " + role + ": " + error.where;
            return error;
        }
        if (!rule->binds_one_tool()) { paths.rules_.push_back(std::move(rule).value()); }
    }
    paths.role_ = std::move(role);
    paths.symbols_ = std::move(symbols);
    for (const auto& file : locked_files) {
        // In a file that contains tests among other code, the gates lock the tests part by part.
        const auto* tests = paths.symbols_ == nullptr ? nullptr : &paths.symbols_->tests;
        const bool mixed =
            tests != nullptr && tests->allowed && tests->forbidden && tests->allowed(file) && !tests->forbidden(file);
        if (!mixed) { paths.locked_.push_back(file); }
    }
    std::sort(paths.locked_.begin(), paths.locked_.end());
    return paths;
}

bool RolePaths::created(std::string_view normalized_path) const {
    return symbols_ != nullptr && symbols_->created.allowed && symbols_->created.allowed(normalized_path);
}

Result<void> RolePaths::check_write(std::string_view normalized_path) const {
    if (std::binary_search(locked_.begin(), locked_.end(), normalized_path)) {
        return Error{
            "AF-TOOL-015",
            "Path '" + std::string(normalized_path) + "' is locked: the task's new tests stay as they are until the commit.",
            {},
            "Leave it as it is; change other files instead.",
            ErrorKind::denied};
    }
    for (const auto& rule : rules_) {
        if (!rule.allows(normalized_path)) { return path_not_allowed(normalized_path, role_, rule.explained()); }
    }
    const std::string_view link = symbols_ == nullptr ? std::string_view() : symbols_->acting.leading_to(normalized_path);
    if ((acts_later(normalized_path) || !link.empty()) && std::ranges::find(specified_, normalized_path) == specified_.end()) {
        return Error{
            "AF-TOOL-016",
            "Path '" + std::string(normalized_path) + "' takes effect later" +
                (link.empty() ? "" : ", because '" + std::string(link) + "' is a link to it") +
                ": tools on the user's machine or a server run or read such files, and the specification does not name this one.",
            {},
            "Leave it as it is. To change it, a task names it in files_to_create or files_to_modify of its specification.",
            ErrorKind::denied};
    }
    return {};
}

}  // namespace agentforge::kernel
