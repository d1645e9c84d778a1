// SPDX-License-Identifier: Apache-2.0
#include "base/yaml.hpp"

#include "base/json_fields.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/files.hpp"
#include "base/json_keywords.hpp"
#include "base/precompiled_yaml.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

/// Thrown to stop the parse. Never leaves this file.
struct Refusal {
    const char* code;
    std::string message;
    std::string remedy;
    std::size_t line;  ///< From 0, as in yaml-cpp.
    std::size_t column;
};

constexpr const char* syntax_error = "AF-CONF-001";
constexpr const char* duplicate_key = "AF-CONF-002";
constexpr const char* merge_key = "AF-CONF-003";
constexpr const char* bad_key = "AF-CONF-004";
constexpr const char* second_document = "AF-CONF-005";
constexpr const char* bad_tag = "AF-CONF-006";
constexpr const char* bad_alias = "AF-CONF-007";
constexpr const char* too_much = "AF-CONF-008";
constexpr const char* bad_bytes = "AF-CONF-009";

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::string shown(std::string_view text) { return "'" + ellipsis(text, 60) + "'"; }

enum class Shape : unsigned char { text = 1, integer, real };

/// Classifies `text` as a number by the rules of the header: JSON's grammar.
Shape shape_of(std::string_view text) noexcept {
    std::size_t i = 0;
    const auto digits = [&] {
        const std::size_t start = i;
        while (i < text.size() && is_digit(text[i])) { ++i; }
        return i - start;
    };
    if (i < text.size() && text[i] == '-') { ++i; }
    const std::size_t start = i;
    const std::size_t whole = digits();
    if (whole == 0 || (whole > 1 && text[start] == '0')) { return Shape::text; }
    if (i == text.size()) { return Shape::integer; }
    if (text[i] == '.') {
        ++i;
        if (digits() == 0) { return Shape::text; }
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        if (i < text.size() && (text[i] == '+' || text[i] == '-')) { ++i; }
        if (digits() == 0) { return Shape::text; }
    }
    return i == text.size() ? Shape::real : Shape::text;
}

/// True if some YAML reader reads the plain text as a number or a time (012, 0x1f, 1_000, 12:30, 2024-01-01, .5).
bool looks_like_a_number(std::string_view text) noexcept {
    if (shape_of(text) != Shape::text) { return true; }
    std::string_view rest = text;
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) { rest.remove_prefix(1); }
    if (rest.size() > 1 && rest.front() == '.' && !is_digit(rest[1])) {
        return rest == ".inf" || rest == ".Inf" || rest == ".INF" || rest == ".nan" || rest == ".NaN" || rest == ".NAN";
    }
    if (rest.empty() || (!is_digit(rest.front()) && !(rest.size() > 1 && rest.front() == '.'))) { return false; }
    if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'o' || rest[1] == 'b')) {
        return rest.find_first_not_of("0123456789abcdefABCDEF_", 2) == std::string_view::npos;
    }
    if (rest.find_first_not_of("0123456789_.:eE+-TtZ ") != std::string_view::npos) { return false; }
    // A version such as 1.2.3 or a range such as 1-2 is a word. A date is not.
    const bool date = rest.size() >= 8 && is_digit(rest[1]) && is_digit(rest[2]) && is_digit(rest[3]) && rest[4] == '-';
    return date || (std::count(rest.begin(), rest.end(), '.') <= 1 && rest.find_first_of("-+TtZ ") == std::string_view::npos);
}

/// Builds the JSON value from the parser's events.
class Builder final : public YAML::EventHandler {
public:
    Builder(std::string_view text, const YamlLimits& limits, YamlDocument& document)
        : text_(text), limits_(limits), document_(document) {
        // yaml-cpp's own parser stops at about 500 with a misleading message.
        limits_.max_depth = std::min<std::size_t>(limits_.max_depth, 400);
    }

