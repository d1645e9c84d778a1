// SPDX-License-Identifier: Apache-2.0
#include "agent/protocol.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view how_to =
    "Send one action: `ACTION tool`, then `name: value` lines or `<<<name` … `>>>name` blocks, then `END`.";

Error unreadable(std::string code, std::string message, std::string remedy = std::string(how_to)) {
    return {std::move(code), std::move(message), "", std::move(remedy), ErrorKind::invalid};
}

struct Line {
    std::string_view text;
    std::size_t number;
};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) { text.remove_prefix(1); }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) { text.remove_suffix(1); }
    return text;
}

std::vector<Line> split(std::string_view text) {
    std::vector<Line> lines;
    std::size_t start = 0;
    for (;;) {
        const std::size_t end = text.find('\n', start);
        lines.push_back({text.substr(start, end == std::string_view::npos ? end : end - start), lines.size() + 1});
        if (end == std::string_view::npos) { return lines; }
        start = end + 1;
    }
}

bool is_name(std::string_view text) {
    if (text.empty() || !(std::isalpha(static_cast<unsigned char>(text.front())) != 0 || text.front() == '_')) { return false; }
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

/// Returns the tool of `ACTION tool`, `action: tool`, `**ACTION** tool`, or empty.
std::string action_header(std::string_view line) {
    std::string_view text = trimmed(line);
    const auto skip = [&](std::string_view characters) {
        while (!text.empty() && characters.find(text.front()) != std::string_view::npos) { text.remove_prefix(1); }
    };
    skip("*#>` ");
    if (lower_case(text.substr(0, 6)) != "action") { return {}; }
    text.remove_prefix(6);
    if (text.empty() || std::string_view(": \t*`").find(text.front()) == std::string_view::npos) { return {}; }
    const bool marked = text.front() != ' ' && text.front() != '\t';
    skip(":* \t`");
    while (!text.empty() && std::string_view("*` \t.:").find(text.back()) != std::string_view::npos) { text.remove_suffix(1); }
    // "Action items follow" is prose: a tool's name is one word, and without a colon the keyword must be in capitals.
    if (!is_name(text)) { return {}; }
    const bool capitals = trimmed(line).find("ACTION") != std::string_view::npos;
    return marked || capitals ? std::string(text) : std::string();
}

bool is_fence(std::string_view line) { return trimmed(line).starts_with("```") || trimmed(line).starts_with("~~~"); }
bool is_end(std::string_view line) {
    const std::string word = lower_case(trimmed(line));
    return word == "end" || word == "end." || word == "**end**";
}

struct BlockMark {
    std::string name;
    std::string close;  ///< The whole line that ends it.
    bool no_line_end = false;
};

std::optional<BlockMark> block_mark(std::string_view line) {
    std::string_view text = trimmed(line);
    if (!text.starts_with("<<<")) { return std::nullopt; }
    text.remove_prefix(3);
    text = trimmed(text);
    const std::size_t colon = text.find(':');
    std::string_view name = text.substr(0, colon);
    const std::string_view suffix = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
    BlockMark mark;
    if (name.ends_with('-')) {
        mark.no_line_end = true;
        name.remove_suffix(1);
    }
    if (!is_name(name)) { return std::nullopt; }
    mark.name = std::string(name);
    mark.close = ">>>" + mark.name + std::string(suffix);
    return mark;
}

/// `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`, with five to nine marks.
bool is_conflict_mark(std::string_view line, char mark, std::string_view word) {
    std::string_view text = trimmed(line);
    const std::size_t count = std::min(text.find_first_not_of(mark), text.size());
    return count >= 5 && count <= 9 && trimmed(text.substr(count)) == word;
}
bool opens_search(std::string_view line) { return is_conflict_mark(line, '<', "SEARCH"); }
bool parts_search(std::string_view line) { return is_conflict_mark(line, '=', ""); }
bool closes_replace(std::string_view line) { return is_conflict_mark(line, '>', "REPLACE"); }

constexpr std::string_view patch_begin = "*** Begin Patch";
constexpr std::string_view patch_end = "*** End Patch";

struct Piece {
    std::string search;
    std::string replace;
};

/// Reads the piece whose SEARCH is at `at`. Moves `at` to its REPLACE.
Result<Piece> read_piece(const std::vector<Line>& lines, std::size_t& at) {
    Piece piece;
    const std::size_t opened = lines[at].number;
    const auto missing = [&](std::string_view mark) {
        return unreadable(
            "AF-AGENT-022",
            "the SEARCH block that line " + std::to_string(opened) + " opens has no line `" + std::string(mark) + "`",
            "Write `<<<<<<< SEARCH`, the lines exactly as in the file, `=======`, the new lines, `>>>>>>> REPLACE`.");
    };
    const auto take = [&](std::string& text, auto ends) {
        for (++at; at < lines.size() && !ends(lines[at].text) && !opens_search(lines[at].text); ++at) {
            text.append(lines[at].text).append("\n");
        }
        return at < lines.size() && ends(lines[at].text);
    };
    if (!take(piece.search, parts_search)) { return missing("======="); }
    if (!take(piece.replace, closes_replace)) { return missing(">>>>>>> REPLACE"); }
    return piece;
}

/// Reads the patch that begins at `at`. Moves `at` to its last line.
Result<std::string> read_bare_patch(const std::vector<Line>& lines, std::size_t& at) {
    const std::size_t opened = lines[at].number;
    std::string text;
    for (; at < lines.size(); ++at) {
        text.append(lines[at].text).append("\n");
        if (trimmed(lines[at].text) == patch_end) { return text; }
    }
    return unreadable("AF-AGENT-022", "the patch that line " + std::to_string(opened) + " begins has no line `*** End Patch`",
                      "End the patch with a line `*** End Patch`.");
}

bool is_offered(const std::vector<ToolSpec>& offered, std::string_view tool) {
    return std::any_of(offered.begin(), offered.end(), [&](const ToolSpec& spec) { return spec.name == tool; });
}

void put_pieces(json::object& arguments, std::vector<Piece> pieces) {
    if (pieces.size() == 1) {
        arguments["search"] = std::move(pieces.front().search);
        arguments["replace"] = std::move(pieces.front().replace);
        return;
    }
    json::array edits;
    for (Piece& piece : pieces) {
        edits.push_back(json::object{{"search", std::move(piece.search)}, {"replace", std::move(piece.replace)}});
    }
    arguments["edits"] = std::move(edits);
}

const json::object* properties_of(const std::vector<ToolSpec>& offered, std::string_view tool) {
    for (const ToolSpec& spec : offered) {
        if (spec.name != tool) { continue; }
        const json::value* properties = spec.parameters.if_contains("properties");
        return properties != nullptr ? properties->if_object() : nullptr;
    }
    return nullptr;
}

/// True if the parameter is taken literally: its schema says text, or nothing.
bool takes_text(const json::object* properties, std::string_view name) {
    if (properties == nullptr) { return true; }
    const json::value* property = properties->if_contains(name);
    const json::object* schema = property == nullptr ? nullptr : property->if_object();
    if (schema == nullptr) { return true; }
    const json::value* type = schema->if_contains("type");
    if (type == nullptr) { return schema->if_contains("enum") != nullptr || schema->if_contains("const") == nullptr; }
    if (type->is_string()) { return type->get_string() == "string"; }
    if (type->is_array()) {
        return std::any_of(type->get_array().begin(), type->get_array().end(),
                           [](const json::value& one) { return one == "string"; });
    }
    return true;
}

/// Returns the content of a fence if the whole text is one, else the text.
std::string_view without_fence(std::string_view text) {
    std::string_view inner = text;
    while (!inner.empty() && std::isspace(static_cast<unsigned char>(inner.front())) != 0) { inner.remove_prefix(1); }
    while (!inner.empty() && std::isspace(static_cast<unsigned char>(inner.back())) != 0) { inner.remove_suffix(1); }
    if (!inner.starts_with("```") || !inner.ends_with("```") || inner.size() < 7) { return text; }
    const std::size_t line_end = inner.find('\n');
    if (line_end == std::string_view::npos) { return text; }
    inner.remove_prefix(line_end + 1);
    inner.remove_suffix(3);
    return inner;
}

Result<json::value> parse_data(std::string_view text, const std::string& what) {
    const std::string_view inner = without_fence(text);
    if (auto value = parse_json(inner, what); value.ok()) { return value; }
    auto document = parse_yaml(inner, what);
    if (!document.ok()) {
        return unreadable("AF-AGENT-023",
                          what + " is neither JSON nor YAML: " + document.error().message +
                              (document.error().where.empty() ? "" : " (" + document.error().where + ")"),
                          "Write it as one YAML mapping or one JSON value; quote text that holds `: ` or ` #`.");
    }
    return std::move(document.value().value);
}

class ActionReader {
public:
    ActionReader(const std::vector<Line>& lines, const std::vector<ToolSpec>& offered) : lines_(lines), offered_(offered) {}

    /// Reads from the line after the header on.
    Result<ToolCall> read(std::string tool, std::size_t header) {
        call_.name = std::move(tool);
        properties_ = properties_of(offered_, call_.name);
        for (std::size_t at = header + 1; at < lines_.size(); ++at) {
            if (const std::string second = action_header(lines_[at].text); !second.empty()) {
                return unreadable("AF-AGENT-021",
                                  "the answer contains more than one action (lines " + std::to_string(lines_[header].number) +
                                      " and " + std::to_string(lines_[at].number) + ")",
                                  "Send exactly one action; the next step comes after its result.");
            }
            AF_CHECK(open_ ? read_part(at) : check_rest(lines_[at]));
        }
        AF_CHECK(take_pieces());
        return std::move(call_);
    }

    [[nodiscard]] bool ended() const noexcept { return ended_; }

private:
    /// Reads what begins on the line `at`. Moves `at` to its last line.
    Result<void> read_part(std::size_t& at) {
        const std::string_view line = lines_[at].text;
        if (trimmed(line).empty() || is_fence(line)) { return {}; }
        if (is_end(line)) {
            open_ = false;
            ended_ = true;
            return {};
        }
        if (const auto mark = block_mark(line)) { return read_block(*mark, at); }
        if (opens_search(line)) {
            AF_TRY(Piece piece, read_piece(lines_, at));
            pieces_.push_back(std::move(piece));
            return {};
        }
        if (trimmed(line) == patch_begin) {
            const std::size_t number = lines_[at].number;
            AF_TRY(std::string patch, read_bare_patch(lines_, at));
            return set("patch", json::value(std::move(patch)), number);
        }
        if (trimmed(line).starts_with(">>>")) {
            return unreadable("AF-AGENT-022", "line " + std::to_string(lines_[at].number) +
                                                  " closes a block that is not open: " + ellipsis(trimmed(line), 60));
        }
        if (is_parameter_line(line)) { return read_line(line, lines_[at].number); }
        open_ = false;
        stray_ = lines_[at].number;
        return {};
    }

    /// After the end, or after text that belongs to no parameter.
    [[nodiscard]] Result<void> check_rest(const Line& line) const {
        if (ended_ || !(block_mark(line.text) || opens_search(line.text))) { return {}; }
        return unreadable("AF-AGENT-022", "line " + std::to_string(line.number) +
                                              " opens a block after text that belongs to no parameter (line " +
                                              std::to_string(stray_) + ")");
    }

    Result<void> take_pieces() {
        if (pieces_.empty()) { return {}; }
        for (const std::string_view name : {"search", "replace", "edits"}) {
            if (call_.arguments.contains(name)) {
                return unreadable("AF-AGENT-022",
                                  "SEARCH blocks and the parameter `" + std::string(name) + "` are given together",
                                  "Give one or the other.");
            }
        }
        put_pieces(call_.arguments, std::move(pieces_));
        return {};
    }

    static bool is_parameter_line(std::string_view line) {
        const std::string_view text = trimmed(line);
        const std::size_t colon = text.find(':');
        return colon != std::string_view::npos && is_name(text.substr(0, colon));
    }

    Result<void> set(const std::string& name, json::value value, std::size_t line) {
        if (call_.arguments.if_contains(name) != nullptr) {
            return unreadable("AF-AGENT-022",
                              "the parameter `" + name + "` is given twice; the second time in line " + std::to_string(line));
        }
        call_.arguments[name] = std::move(value);
        return {};
    }

    Result<void> read_line(std::string_view line, std::size_t number) {
        const std::string_view text = trimmed(line);
        const std::size_t colon = text.find(':');
        const std::string name(text.substr(0, colon));
        const std::string_view value = trimmed(text.substr(colon + 1));
        if (takes_text(properties_, name)) {
            if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
                if (auto quoted = parse_json(value, name); quoted.ok() && quoted.value().is_string()) {
                    return set(name, quoted.value(), number);
                }
            }
            return set(name, json::value(std::string(value)), number);
        }
        AF_TRY(json::value data, parse_data(value, "the parameter `" + name + "` (line " + std::to_string(number) + ")"));
        return set(name, std::move(data), number);
    }

    Result<void> read_block(const BlockMark& mark, std::size_t& at) {
        const std::size_t first = at + 1;
        std::size_t close = first;
        while (close < lines_.size() && trimmed(lines_[close].text) != mark.close) { ++close; }
        if (close == lines_.size()) {
            return unreadable("AF-AGENT-022", "the block `" + mark.name + "` that line " + std::to_string(lines_[at].number) +
                                                  " opens is not closed by a line `" + ellipsis(mark.close, 80) + "`");
        }
        std::string value;
        for (std::size_t i = first; i < close; ++i) {
            if (i > first) { value += '\n'; }
            value += lines_[i].text;
        }
        if (mark.name == "content" && !mark.no_line_end && close > first) { value += '\n'; }
        const std::size_t opened = lines_[at].number;
        at = close;
        const std::string what = "the block `" + mark.name + "` (line " + std::to_string(opened) + ")";
        const bool declared = properties_ != nullptr && properties_->if_contains(mark.name) != nullptr;
        if (mark.name == "artifact" && !declared) {
            AF_TRY(json::value data, parse_data(value, what));
            if (!data.is_object()) { return unreadable("AF-AGENT-023", what + " is not a mapping of the artifact's fields"); }
            for (auto& [key, field] : data.get_object()) { AF_CHECK(set(std::string(key), std::move(field), opened)); }
            return {};
        }
        if (takes_text(properties_, mark.name)) { return set(mark.name, json::value(std::move(value)), opened); }
        AF_TRY(json::value data, parse_data(value, what));
        return set(mark.name, std::move(data), opened);
    }

    const std::vector<Line>& lines_;
    const std::vector<ToolSpec>& offered_;
    const json::object* properties_ = nullptr;
    ToolCall call_;
    std::vector<Piece> pieces_;
    bool open_ = true;    ///< Parameters may follow.
    bool ended_ = false;  ///< Its END was read.
    std::size_t stray_ = 0;
};

