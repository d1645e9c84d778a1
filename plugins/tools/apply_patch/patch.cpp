// SPDX-License-Identifier: Apache-2.0
#include "patch.hpp"

#include <algorithm>
#include <optional>

namespace agentforge::patch {
namespace {

constexpr std::string_view begin_mark = "*** Begin Patch";
constexpr std::string_view end_mark = "*** End Patch";
constexpr std::string_view end_of_file_mark = "*** End of File";
constexpr std::string_view how_to =
    "Between `*** Begin Patch` and `*** End Patch` write `*** Update File: path`, `*** Add File: path` or `*** Delete File: path`; in an update each line begins "
    "with a space (kept), `-` or `+`, and each hunk with `@@`; in an added file each line begins with `+`.";

std::string_view trimmed(std::string_view text) {
    const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!text.empty() && space(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && space(text.back())) { text.remove_suffix(1); }
    return text;
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

/// Returns at most 80 bytes of a line, cut between characters.
std::string shown(std::string_view line) {
    constexpr std::size_t most = 80;
    if (line.size() <= most) { return std::string(line); }
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) { --end; }
    return std::string(line.substr(0, end)) + "…";
}

/// `*** Add File: path` → path.
std::optional<std::string_view> after_mark(std::string_view line, std::string_view mark) {
    line = trimmed(line);
    if (!line.starts_with(mark)) { return std::nullopt; }
    return trimmed(line.substr(mark.size()));
}

/// True for `apply_patch <<'EOF'`, as in a shell command.
bool opens_here_document(std::string_view line) {
    return line.find("<<") != std::string_view::npos && line.find("apply_patch") != std::string_view::npos;
}

class Reader {
public:
    explicit Reader(std::string_view text) : lines_(split(text)) {}

    Result<std::vector<FileEdit>> read() {
        AF_CHECK(open());
        while (at_ < lines_.size() && trimmed(lines_[at_]) != end_mark) {
            if (const auto path = after_mark(lines_[at_], "*** Add File:")) {
                AF_CHECK(add(*path));
            } else if (const auto gone = after_mark(lines_[at_], "*** Delete File:")) {
                AF_CHECK(name(FileEditKind::remove, *gone));
                ++at_;
            } else if (const auto changed = after_mark(lines_[at_], "*** Update File:")) {
                AF_CHECK(update(*changed));
            } else if (trimmed(lines_[at_]).empty()) {
                ++at_;
            } else {
                return wrong("`*** Update File: path`, `*** Add File: path`, `*** Delete File: path` or `*** End Patch`");
            }
        }
        if (at_ == lines_.size()) { return wrong("`*** End Patch`"); }
        for (++at_; at_ < lines_.size(); ++at_) {
            const auto line = trimmed(lines_[at_]);
            const bool closes =
                line.starts_with("```") ||
                (here_document_ && std::all_of(line.begin(), line.end(), [](char c) { return c >= 'A' && c <= 'Z'; }));
            if (!line.empty() && !closes) { return wrong("nothing more after `*** End Patch`"); }
        }
        if (edits_.empty()) { return broken("The patch names no file.", 0); }
        return std::move(edits_);
    }

private:
    static Error broken(std::string message, std::size_t line) {
        return {"AF-TOOL-050", std::move(message) + " Nothing was changed.",
                line == 0 ? "patch" : "patch:" + std::to_string(line), std::string(how_to), ErrorKind::invalid};
    }

    [[nodiscard]] Error wrong(const std::string& expected) const {
        if (at_ >= lines_.size()) {
            return broken("The patch ends after line " + std::to_string(lines_.size()) + "; expected there: " + expected + ".",
                          lines_.size());
        }
        return broken("Line " + std::to_string(at_ + 1) + " of the patch is `" + shown(lines_[at_]) +
                          "`; expected there: " + expected + ".",
                      at_ + 1);
    }

    Result<void> open() {
        while (at_ < lines_.size()) {
            const auto line = trimmed(lines_[at_]);
            if (line == begin_mark) {
                // A mark that ends in CR: the whole patch has CRLF line ends.
                if (lines_[at_].ends_with('\r')) {
                    for (auto& one : lines_) {
                        if (one.ends_with('\r')) { one.remove_suffix(1); }
                    }
                }
                ++at_;
                return {};
            }
            here_document_ = here_document_ || opens_here_document(line);
            if (!line.empty() && !line.starts_with("```") && !opens_here_document(line)) { break; }
            ++at_;
        }
        return wrong("`*** Begin Patch`");
    }

    Result<void> name(FileEditKind kind, std::string_view path) {
        if (path.empty()) { return wrong("a path after the colon"); }
        FileEdit edit;
        edit.kind = kind;
        edit.path = path;
        edits_.push_back(std::move(edit));
        return {};
    }

