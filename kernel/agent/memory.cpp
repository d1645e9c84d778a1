// SPDX-License-Identifier: Apache-2.0
#include "agent/memory.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t recent_actions = 3;  // Keeps only the last 3.
constexpr std::size_t summary_bytes = 300;
constexpr std::size_t most_files = 12;
constexpr std::size_t most_file_bytes = 48UL * 1024;
constexpr unsigned most_calibration_permille = 2000;

std::string text_argument(const json::object& arguments, std::string_view key) {
    const json::value* value = arguments.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::uint64_t number(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    if (value == nullptr) { return 0; }
    if (value->is_uint64()) { return value->get_uint64(); }
    return value->is_int64() && value->get_int64() > 0 ? static_cast<std::uint64_t>(value->get_int64()) : 0;
}

std::string action_line(const StepRecord& record) {
    if (record.tool.empty()) { return record.success ? "answer" : "(unreadable answer)"; }
    for (const std::string_view key : {"path", "pattern", "topic", "question"}) {
        if (const std::string value = text_argument(record.arguments, key); !value.empty()) {
            return record.tool + " " + ellipsis(first_line(value), 100);
        }
    }
    return record.tool;
}

/// Returns the only place of `search`, if there is exactly one.
std::optional<std::size_t> only_place(std::string_view text, std::string_view search) {
    if (search.empty()) { return std::nullopt; }
    const std::size_t at = text.find(search);
    if (at == std::string_view::npos || text.find(search, at + 1) != std::string_view::npos) { return std::nullopt; }
    return at;
}

std::uint64_t count_lines(std::string_view text) {
    const auto ends = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    return ends + (text.empty() || text.back() == '\n' ? 0U : 1U);
}

/// Returns the pieces of an edit: `search` and `replace`, or those of `edits`.
std::vector<std::pair<std::string, std::string>> pieces(const json::object& arguments) {
    std::vector<std::pair<std::string, std::string>> result;
    if (const json::value* edits = arguments.if_contains("edits"); edits != nullptr && edits->is_array()) {
        for (const json::value& edit : edits->get_array()) {
            if (const json::object* piece = edit.if_object()) {
                result.emplace_back(text_argument(*piece, "search"), text_argument(*piece, "replace"));
            }
        }
    } else {
        result.emplace_back(text_argument(arguments, "search"), text_argument(arguments, "replace"));
    }
    return result;
}

}  // namespace

std::string without_line_numbers(std::string_view text, std::uint64_t& first_line_number) {
    std::string result;
    std::optional<std::uint64_t> expected;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view line = rest.substr(0, end);
        const bool has_end = end < rest.size();
        rest.remove_prefix(has_end ? end + 1 : end);
        // After its numbered lines a tool may add a remark: "(lines 1-20 of 300; …)".
        if (expected && line.starts_with('(')) { return result; }
        const std::size_t digits = line.find_first_not_of(' ');
        if (digits == std::string_view::npos) { return std::string(text); }
        std::uint64_t value = 0;
        const auto [after, error] = std::from_chars(line.data() + digits, line.data() + line.size(), value);
        if (error != std::errc() || after == line.data() + line.size() || (expected && value != *expected)) {
            return std::string(text);
        }
        std::string_view tail(after, static_cast<std::size_t>(line.data() + line.size() - after));
        if (tail.front() == '\t') {
            tail.remove_prefix(1);
        } else if (tail.front() == ':' || tail.front() == '|') {
            tail.remove_prefix(tail.size() > 1 && tail[1] == ' ' ? 2 : 1);
        } else {
            return std::string(text);
        }
        if (!expected) { first_line_number = value; }
        expected = value + 1;
        result += tail;
        if (has_end) { result += '\n'; }
    }
    return result;
}

unsigned calibration_of(std::uint64_t reported, std::uint64_t estimated) noexcept {
    if (reported == 0 || estimated == 0) { return 1000; }
    return static_cast<unsigned>(
        std::clamp<std::uint64_t>((reported * 1000 + estimated - 1) / estimated, 1000, most_calibration_permille));
}

void Memory::add(const StepRecord& record) {
    steps_ = record.step;
    outcome_.steps = record.step;
    outcome_.input_tokens += record.completion.usage.input_tokens;
    outcome_.output_tokens += record.completion.usage.output_tokens;
    outcome_.text = record.completion.text;
    if (!record.tool.empty()) { outcome_.tool_uses.push_back({record.tool, record.arguments, record.success, record.summary}); }
    if (record.artifact) { outcome_.artifact = *record.artifact; }
    if (record.escalation) { outcome_.escalation = record.escalation; }

    recent_.push_back(
        {record.step, action_line(record), record.success ? "success" : "failure",
         ellipsis(first_line(record.success || record.error.empty() ? record.summary : record.error), summary_bytes)});
    if (recent_.size() > recent_actions) { recent_.pop_front(); }

    malformed_ = record.tool.empty() && !record.success ? malformed_ + 1 : 0;
    if (record.tool.empty() || record.success) {
        if (record.success) {
            failed_action_.clear();
            identical_failures_ = 0;
        }
    } else {
        std::string action = record.tool + " " + to_json_canonical(record.arguments);
        identical_failures_ = action == failed_action_ ? identical_failures_ + 1 : 1;
        failed_action_ = std::move(action);
    }
    if (record.tool == "complete" && !record.success) { identical_refusals_ = ++refusals_[record.error]; }
    remember_file(record);
    calibrate(record);
    last_ = record;
}

std::map<std::string, std::string, std::less<>> Memory::seen() const {
    std::map<std::string, std::string, std::less<>> hashes;
    for (const FileMemory& file : files_) {
        if (!file.sha256.empty()) { hashes.emplace(file.path, file.sha256); }
    }
    return hashes;
}