std::optional<ToolCall> call_of(const json::value& value) {
    const json::object* object = value.if_object();
    if (object == nullptr) { return std::nullopt; }
    for (const std::string_view name_key : {"tool", "action", "name"}) {
        const json::value* name = object->if_contains(name_key);
        if (name == nullptr || !name->is_string()) { continue; }
        for (const std::string_view argument_key : {"arguments", "parameters", "params", "input"}) {
            const json::value* arguments = object->if_contains(argument_key);
            if (arguments != nullptr && arguments->is_object()) {
                return ToolCall{std::string(name->get_string()), arguments->get_object()};
            }
        }
        if (name_key != "name" && object->size() == 1) { return ToolCall{std::string(name->get_string()), {}}; }
    }
    return std::nullopt;
}

/// Returns every call written as JSON: the text itself, or its fences.
std::vector<ToolCall> json_calls(std::string_view text) {
    std::vector<ToolCall> calls;
    const auto take = [&](std::string_view candidate) {
        const std::string_view inner = trimmed(candidate);
        if (inner.find('{') == std::string_view::npos) { return; }
        if (const auto value = parse_json(inner, "answer"); value.ok()) {
            if (auto call = call_of(value.value())) { calls.push_back(*std::move(call)); }
        }
    };
    std::string_view whole = text;
    while (!whole.empty() && std::isspace(static_cast<unsigned char>(whole.front())) != 0) { whole.remove_prefix(1); }
    while (!whole.empty() && std::isspace(static_cast<unsigned char>(whole.back())) != 0) { whole.remove_suffix(1); }
    if (whole.starts_with('{')) {
        take(whole);
        if (!calls.empty()) { return calls; }
    }
    std::size_t at = 0;
    while ((at = text.find("```", at)) != std::string_view::npos) {
        const std::size_t start = text.find('\n', at);
        if (start == std::string_view::npos) { break; }
        const std::size_t end = text.find("```", start);
        if (end == std::string_view::npos) { break; }
        std::string_view body = text.substr(start + 1, end - start - 1);
        while (!body.empty() && std::isspace(static_cast<unsigned char>(body.back())) != 0) { body.remove_suffix(1); }
        take(body);
        at = end + 3;
    }
    return calls;
}