    json::value take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (started_) {
            refuse(second_document, "A second document starts here",
                   "Keep one document a file; remove the `---` and what follows.", mark);
        }
        started_ = true;
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (expects_key()) { refuse_key("null", mark); }
        open_position(mark);
        count(1, 0, mark);
        finish_scalar(nullptr, 0, anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end() || !found->second.complete) {
            refuse(bad_alias, "An alias is inside the value that it names", "Write the value out; a value cannot contain itself.",
                   mark);
        }
        const Anchored& target = found->second;
        if (expects_key()) {
            if (!target.value.is_string()) {
                refuse(bad_key, "An alias that is not a string is used as a key", "Use a string as the key.", mark);
            }
            take_key(std::string(target.value.get_string()), mark);
            return;
        }
        if (stack_.size() + target.depth > limits_.max_depth) { refuse_depth(mark); }
        count(target.nodes, target.bytes, mark);
        open_position(mark);
        note_child(target.nodes, target.depth, target.bytes);
        place(target.value);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
        // yaml-cpp reads an opening quote at the end of the text as an empty string.
        if (text.empty() && mark.pos >= 0 && static_cast<std::size_t>(mark.pos) + 1 == text_.size() &&
            (text_.back() == '"' || text_.back() == '\'')) {
            refuse(syntax_error, "This is not YAML: the quote is never closed", "Close it.", mark);
        }
        if (expects_key()) {
            if (tag == "?" || tag.empty()) {
                if (text == "<<") {
                    refuse(merge_key, "The merge key `<<` is not supported",
                           "Write the fields out; quote the key if it is meant as text.", mark);
                }
                if (text == "true" || text == "false" || text == "null" || text == "~" || looks_like_a_number(text)) {
                    refuse_key(text, mark);
                }
            } else if (tag != "!" && tag != "tag:yaml.org,2002:str") {
                refuse(bad_key, "A key has the tag " + shown(tag), "Keys are strings; remove the tag.", mark);
            }
            if (anchor != 0) { anchors_[anchor] = Anchored{json::value(text), 1, 0, text.size(), true}; }
            take_key(text, mark);
            return;
        }
        open_position(mark);
        count(1, text.size(), mark);
        finish_scalar(resolve(tag, text, mark), text.size(), anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        begin(json::array(), "tag:yaml.org,2002:seq", mark, tag, anchor);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
        begin(json::object(), "tag:yaml.org,2002:map", mark, tag, anchor);
    }
    void OnMapEnd() override { end(); }

private:
    struct Anchored {
        json::value value;
        std::size_t nodes = 0;
        std::size_t depth = 0;
        std::size_t bytes = 0;
        bool complete = false;
    };
    struct Level {
        json::value value;
        YAML::anchor_t anchor = 0;
        std::size_t pointer_length = 0;  ///< Length of the pointer to this value.
        std::size_t nodes = 1;
        std::size_t depth = 1;  ///< Levels of collections from here down.
        std::size_t bytes = 0;  ///< Bytes of its keys and texts.
        YAML::Mark mark;
        std::string key;
        SourcePosition key_position;
        bool has_key = false;
    };

    static SourcePosition position_of(const YAML::Mark& mark) {
        return {static_cast<unsigned>(std::max(mark.line, 0)) + 1, static_cast<unsigned>(std::max(mark.column, 0)) + 1};
    }

    [[noreturn]] static void refuse(const char* code, std::string message, std::string remedy, const YAML::Mark& mark) {
        throw Refusal{code, std::move(message), std::move(remedy), static_cast<std::size_t>(std::max(mark.line, 0)),
                      static_cast<std::size_t>(std::max(mark.column, 0))};
    }
    [[noreturn]] static void refuse_key(std::string_view text, const YAML::Mark& mark) {
        refuse(bad_key, "The key " + shown(text) + " is not a string for every YAML reader", "Put the key in double quotes.",
               mark);
    }
    [[noreturn]] void refuse_depth(const YAML::Mark& mark) const {
        refuse(too_much, "The document is nested deeper than " + std::to_string(limits_.max_depth) + " levels",
               "Make it flatter.", mark);
    }

    /// Takes values and bytes of text from the budget. An alias counts as much as its value.
    void count(std::size_t nodes, std::size_t bytes, const YAML::Mark& mark) {
        if (nodes > limits_.max_nodes - std::min(nodes_, limits_.max_nodes)) {
            refuse(too_much, "The document has more than " + std::to_string(limits_.max_nodes) + " values, aliases expanded",
                   "Make it smaller or split it.", mark);
        }
        nodes_ += nodes;
        const std::size_t most_bytes = expansion * limits_.max_bytes;
        if (bytes > most_bytes - std::min(bytes_, most_bytes)) {
            refuse(too_much, "The document has more than " + std::to_string(most_bytes) + " bytes of text, aliases expanded",
                   "Make it smaller or split it.", mark);
        }
        bytes_ += bytes;
    }

