// SPDX-License-Identifier: Apache-2.0
// The search of a role's workspace.
#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "tools/workspace/role_workspace.hpp"
#include "tools/workspace/workspace_state.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t hit_text_bytes = 300;

std::string cut_around(std::string_view line, std::size_t at) {
    if (line.size() <= hit_text_bytes) { return sanitize_utf8(line); }
    std::size_t begin = at > hit_text_bytes / 3 ? at - hit_text_bytes / 3 : 0;
    while (begin > 0 && (static_cast<unsigned char>(line[begin]) & 0xC0U) == 0x80U) { --begin; }
    return (begin > 0 ? "…" : "") + ellipsis(sanitize_utf8(line.substr(begin, hit_text_bytes)), hit_text_bytes - 6) +
           (begin + hit_text_bytes < line.size() ? "…" : "");
}

Result<void> check_search_pattern(const std::string& pattern) {
    if (!pattern.empty() && pattern.size() <= 4096) { return {}; }
    return Error{"AF-TOOL-021",
                 pattern.empty() ? "The pattern is empty." : "The pattern is longer than 4096 bytes.",
                 {},
                 "Give the text to look for.",
                 ErrorKind::invalid};
}

RE2::Options search_settings(const SearchQuery& query) {
    RE2::Options settings(RE2::Quiet);
    settings.set_literal(query.literal);
    settings.set_case_sensitive(!query.ignore_case);
    settings.set_never_nl(true);
    settings.set_max_mem(8 << 20);
    return settings;
}

Error wrong_pattern_error(const std::string& pattern, const std::string& why) {
    return {
        "AF-TOOL-021",
        "The pattern '" + ellipsis(sanitize_utf8(pattern), 200) + "' is not a regular expression: " + why + ".",
        {},
        "Write RE2 syntax (no look-around, no back-references), and escape ( ) [ ] { } . * + ? | ^ $ where they are meant literally.",
        ErrorKind::invalid};
}

/// Makes each CRLF an LF: `$` must also match before CRLF.
void remove_carriage_returns(std::string& text) {
    if (text.find('\r') == std::string::npos) { return; }
    std::size_t out = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\r' || i + 1 >= text.size() || text[i + 1] != '\n') { text[out++] = text[i]; }
    }
    text.resize(out);
}

}  // namespace

/// One call of `search`.
class RoleWorkspace::TextSearch {
public:
    TextSearch(const State& state, const SearchQuery& query)
        : state_(state),
          query_(query),
          pattern_(query.literal ? query.pattern : "(?m)" + query.pattern, search_settings(query)),
          names_placeholder_(query.pattern.find("REDACTED") != std::string::npos) {}

    Result<SearchHits> run() {
        if (!pattern_.ok()) { return wrong_pattern_error(query_.pattern, pattern_.error()); }
        if (!query_.glob.empty()) { AF_TRY(filter_, PathRule::parse(query_.glob)); }
        AF_TRY(const auto root, state_.open_folder(".", "search"));
        const auto visit = [this](int parent, const FolderEntry& entry, const std::string& path) {
            return search_entry(parent, entry, path);
        };
        AF_TRY(const bool all, state_.walk(root.get(), "", 0, true, visit));
        result_.truncated = result_.truncated || !all;
        return std::move(result_);
    }

private:
    /// Returns false if the search ends here.
    bool search_entry(int parent, const FolderEntry& entry, const std::string& path) {
        if (!S_ISREG(entry.mode) || (filter_ && !filter_->allows(path)) || entry.size > max_whole_read_bytes) { return true; }
        if (++files_ > search_file_budget || bytes_read_ + entry.size > search_byte_budget) {
            result_.truncated = true;
            return false;
        }
        auto text = read_text(parent, entry, path);
        if (!text) { return true; }
        redact_if_hit(*text);
        remove_carriage_returns(*text);
        return add_hits(*text, path);
    }

    /// Returns nothing for a file that cannot be read or is binary.
    std::optional<std::string> read_text(int parent, const FolderEntry& entry, const std::string& path) {
        OpenFile file;
        if (!open_regular(parent, entry.name, file)) { return std::nullopt; }
        auto read = State::contents(file, path);
        if (!read.ok() || looks_binary(*read)) { return std::nullopt; }
        std::string text = std::move(read).value();
        bytes_read_ += text.size();
        return text;
    }

    /// Only if there may be a hit: most files are not read twice.
    void redact_if_hit(std::string& text) const {
        if (!names_placeholder_ && !pattern_.Match(text, 0, text.size(), RE2::UNANCHORED, nullptr, 0)) { return; }
        if (auto shown = state_.redactor->redacted(text)) { text = *std::move(shown); }
    }

    /// Returns false if there are more hits than wanted.
    bool add_hits(const std::string& text, const std::string& path) {
        const re2::StringPiece whole(text);
        std::size_t at = 0;
        std::size_t counted = 0;
        std::uint64_t line = 1;
        re2::StringPiece match;
        while (at < text.size() && pattern_.Match(whole, at, text.size(), RE2::UNANCHORED, &match, 1)) {
            const auto offset = static_cast<std::size_t>(match.data() - text.data());
            line += static_cast<std::uint64_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                                          text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
            counted = offset;
            if (offset >= text.size() && text.back() == '\n') { break; }  // An empty match after the last line.
            auto begin = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
            begin = begin == std::string::npos ? 0 : begin + 1;
            const auto end = std::min(text.find('\n', offset), text.size());
            if (result_.hits.size() >= query_.limit) {
                result_.truncated = true;
                return false;
            }
            result_.hits.push_back({path, line, cut_around(std::string_view(text).substr(begin, end - begin), offset - begin)});
            at = end + 1;
        }
        return true;
    }

    const State& state_;
    const SearchQuery& query_;
    const RE2 pattern_;
    const bool names_placeholder_;
    std::optional<PathRule> filter_;
    SearchHits result_;
    std::uint64_t files_ = 0;
    std::uint64_t bytes_read_ = 0;
};

Result<SearchHits> RoleWorkspace::search(const SearchQuery& query) {
    AF_CHECK(check_search_pattern(query.pattern));
    return TextSearch(*state_, query).run();
}

}  // namespace agentforge::kernel