/// Returns the path in a line: `textkit/slug.py`, `**textkit/slug.py**:`, `### textkit/slug.py`.
std::string_view path_in(std::string_view line) {
    std::string_view text = trimmed(line);
    constexpr std::string_view around = "*`#: ";
    while (!text.empty() && around.find(text.front()) != std::string_view::npos) { text.remove_prefix(1); }
    while (!text.empty() && around.find(text.back()) != std::string_view::npos) { text.remove_suffix(1); }
    const bool plain = !text.empty() && text.find_first_of(" \t<>=") == std::string_view::npos &&
                       text.find_first_of("./") != std::string_view::npos && text.back() != '.';
    return plain ? text : std::string_view();
}

/// Reads edits without an ACTION line, from models that know the blocks but not the frame. Empty: there are none.
Result<std::optional<ToolCall>> bare_edit(const std::vector<Line>& lines, const std::vector<ToolSpec>& offered) {
    const auto several = [](const std::string& what) {
        return unreadable("AF-AGENT-021", "the answer contains " + what,
                          "Send exactly one action; the next step comes after its result.");
    };
    std::optional<ToolCall> call;
    std::vector<Piece> pieces;
    std::string_view path;
    std::string_view last_path;
    for (std::size_t at = 0; at < lines.size(); ++at) {
        const std::string_view line = lines[at].text;
        if (trimmed(line) == patch_begin && is_offered(offered, "apply_patch")) {
            if (call) { return several("two patches (the second begins in line " + std::to_string(lines[at].number) + ")"); }
            AF_TRY(std::string patch, read_bare_patch(lines, at));
            call = ToolCall{"apply_patch", {{"patch", std::move(patch)}}};
        } else if (opens_search(line) && is_offered(offered, "edit_file")) {
            const std::size_t number = lines[at].number;
            if (last_path.empty()) {
                return unreadable(
                    "AF-AGENT-022",
                    "line " + std::to_string(number) + " opens a SEARCH block, and no line before it names the file",
                    "Begin with `ACTION edit_file` and `path: …`, then the SEARCH block, then `END`.");
            }
            if (!path.empty() && path != last_path) {
                return several("edits of two files, " + ellipsis(path, 100) + " and " + ellipsis(last_path, 100));
            }
            path = last_path;
            AF_TRY(Piece piece, read_piece(lines, at));
            pieces.push_back(std::move(piece));
        } else if (const auto named = path_in(line); !named.empty() && !is_fence(line)) {
            last_path = named;
        }
    }
    if (call && !pieces.empty()) { return several("a patch and a SEARCH block"); }
    if (!pieces.empty()) {
        call = ToolCall{"edit_file", {{"path", path}}};
        put_pieces(call->arguments, std::move(pieces));
    }
    return call;
}