/// Updates the remembered parts after an edit of one piece.
void Memory::remember_piece(const StepRecord& record, const std::string& path, const std::string& search,
                            const std::string& replace, const std::string& hash) {
    bool shown = false;
    std::vector<FileMemory> touched;
    std::erase_if(files_, [&](FileMemory& file) {
        if (file.path != path) { return false; }
        const auto at = only_place(file.content, search);
        if (at) {
            shown = true;
            file.content.replace(*at, search.size(), replace);
            if (file.total_lines != 0) { file.total_lines = file.total_lines - count_lines(search) + count_lines(replace); }
            file.sha256 = hash;
            file.step = file.changed = record.step;
            touched.push_back(std::move(file));
            return true;
        }
        // The edit was elsewhere in the file: this part's text is still valid, but its line numbers may not be.
        file.sha256 = hash;
        file.changed = record.step;
        if (count_lines(search) != count_lines(replace)) {
            file.first_line = 0;
            file.total_lines = 0;
        }
        return false;
    });
    for (auto file = touched.rbegin(); file != touched.rend(); ++file) { files_.insert(files_.begin(), std::move(*file)); }
    if (!shown && !replace.empty()) { put_file({path, ellipsis(replace, most_file_bytes), hash, 0, 0, record.step}); }
}

/// Several files, or text that did not match byte for byte. The tool's views replace what was seen before.
void Memory::remember_views(const StepRecord& record) {
    for (const Change& change : record.changes) {
        std::erase_if(files_, [&](const FileMemory& file) { return file.path == change.path; });
    }
    const json::value* views = record.data.if_contains("views");
    if (views == nullptr || !views->is_array()) { return; }
    for (const json::value& value : views->get_array()) {
        const json::object* view = value.if_object();
        if (view == nullptr) { continue; }
        FileMemory file{text_argument(*view, "path"), text_argument(*view, "content"), text_argument(*view, "sha256"),
                        number(*view, "first_line"),  number(*view, "total_lines"),    record.step};
        if (!file.path.empty()) { put_file(std::move(file)); }
    }
}

void Memory::put_file(FileMemory file) {
    file.changed = file.step;
    for (const FileMemory& other : files_) {
        const bool same = other.path == file.path && other.first_line == file.first_line &&
                          other.total_lines == file.total_lines && other.sha256 == file.sha256;
        if (same && other.content == file.content) { file.changed = other.changed; }
    }
    // Views of the same range of a path replace each other; a whole-file view replaces all parts.
    std::erase_if(files_, [&](const FileMemory& other) {
        return other.path == file.path &&
               (other.first_line == file.first_line || other.first_line == 0 ||
                (file.first_line == 1 && file.total_lines != 0 && count_lines(file.content) >= file.total_lines));
    });
    files_.insert(files_.begin(), std::move(file));
    std::size_t bytes = 0;
    std::size_t keep = 0;
    while (keep < files_.size() && keep < most_files && (keep == 0 || bytes + files_[keep].content.size() <= most_file_bytes)) {
        bytes += files_[keep++].content.size();
    }
    files_.resize(keep);
}

void Memory::remember_file(const StepRecord& record) {
    if (!record.success) { return; }
    if (record.tool == "apply_patch" || (record.tool == "edit_file" && record.data.contains("views"))) {
        remember_views(record);
        return;
    }
    std::string path = text_argument(record.data, "path");  // In the workspace's form.
    if (path.empty() || record.tool == "move_file") { path = text_argument(record.arguments, "path"); }
    if (path.empty()) { path = text_argument(record.arguments, "file_path"); }
    if (path.empty()) { return; }
    std::string hash = text_argument(record.data, "sha256");
    for (const Change& change : record.changes) {
        if (change.path == path) { hash = change.after_sha256; }
    }
    if (record.tool == "read_file") {
        FileMemory file{path,
                        "",
                        hash,
                        std::max<std::uint64_t>(1, number(record.arguments, "first_line")),
                        number(record.data, "total_lines"),
                        record.step};
        if (const std::uint64_t first = number(record.data, "first_line"); first > 0) { file.first_line = first; }
        const json::value* last = record.data.if_contains("last_line");
        const bool empty = last != nullptr && number(record.data, "last_line") == 0;
        if (!empty) { file.content = without_line_numbers(record.output, file.first_line); }
        put_file(std::move(file));
    } else if (record.tool == "create_file" || (record.tool == "edit_file" && record.arguments.contains("content"))) {
        std::erase_if(files_, [&](const FileMemory& file) { return file.path == path; });
        const std::string content = text_argument(record.arguments, "content");
        bool cut = content.size() > most_file_bytes;
        put_file({path, cut ? head_and_tail(content, most_file_bytes) : content, hash, 1, count_lines(content), record.step});
    } else if (record.tool == "edit_file") {
        for (const auto& [search, replace] : pieces(record.arguments)) { remember_piece(record, path, search, replace, hash); }
    } else if (record.tool == "delete_file") {
        std::erase_if(files_, [&](const FileMemory& file) { return file.path == path; });
    } else if (record.tool == "move_file") {
        const std::string to = text_argument(record.arguments, "to");
        for (FileMemory& file : files_) {
            if (file.path == path && !to.empty()) {
                file.path = to;
                file.step = file.changed = record.step;
            }
        }
    }
}

void Memory::calibrate(const StepRecord& record) {
    const Usage& usage = record.completion.usage;
    const std::uint64_t estimated = number(record.section_tokens, "total");
    // An agentic command reports the tokens of all its own turns, which say nothing about our context.
    if (usage.estimated || record.completion.diagnostics.contains("agentic")) { return; }
    calibration_permille_ = std::max(calibration_permille_, calibration_of(usage.input_tokens, estimated));
}

}  // namespace agentforge::kernel