    bool expects_key() const { return !stack_.empty() && stack_.back().value.is_object() && !stack_.back().has_key; }

    void take_key(const std::string& key, const YAML::Mark& mark) {
        Level& level = stack_.back();
        if (level.value.get_object().contains(key)) {
            refuse(duplicate_key, "The key " + shown(key) + " appears twice in one map", "Keep one of the two.", mark);
        }
        count(0, key.size(), mark);
        level.bytes += key.size();
        level.key = key;
        level.key_position = position_of(mark);
        level.has_key = true;
    }

    /// Extends the pointer by the place of the next value in its parent, and records its position.
    void open_position(const YAML::Mark& mark) {
        if (!stack_.empty()) {
            const Level& level = stack_.back();
            pointer_.resize(level.pointer_length);
            pointer_ += '/';
            if (level.value.is_array()) {
                pointer_ += std::to_string(level.value.get_array().size());
            } else {
                append_pointer_token(pointer_, level.key);
            }
        }
        // Long keys above many values would make the pointers larger than any document. Such values use the nearest recorded
        // position.
        if (pointer_.size() > longest_pointer || position_bytes_ > most_position_bytes) { return; }
        position_bytes_ += pointer_.size() + 100;
        const SourcePosition value = position_of(mark);
        const bool member = !stack_.empty() && stack_.back().value.is_object();
        document_.places.emplace(pointer_, YamlPlace{value, member ? stack_.back().key_position : value});
    }

    void finish_scalar(json::value value, std::size_t bytes, YAML::anchor_t anchor) {
        if (anchor != 0) { anchors_[anchor] = Anchored{value, 1, 0, bytes, true}; }
        note_child(1, 0, bytes);
        place(std::move(value));
    }

    void note_child(std::size_t nodes, std::size_t depth, std::size_t bytes) {
        if (stack_.empty()) { return; }
        stack_.back().nodes += nodes;
        stack_.back().bytes += bytes;
        stack_.back().depth = std::max(stack_.back().depth, depth + 1);
    }

    void place(json::value value) {
        if (stack_.empty()) {
            root_ = std::move(value);
            return;
        }
        Level& level = stack_.back();
        if (level.value.is_array()) {
            level.value.get_array().push_back(std::move(value));
        } else {
            level.value.get_object().emplace(level.key, std::move(value));
            level.has_key = false;
        }
    }

    void begin(json::value empty, std::string_view own_tag, const YAML::Mark& mark, const std::string& tag,
               YAML::anchor_t anchor) {
        if (expects_key()) {
            refuse(bad_key, "A list or a map is used as a key, or its bracket is never closed",
                   "Use a string as the key; close every bracket.", mark);
        }
        if (!tag.empty() && tag != "?" && tag != "!" && tag != own_tag) { refuse_tag(tag, mark); }
        if (stack_.size() >= limits_.max_depth) { refuse_depth(mark); }
        open_position(mark);
        count(1, 0, mark);
        if (anchor != 0) { anchors_[anchor] = Anchored{}; }
        Level level;
        level.mark = mark;
        level.value = std::move(empty);
        level.anchor = anchor;
        level.pointer_length = pointer_.size();
        stack_.push_back(std::move(level));
    }

    void end() {
        Level level = std::move(stack_.back());
        stack_.pop_back();
        if (level.anchor != 0) {
            count(level.nodes, level.bytes, level.mark);  // Counts the copy kept for its aliases.
            anchors_[level.anchor] = Anchored{level.value, level.nodes, level.depth, level.bytes, true};
        }
        note_child(level.nodes, level.depth, level.bytes);
        place(std::move(level.value));
    }

    [[noreturn]] static void refuse_tag(const std::string& tag, const YAML::Mark& mark) {
        refuse(bad_tag, "The tag " + shown(tag) + " is not one of this value's kinds",
               "Remove the tag; use !!str, !!int, !!float, !!bool or !!null only where they fit.", mark);
    }

    static bool is_plain(std::string_view tag) { return tag == "?" || tag.empty(); }

    /// Returns, for instance, `int` for the tag !!int. Empty: no tag; `?`: not one of YAML's own tags.
    static std::string_view tagged_kind(std::string_view tag) {
        constexpr std::string_view core = "tag:yaml.org,2002:";
        if (is_plain(tag)) { return {}; }
        return tag.starts_with(core) ? tag.substr(core.size()) : std::string_view("?");
    }