std::string tool_names(const std::vector<ToolSpec>& offered) {
    std::string names;
    for (const ToolSpec& spec : offered) { names += (names.empty() ? "" : ", ") + spec.name; }
    return names;
}

Error cut_off_error(const std::vector<ToolSpec>& offered) {
    return unreadable("AF-AGENT-024", "the answer was cut off at the limit of output tokens before the action was complete",
                      std::string("Do less in one action: ") + (is_offered(offered, "edit_file")
                                                                    ? "write a smaller file first and extend it with edit_file."
                                                                    : "write several smaller files."));
}

Error several_actions(std::size_t count) {
    return unreadable("AF-AGENT-021", "the answer contains " + std::to_string(count) + " actions",
                      "Send exactly one action; the next step comes after its result.");
}

std::string without_cr(std::string text) {
    for (std::size_t i = 0; (i = text.find("\r\n", i)) != std::string::npos;) { text.erase(i, 1); }
    return text;
}

Result<ToolCall> read_native(const Completion& answer, const std::vector<ToolSpec>& offered) {
    if (answer.stop_reason == StopReason::length) { return cut_off_error(offered); }
    if (answer.tool_calls.size() > 1) { return several_actions(answer.tool_calls.size()); }
    return answer.tool_calls.front();
}

/// Reads the action below the first header. Returns nothing without a header.
Result<std::optional<ToolCall>> read_headed(const Completion& answer, const std::vector<ToolSpec>& offered) {
    std::string unified;
    std::vector<Line> lines = split(answer.text);
    for (std::size_t at = 0; at < lines.size(); ++at) {
        std::string tool = action_header(lines[at].text);
        if (tool.empty()) { continue; }
        // A header that ends in CR: the whole answer has CRLF line ends. Otherwise a CR belongs to the content.
        if (lines[at].text.ends_with('\r')) {
            unified = without_cr(answer.text);
            lines = split(unified);
        }
        ActionReader reader(lines, offered);
        auto call = reader.read(std::move(tool), at);
        if (answer.stop_reason == StopReason::length && !reader.ended()) { return cut_off_error(offered); }
        if (!call.ok()) { return std::move(call).error(); }
        return std::optional<ToolCall>(*std::move(call));
    }
    return std::optional<ToolCall>();
}