    Result<void> add(std::string_view path) {
        AF_CHECK(name(FileEditKind::create, path));
        std::string& content = edits_.back().content;
        for (++at_; at_ < lines_.size() && lines_[at_].starts_with('+'); ++at_) {
            content.append(lines_[at_].substr(1)).append("\n");
        }
        // Only blank lines may separate it from what follows.
        while (at_ < lines_.size() && trimmed(lines_[at_]).empty()) { ++at_; }
        if (at_ < lines_.size() && !trimmed(lines_[at_]).starts_with("*** ")) {
            return wrong("a line of the new file, with `+` before it, or the next `***` mark");
        }
        return {};
    }

    Result<void> update(std::string_view path) {
        AF_CHECK(name(FileEditKind::change, path));
        ++at_;
        if (at_ < lines_.size()) {
            if (const auto to = after_mark(lines_[at_], "*** Move to:")) {
                if (to->empty()) { return wrong("a path after the colon"); }
                edits_.back().move_to = *to;
                ++at_;
            }
        }
        while (at_ < lines_.size() && !at_mark()) {
            if (trimmed(lines_[at_]).empty() && only_blank_until_mark()) {
                ++at_;
                continue;
            }
            AF_CHECK(hunk());
        }
        const FileEdit& edit = edits_.back();
        if (edit.hunks.empty() && edit.move_to.empty()) { return wrong("`@@`, or lines that begin with a space, `-` or `+`"); }
        return {};
    }

    [[nodiscard]] bool at_mark() const { return lines_[at_].starts_with("*** ") && trimmed(lines_[at_]) != end_of_file_mark; }

    [[nodiscard]] bool only_blank_until_mark() const {
        std::size_t next = at_;
        while (next < lines_.size() && trimmed(lines_[next]).empty()) { ++next; }
        return next == lines_.size() || lines_[next].starts_with("*** ");
    }

    /// `@@`, `@@ line`, `@@ line @@`, `@@ -1,2 +1,3 @@ line`: the numbers, and a heading beside them, are only for the reader.
    static std::string_view anchor(std::string_view line) {
        line = trimmed(line.substr(2));
        if (line.size() > 1 && line.front() == '-' && line[1] >= '0' && line[1] <= '9' &&
            line.find(" +") != std::string_view::npos && line.find("@@") != std::string_view::npos) {
            return {};
        }
        if (line.ends_with("@@")) { line = trimmed(line.substr(0, line.size() - 2)); }
        return line;
    }

    Result<void> hunk() {
        Hunk hunk;
        hunk.whole_lines = true;
        hunk.label =
            "Hunk " + std::to_string(edits_.back().hunks.size() + 1) + " (line " + std::to_string(at_ + 1) + " of the patch)";
        for (; at_ < lines_.size() && lines_[at_].starts_with("@@"); ++at_) {
            if (const auto line = anchor(lines_[at_]); !line.empty()) { hunk.anchors.emplace_back(line); }
        }
        bool any = false;
        for (; at_ < lines_.size() && !lines_[at_].starts_with("@@") && !lines_[at_].starts_with("*** "); ++at_) {
            const std::string_view line = lines_[at_];
            if (trimmed(line).empty() && only_blank_until_mark()) {
                if (line.empty()) { break; }  // It separates this file from the next one.
            }
            const char kind = line.empty() ? ' ' : line.front();
            const std::string_view text = line.empty() ? line : line.substr(1);
            if (kind != ' ' && kind != '-' && kind != '+') {
                if (line == "\r") {
                    hunk.search += "\r\n";
                    hunk.replace += "\r\n";
                    any = true;
                    continue;
                }
                return wrong("a line that begins with a space (kept), `-` or `+`, or `@@`, or the next `***` mark");
            }
            any = true;
            if (kind != '+') { hunk.search.append(text).append("\n"); }
            if (kind != '-') { hunk.replace.append(text).append("\n"); }
        }
        if (!any) { return wrong("lines of the hunk, which begin with a space, `-` or `+`"); }
        if (at_ < lines_.size() && trimmed(lines_[at_]) == end_of_file_mark) {
            hunk.at_end = true;
            ++at_;
        }
        edits_.back().hunks.push_back(std::move(hunk));
        return {};
    }

    std::vector<std::string_view> lines_;
    std::size_t at_ = 0;
    bool here_document_ = false;
    std::vector<FileEdit> edits_;
};

}  // namespace

Result<std::vector<FileEdit>> read_patch(std::string_view text) { return Reader(text).read(); }

}  // namespace agentforge::patch