    static json::value resolve(const std::string& tag, const std::string& text, const YAML::Mark& mark) {
        if (tag == "!") { return json::value(text); }
        const bool plain = is_plain(tag);
        const std::string_view kind = tagged_kind(tag);
        if (kind == "str") { return json::value(text); }
        const bool boolean = text == "true" || text == "false";
        const bool null = text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
        const Shape shape = shape_of(text);
        if (plain) {
            if (boolean) { return json::value(text == "true"); }
            if (null) { return nullptr; }
            if (shape == Shape::text) { return json::value(text); }
            return number(text, shape, mark);
        }
        if (kind == "bool" && boolean) { return json::value(text == "true"); }
        if (kind == "null" && null) { return nullptr; }
        if (kind == "int" && shape == Shape::integer) { return number(text, shape, mark); }
        if (kind == "float" && shape != Shape::text) { return number(text, Shape::real, mark); }
        if (kind == "bool" || kind == "null" || kind == "int" || kind == "float") {
            refuse(bad_tag, shown(text) + " does not fit its tag !!" + std::string(kind), "Remove the tag, or correct the value.",
                   mark);
        }
        refuse_tag(tag, mark);
    }

    static json::value number(const std::string& text, Shape shape, const YAML::Mark& mark) {
        const char* const end = text.data() + text.size();
        if (shape == Shape::integer) {
            std::int64_t value = 0;
            if (std::from_chars(text.data(), end, value).ec == std::errc()) { return json::value(value); }
        } else {
            double value = 0;
            if (std::from_chars(text.data(), end, value).ec == std::errc()) { return json::value(value); }
        }
        refuse(bad_tag, "The number " + shown(text) + (shape == Shape::integer ? " does not fit in 64 bits" : " is out of range"),
               "Put it in quotes if it is an identifier; use a smaller number otherwise.", mark);
    }

    static constexpr std::size_t expansion = 4;  ///< Texts may take this many times max_bytes, with aliases expanded.
    static constexpr std::size_t longest_pointer = 1000;
    static constexpr std::size_t most_position_bytes = 64UL << 20U;

    std::string_view text_;
    YamlLimits limits_;
    YamlDocument& document_;
    json::value root_;
    std::vector<Level> stack_;
    std::map<YAML::anchor_t, Anchored> anchors_;
    std::string pointer_;
    std::size_t nodes_ = 0;
    std::size_t bytes_ = 0;
    std::size_t position_bytes_ = 0;
    bool started_ = false;
};

/// Converts byte columns to character columns: counts the continuation bytes before each byte.
class Columns {
public:
    explicit Columns(std::string_view text) {
        if (std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) { return; }
        continuation_.reserve(text.size() + 1);
        unsigned count = 0;
        starts_.push_back(0);
        for (std::size_t i = 0; i < text.size(); ++i) {
            continuation_.push_back(count);
            if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) { ++count; }
            if (text[i] == '\n') { starts_.push_back(i + 1); }
        }
        continuation_.push_back(count);
    }
    /// Returns the column in characters for a column in bytes. Line and column count from 0.
    [[nodiscard]] std::size_t characters(std::size_t line, std::size_t column) const {
        if (continuation_.empty() || line >= starts_.size()) { return column; }
        const std::size_t start = starts_[line];
        const std::size_t at = std::min(start + column, continuation_.size() - 1);
        return column - (continuation_[at] - continuation_[start]);
    }

private:
    std::vector<unsigned> continuation_;
    std::vector<std::size_t> starts_;
};

std::string place_of(std::string_view source, std::size_t line, std::size_t column) {
    return std::string(source) + ":" + std::to_string(line + 1) + ":" + std::to_string(column + 1);
}

/// Returns the number of bytes of the UTF-8 character that begins with this byte, which is not ASCII.
std::size_t wanted_length(unsigned char first) {
    if (first >= 0xF0) { return 4; }
    return first >= 0xE0 ? 3 : 2;
}