/// Reads SEARCH blocks or a patch that has no header. Returns nothing if there are none.
Result<std::optional<ToolCall>> read_headless_edit(const Completion& answer, const std::vector<ToolSpec>& offered) {
    if (answer.text.find("SEARCH") == std::string::npos && answer.text.find(patch_begin) == std::string::npos) {
        return std::optional<ToolCall>();
    }
    const std::string unified = without_cr(answer.text);
    auto edit = bare_edit(split(unified), offered);
    if (!edit.ok() && answer.stop_reason == StopReason::length) { return cut_off_error(offered); }
    return edit;
}

Result<ToolCall> read_any(const Completion& answer, const std::vector<ToolSpec>& offered) {
    if (!answer.tool_calls.empty()) { return read_native(answer, offered); }
    AF_TRY(std::optional<ToolCall> call, read_headed(answer, offered));
    if (call) { return *std::move(call); }
    AF_TRY(call, read_headless_edit(answer, offered));
    if (call) { return *std::move(call); }
    std::vector<ToolCall> calls = json_calls(answer.text);
    if (calls.size() == 1) { return std::move(calls.front()); }
    if (calls.size() > 1) { return several_actions(calls.size()); }
    if (answer.stop_reason == StopReason::length) { return cut_off_error(offered); }
    return unreadable("AF-AGENT-020", "the answer contains no action",
                      std::string(how_to) + " Tools: " + tool_names(offered) + ".");
}

}  // namespace

Result<ToolCall> read_action(const Completion& answer, const std::vector<ToolSpec>& offered, bool native_tool_calls) {
    auto call = read_any(answer, offered);
    if (call.ok() || !native_tool_calls || call.error().code == "AF-AGENT-024") { return call; }
    if (call.error().code == "AF-AGENT-021") {
        return unreadable("AF-AGENT-021", call.error().message, "Call exactly one tool; the next step comes after its result.");
    }
    return unreadable("AF-AGENT-020", "the answer calls no tool", "Call one of your tools: " + tool_names(offered) + ".");
}

namespace {

/// Writes pieces as SEARCH/REPLACE blocks, with raw code. Returns false if they cannot be written so.
bool write_pieces(const json::array& edits, std::string& result) {
    std::string text;
    if (edits.size() < 2) { return false; }
    for (const json::value& edit : edits) {
        const json::object* piece = edit.if_object();
        if (piece == nullptr || piece->size() != 2) { return false; }
        for (const std::string_view name : {"search", "replace"}) {
            const json::value* value = piece->if_contains(name);
            if (value == nullptr || !value->is_string()) { return false; }
            const std::string_view lines = value->get_string();
            if (!lines.empty() && !lines.ends_with('\n')) { return false; }
            if (lines.find('\r') != std::string_view::npos) { return false; }
            for (const Line& line : split(lines)) {
                if (opens_search(line.text) || parts_search(line.text) || closes_replace(line.text)) { return false; }
            }
            text += name == "search" ? "<<<<<<< SEARCH\n" : "=======\n";
            text += lines;
        }
        text += ">>>>>>> REPLACE\n";
    }
    result += text;
    return true;
}

}  // namespace