/// Returns the text with LF line ends and without byte order mark, or refuses bytes that are not YAML text.
std::string normalise(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) { text.remove_prefix(3); }
    std::string out;
    out.reserve(text.size());
    std::size_t line = 0;
    std::size_t line_start = 0;  // Offset in `out`.
    const auto refuse = [&](std::string message, std::string remedy) {
        const auto column = count_characters(std::string_view(out).substr(line_start));
        throw Refusal{bad_bytes, std::move(message), std::move(remedy), line, column};
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '\r') {
            if (i + 1 < text.size() && text[i + 1] == '\n') { ++i; }
            out += '\n';
        } else if ((byte < 0x20 && byte != '\t' && byte != '\n') || byte == 0x7F) {
            char hexadecimal[8];
            std::snprintf(hexadecimal, sizeof hexadecimal, "0x%02X", byte);
            refuse(std::string("The control character ") + hexadecimal + " is in the text",
                   "Remove it, or write it as \\xNN in double quotes.");
        } else if (byte < 0x80) {
            out += text[i];
        } else {
            std::size_t length = 1;
            while (length < 4 && i + length < text.size() && (static_cast<unsigned char>(text[i + length]) & 0xC0U) == 0x80U) {
                ++length;
            }
            length = std::min(length, wanted_length(byte));
            if (!is_valid_utf8(text.substr(i, length))) { refuse("The text is not valid UTF-8", "Save the file as UTF-8."); }
            out.append(text, i, length);
            i += length - 1;
        }
        if (out.back() == '\n') {
            ++line;
            line_start = out.size();
        }
    }
    // yaml-cpp reads the end of the text as a closing quote if it comes right after a line end.
    if (const auto end = out.find_last_not_of(" \t"); end != std::string::npos && out[end] == '\n') {
        out.resize(end + 1);
        out += "...\n";
    }
    return out;
}

}  // namespace

std::string YamlDocument::where(std::string_view pointer) const {
    const auto at = [this](const SourcePosition& position) {
        return source + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
    };
    for (;;) {
        if (const auto found = places.find(pointer); found != places.end()) { return at(found->second.value); }
        if (pointer.ends_with('#')) {
            pointer.remove_suffix(1);
            if (const auto found = places.find(pointer); found != places.end()) { return at(found->second.key); }
        }
        const auto slash = pointer.rfind('/');
        if (slash == std::string_view::npos) { return source; }
        pointer = pointer.substr(0, slash);
    }
}

Result<YamlDocument> parse_yaml(std::string_view text, std::string_view source, const YamlLimits& limits) {
    if (text.size() > limits.max_bytes) {
        return Error{too_much, "The document is larger than the " + std::to_string(limits.max_bytes) + " bytes allowed here",
                     std::string(source), "Make it smaller or split it.", ErrorKind::invalid};
    }
    if (limits == YamlLimits()) {
        if (auto known = find_precompiled_yaml(text, source)) { return std::move(*known); }
    }
    YamlDocument document;
    document.source = source;
    std::string normal;
    try {
        normal = normalise(text);
    } catch (const Refusal& refusal) {
        return Error{refusal.code, refusal.message, place_of(source, refusal.line, refusal.column), refusal.remedy,
                     ErrorKind::invalid};
    }
    const Columns columns(normal);
    try {
        std::istringstream stream(normal);
        YAML::Parser parser(stream);
        Builder builder(normal, limits, document);
        while (parser.HandleNextDocument(builder)) {}
        document.value = builder.take();
        for (auto& [pointer, place] : document.places) {
            for (SourcePosition* position : {&place.value, &place.key}) {
                position->column = static_cast<unsigned>(columns.characters(position->line - 1, position->column - 1)) + 1;
            }
        }
        if (document.places.empty()) { document.places.emplace("", YamlPlace{{1, 1}, {1, 1}}); }
        return document;
    } catch (const Refusal& refusal) {
        return Error{refusal.code, refusal.message,
                     place_of(source, refusal.line, columns.characters(refusal.line, refusal.column)), refusal.remedy,
                     ErrorKind::invalid};
    } catch (const YAML::Exception& exception) {
        const auto line = static_cast<std::size_t>(std::max(exception.mark.line, 0));
        const auto column = static_cast<std::size_t>(std::max(exception.mark.column, 0));
        const bool alias = exception.msg.find("anchor") != std::string::npos || exception.msg.find("alias") != std::string::npos;
        return Error{alias ? bad_alias : syntax_error, "This is not YAML: " + exception.msg,
                     place_of(source, line, columns.characters(line, column)),
                     "Correct the text there; indent with spaces, never with tabs.", ErrorKind::invalid};
    } catch (const std::exception& exception) {
        return Error{syntax_error, std::string("This is not YAML: ") + exception.what(), std::string(source), "Correct the text.",
                     ErrorKind::invalid};
    }
}