std::string write_action(const ToolCall& call) {
    std::string result = "ACTION " + call.name + "\n";
    for (const auto& [key, value] : call.arguments) {
        const std::string name(key);
        if (name == "edits" && value.is_array() && write_pieces(value.get_array(), result)) { continue; }
        const bool is_text = value.is_string();
        std::string text = is_text ? std::string(value.get_string()) : to_json_line(value);
        const bool inline_safe = text.find_first_of("\r\n") == std::string::npos && trimmed(text) == text &&
                                 !(text.size() >= 2 && text.front() == '"' && text.back() == '"');
        if (inline_safe && name != "content") {
            result += name + ": " + text + "\n";
            continue;
        }
        bool no_line_end = false;
        bool no_lines = text.empty();
        if (name == "content" && !text.empty()) {
            if (text.back() == '\n') {
                text.pop_back();
            } else {
                no_line_end = true;
            }
        }
        std::set<std::string, std::less<>> lines;
        for (const Line& line : split(text)) { lines.emplace(trimmed(line.text)); }
        std::string suffix;
        for (unsigned number = 2; lines.contains(">>>" + name + suffix); ++number) { suffix = ":" + std::to_string(number); }
        result += "<<<" + name + (no_line_end ? "-" : "") + suffix + "\n";
        if (!no_lines) { result += text + "\n"; }
        result += ">>>" + name + suffix + "\n";
    }
    return result + "END\n";
}

// --------------------------------------------------------------------------------- describing --

namespace {

std::string literal(const json::value& value) {
    return value.is_string() ? std::string(value.get_string()) : to_json_line(value);
}

std::string scalar_limits(const json::object& schema) {
    std::string limits;
    const auto add = [&](std::string_view key, std::string_view word) {
        if (const json::value* value = schema.if_contains(key)) {
            limits += std::string(limits.empty() ? "" : ", ") + std::string(word) + literal(*value);
        }
    };
    add("minLength", "min ");
    add("maxLength", "max ");
    add("minimum", ">= ");
    add("maximum", "<= ");
    add("minItems", "min ");
    add("maxItems", "max ");
    return limits.empty() ? "" : " (" + limits + ")";
}

std::string outline_of(const json::value& value, unsigned depth);

/// The outlines of a list of schemas, or nothing if `options` is no list.
std::optional<std::string> outline_of_choices(const json::value* options, unsigned depth) {
    if (options == nullptr || !options->is_array()) { return std::nullopt; }
    std::string text;
    for (const json::value& option : options->get_array()) {
        text += (text.empty() ? "" : " or ") + outline_of(option, depth + 1);
    }
    return text;
}

std::string joined_literals(const json::array& values) {
    std::string text;
    for (const json::value& value : values) { text += (text.empty() ? "" : "|") + literal(value); }
    return text;
}

/// The words of `type`: `string`, or `string|null`. Empty if the schema names no type.
std::string type_words(const json::object& schema) {
    const json::value* given = schema.if_contains("type");
    if (given == nullptr) { return {}; }
    if (given->is_string()) { return std::string(given->get_string()); }
    return given->is_array() ? joined_literals(given->get_array()) : std::string();
}

std::string outline_of_properties(const json::object& schema, const json::object& properties, unsigned depth) {
    std::set<std::string, std::less<>> required;
    if (const json::value* names = schema.if_contains("required"); names != nullptr && names->is_array()) {
        for (const json::value& name : names->get_array()) { required.insert(literal(name)); }
    }
    std::string text;
    for (const auto& [key, property] : properties) {
        const std::string name(key);
        text += (text.empty() ? "" : ", ") + name + (required.contains(name) ? "" : "?") + ": " + outline_of(property, depth + 1);
    }
    return "{" + text + "}";
}

std::string outline_of(const json::value& value, unsigned depth) {
    const json::object* schema = value.if_object();
    if (schema == nullptr || depth > 12) { return "any"; }
    if (const json::value* constant = schema->if_contains("const")) { return literal(*constant); }
    if (const json::value* options = schema->if_contains("enum"); options != nullptr && options->is_array()) {
        return joined_literals(options->get_array());
    }
    for (const std::string_view key : {"anyOf", "oneOf"}) {
        if (auto choices = outline_of_choices(schema->if_contains(key), depth)) { return *std::move(choices); }
    }
    const std::string type = type_words(*schema);
    if (const json::value* items = schema->if_contains("items"); items != nullptr || type == "array") {
        return "[" + (items != nullptr ? outline_of(*items, depth + 1) : std::string("any")) + "]" + scalar_limits(*schema);
    }
    if (const json::value* given = schema->if_contains("properties"); given != nullptr && given->is_object()) {
        return outline_of_properties(*schema, given->get_object(), depth);
    }
    if (type == "object") {
        const json::value* values = schema->if_contains("additionalProperties");
        return values != nullptr && values->is_object() ? "{name: " + outline_of(*values, depth + 1) + "}" : "{…}";
    }
    if (const json::value* pattern = schema->if_contains("pattern")) {
        return "/" + literal(*pattern) + "/" + scalar_limits(*schema);
    }
    if (type == "string") { return "text" + scalar_limits(*schema); }
    return (type.empty() ? "any" : type) + scalar_limits(*schema);
}

}  // namespace

std::string outline(const json::object& schema) { return outline_of(json::value(schema), 0); }

namespace {

/// As `outline`, except for pieces of text in a list, which would be code inside JSON: describes them as SEARCH/REPLACE blocks.
std::string outline_for_text(const json::object& schema) {
    const json::value* properties = schema.if_contains("properties");
    const json::object* all = properties == nullptr ? nullptr : properties->if_object();
    if (all == nullptr || !all->contains("edits") || !all->contains("search") || !all->contains("replace")) {
        return outline(schema);
    }
    json::object shorter = schema;
    shorter["properties"].as_object().erase("edits");
    return outline(shorter) +
           "; for several pieces, in place of search and replace, blocks of lines: `<<<<<<< SEARCH`, old, `=======`, new, `>>>>>>> REPLACE`";
}

}  // namespace

json::object describe_actions(const std::vector<ToolSpec>& offered) {
    json::object result;
    result["how_to_answer"] =
        "Answer with exactly one action in this form. Write code and other multi-line text unescaped in blocks, never in JSON.\n"
        "ACTION tool_name\n"
        "parameter: value in one line\n"
        "<<<parameter\n"
        "value of several lines\n"
        ">>>parameter\n"
        "END\n"
        "If a line of the value is itself `>>>parameter`, use the marks `<<<parameter:2` and `>>>parameter:2`.\n";
    json::array tools;
    for (const ToolSpec& spec : offered) {
        json::object tool{{"name", spec.name}, {"description", spec.description}};
        if (has(spec.effects, ToolEffect::completes)) {
            tool["parameters"] = "one block <<<artifact … >>>artifact with a YAML mapping: " + outline(spec.parameters);
        } else {
            tool["parameters"] = outline_for_text(spec.parameters);
        }
        tools.push_back(std::move(tool));
    }
    result["tools"] = std::move(tools);
    return result;
}

}  // namespace agentforge::kernel