Result<YamlDocument> load_yaml(const std::string& path, const YamlLimits& limits) {
    AF_TRY(const std::string text, read_file(path, limits.max_bytes));
    return parse_yaml(text, path, limits);
}

namespace {

bool is_plain_key(std::string_view key) {
    static const std::set<std::string, std::less<>> words{"y", "n", "yes", "no", "on", "off", "true", "false", "null"};
    if (key.empty() || key.size() > 100 || is_digit(key.front()) || key.front() == '-') { return false; }
    std::string lower;
    for (const char c : key) {
        const bool upper = c >= 'A' && c <= 'Z';
        if (!upper && !(c >= 'a' && c <= 'z') && !is_digit(c) && c != '_' && c != '-') { return false; }
        lower += upper ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return !words.contains(lower);
}

/// True if every reader reads the literal block `|` or `|-` back as exactly this text.
bool is_literal(std::string_view text) {
    if (text.find('\n') == std::string_view::npos || text.size() > (1UL << 20U)) { return false; }
    if (text.front() == ' ' || text.front() == '\n') { return false; }
    // A block cannot hold what to_json_line escapes, except for \n, " and \.
    std::string quoted = to_json_line(json::value(text));
    for (std::size_t i = 0; i + 1 < quoted.size(); ++i) {
        if (quoted[i] != '\\') { continue; }
        const char c = quoted[++i];
        if (c != 'n' && c != '"' && c != '\\') { return false; }
    }
    if (!is_valid_utf8(text)) { return false; }
    std::string_view body = text;
    if (body.back() == '\n') { body.remove_suffix(1); }
    // The last line must not be blank, or the end of the block would depend on it.
    const std::string_view last = body.substr(body.rfind('\n') + 1);
    return last.find_first_not_of(' ') != std::string_view::npos;
}

void append_block(std::string& out, const json::value& value, std::size_t indent, bool after_dash);

/// Appends a value after `key:` or `-`, with nothing written between.
void append_after(std::string& out, const json::value& value, std::size_t indent, bool dash) {
    if (value.is_string() && is_literal(value.get_string())) {
        std::string_view text = value.get_string();
        const bool ends = text.back() == '\n';
        out += ends ? " |\n" : " |-\n";
        if (ends) { text.remove_suffix(1); }
        for (;;) {
            const auto end = text.find('\n');
            const std::string_view line = text.substr(0, end);
            if (!line.empty()) { out.append(indent + 2, ' '); }
            out += line;
            out += '\n';
            if (end == std::string_view::npos) { break; }
            text.remove_prefix(end + 1);
        }
        return;
    }
    const bool collection =
        (value.is_object() && !value.get_object().empty()) || (value.is_array() && !value.get_array().empty());
    if (!collection) {
        out += ' ' + to_json_line(value) + '\n';
        return;
    }
    if (dash) {
        out += ' ';
    } else {
        out += '\n';
    }
    append_block(out, value, indent + 2, dash);
}

/// Appends a non-empty collection, indented by `indent`. If `begun`, the first line is already indented.
void append_block(std::string& out, const json::value& value, std::size_t indent, bool begun) {
    const auto start = [&] {
        if (!begun) { out.append(indent, ' '); }
        begun = false;
    };
    if (value.is_array()) {
        for (const auto& item : value.get_array()) {
            start();
            out += '-';
            append_after(out, item, indent, true);
        }
        return;
    }
    for (const auto& entry : value.get_object()) {
        start();
        const std::string_view key = entry.key();
        if (is_plain_key(key)) {
            out += key;
        } else {
            const std::string quoted = to_json_line(json::value(key));
            if (quoted.size() > 1000) {  // Longer than a simple key may be (1,024 characters): uses the explicit form.
                out += "? " + quoted + '\n';
                out.append(indent, ' ');
            } else {
                out += quoted;
            }
        }
        out += ':';
        append_after(out, entry.value(), indent, false);
    }
}

}  // namespace

std::string to_yaml(const json::value& value) {
    std::string out;
    const bool collection =
        (value.is_object() && !value.get_object().empty()) || (value.is_array() && !value.get_array().empty());
    if (!collection) { return to_json_line(value) + '\n'; }
    append_block(out, value, 0, false);
    return out;
}

}  // namespace agentforge::kernel
