// SPDX-License-Identifier: Apache-2.0
#include "config/edit.hpp"

#include <algorithm>
#include <optional>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

/// Drops empty maps: for settings, `llm:` and `llm: {}` are the same.
void drop_empty(json::value& value) {
    auto* object = value.if_object();
    if (object == nullptr) { return; }
    std::vector<std::string> gone;
    for (auto& [key, inner] : *object) {
        drop_empty(inner);
        if (inner.is_null() || (inner.is_object() && inner.get_object().empty())) { gone.emplace_back(key); }
    }
    for (const auto& key : gone) { object->erase(key); }
}

bool is_word(std::string_view text) {
    if (text.empty() || text.size() > 60) { return false; }
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    if (!letter(text.front())) { return false; }
    for (const char c : text) {
        if (!letter(c) && !(c >= '0' && c <= '9') && c != '-' && c != '.' && c != '/') { return false; }
    }
    std::string lower;
    for (const char c : text) { lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
    for (const auto word : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}) {
        if (lower == word) { return false; }
    }
    return true;
}

std::string key_text(const std::string& segment) { return is_word(segment) ? segment : to_json_line(json::value(segment)); }

std::string value_text(const json::value& value) {
    if (const auto* text = value.if_string(); text != nullptr && is_word(*text)) { return std::string(*text); }
    return to_json_line(value);
}

/// One file while it is edited.
class Editor {
public:
    Editor(std::string_view text, YamlDocument document)
        : text_(text), document_(std::move(document)), eol_(text.find("\r\n") != std::string_view::npos ? "\r\n" : "\n") {}

    Result<std::string> set(const std::vector<std::string>& segments, const json::value& value) {
        json::value expected = document_.value.is_null() ? json::value(json::object()) : document_.value;
        json::value* at = &expected;
        std::size_t known = 0;  // How many of the segments already exist, as maps or as the value.
        for (std::size_t index = 0; index < segments.size(); ++index) {
            if (at->is_null()) { *at = json::object(); }
            auto* object = at->if_object();
            if (object == nullptr) { return cannot(pointer_to(segments, index), "there is a value where a map must be"); }
            if (object->contains(segments[index]) && known == index) { known = index + 1; }
            at = &(*object)[segments[index]];
        }
        *at = value;
        AF_TRY(std::string changed, known == segments.size() ? replace(segments, value) : insert(segments, known, value));
        return checked(std::move(changed), expected, segments);
    }

    Result<std::string> unset(const std::vector<std::string>& segments) {
        json::value expected = document_.value;
        json::value* at = &expected;
        for (std::size_t index = 0; index + 1 < segments.size(); ++index) {
            auto* object = at->if_object();
            if (object == nullptr || !object->contains(segments[index])) { return std::string(text_); }
            at = &object->at(segments[index]);
        }
        auto* object = at->if_object();
        if (object == nullptr || !object->contains(segments.back())) { return std::string(text_); }
        object->erase(segments.back());
        const std::string pointer = pointer_to(segments, segments.size());
        const auto line = key_line(segments, segments.size() - 1);
        if (line == std::string::npos) { return cannot(pointer, "it is inside brackets"); }
        const std::size_t end = end_of_block(line, indentation(line));
        if (holds_comment(line, end, offset_of(pointer))) {
            return cannot(pointer, "it contains a comment, which would be lost");
        }
        return checked(std::string(text_.substr(0, line)) + std::string(text_.substr(end)), expected, segments);
    }

    /// Returns the comment after a value on its key's line, with the blanks before it. "" if there is none.
    [[nodiscard]] std::string comment_behind(const std::vector<std::string>& segments) const {
        const auto place = place_of_comment(segments);
        return place ? std::string(text_.substr(place->first, place->second - place->first)) : std::string();
    }
    [[nodiscard]] std::string without_comment_behind(const std::vector<std::string>& segments) const {
        const auto place = place_of_comment(segments);
        return place ? std::string(text_.substr(0, place->first)) + std::string(text_.substr(place->second)) : std::string(text_);
    }
    [[nodiscard]] std::string with_comment_behind(const std::vector<std::string>& segments, const std::string& comment) const {
        const auto line = key_line(segments, segments.size() - 1);
        if (line == std::string::npos) { return std::string(text_); }
        const std::size_t end = line + line_at(line).size();
        return std::string(text_.substr(0, end)) + comment + std::string(text_.substr(end));
    }

private:
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> place_of_comment(
        const std::vector<std::string>& segments) const {
        const auto line = key_line(segments, segments.size() - 1);
        std::size_t at = offset_of(pointer_to(segments, segments.size()));
        if (line == std::string::npos || at == std::string::npos || at < line || at >= line + line_at(line).size() ||
            end_of_block(line, indentation(line)) != line_end(line)) {
            return std::nullopt;
        }
        at = behind_quotes(at);
        const std::size_t end = line + line_at(line).size();
        std::size_t hash = at == std::string::npos ? at : text_.substr(0, end).find(" #", at);
        if (hash == std::string::npos) { return std::nullopt; }
        while (hash > at && text_[hash - 1] == ' ') { --hash; }
        return std::pair{hash, end};
    }

    static std::string pointer_to(const std::vector<std::string>& segments, std::size_t count) {
        std::string pointer;
        for (std::size_t index = 0; index < count; ++index) { pointer += "/" + pointer_token(segments[index]); }
        return pointer;
    }

    [[nodiscard]] Error cannot(const std::string& pointer, const std::string& why) const {
        return Error{"AF-CONF-040", "the setting cannot be changed in the file: " + why, document_.where(pointer),
                     "Nothing was written. Change it there by hand.", ErrorKind::conflict};
    }

    Result<std::string> checked(std::string changed, json::value expected, const std::vector<std::string>& segments) const {
        const auto again = parse_yaml(changed, document_.source);
        json::value found = again.ok() ? again->value : json::value();
        drop_empty(found);
        drop_empty(expected);
        if (found.is_null()) { found = json::object(); }
        if (!again.ok() || found != expected) {
            return cannot(pointer_to(segments, segments.size()), "this command cannot edit YAML in this form");
        }
        return changed;
    }

    /// Returns the offset of the value's first byte, or npos if it has none.
    [[nodiscard]] std::size_t offset_of(const std::string& pointer) const {
        const auto found = document_.places.find(pointer);
        if (found == document_.places.end()) { return std::string::npos; }
        const SourcePosition& place = found->second.value;
        std::size_t at = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
        for (unsigned line = 1; line < place.line; ++line) {
            const auto end = text_.find('\n', at);
            if (end == std::string_view::npos) { return std::string::npos; }
            at = end + 1;
        }
        for (unsigned column = 1; column < place.column && at < text_.size(); ++column) {
            ++at;
            while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0U) == 0x80U) { ++at; }
        }
        return at;
    }

    [[nodiscard]] std::size_t line_begin(std::size_t at) const {
        const auto before = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
        if (before != std::string_view::npos) { return before + 1; }
        return text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    }
    [[nodiscard]] std::size_t line_end(std::size_t at) const {
        const auto end = text_.find('\n', at);
        return end == std::string_view::npos ? text_.size() : end + 1;
    }
    [[nodiscard]] std::string_view line_at(std::size_t begin) const {
        std::string_view line = text_.substr(begin, line_end(begin) - begin);
        while (line.ends_with('\n') || line.ends_with('\r')) { line.remove_suffix(1); }
        return line;
    }
    [[nodiscard]] std::size_t indentation(std::size_t begin) const {
        return std::min(line_at(begin).find_first_not_of(' '), line_at(begin).size());
    }
    [[nodiscard]] bool says_nothing(std::size_t begin) const {
        const auto first = line_at(begin).find_first_not_of(" \t");
        return first == std::string_view::npos || line_at(begin)[first] == '#';
    }

    /// Returns the end of the lines that belong to the key on this line: those indented deeper. Excludes blank lines and comments
    /// at the end.
    [[nodiscard]] std::size_t end_of_block(std::size_t line, std::size_t indent) const {
        std::size_t end = line_end(line);
        for (std::size_t at = end; at < text_.size(); at = line_end(at)) {
            if (says_nothing(at)) { continue; }
            const bool item =
                indentation(at) == indent && (line_at(at).substr(indent).starts_with("- ") || line_at(at).substr(indent) == "-");
            if (indentation(at) <= indent && !item) { break; }
            end = line_end(at);
        }
        return end;
    }

    /// Returns the start of the line with the key of `segments[index]` in a block map, or npos if it is written otherwise.
    [[nodiscard]] std::size_t key_line(const std::vector<std::string>& segments, std::size_t index) const {
        const auto map = offset_of(pointer_to(segments, index));
        if (map == std::string::npos || map >= text_.size() || text_[map] == '{') { return std::string::npos; }
        const std::size_t first = line_begin(map);
        const std::size_t indent = map - first;
        for (std::size_t at = first; at < text_.size(); at = line_end(at)) {
            if (says_nothing(at)) { continue; }
            if (indentation(at) < indent) { break; }
            if (indentation(at) > indent) { continue; }
            const std::string_view rest = line_at(at).substr(indent);
            for (const std::string& form : {segments[index], "\"" + segments[index] + "\"", "'" + segments[index] + "'"}) {
                if (!rest.starts_with(form)) { continue; }
                const std::string_view after = rest.substr(form.size());
                const auto colon = after.find_first_not_of(' ');
                if (colon != std::string_view::npos && after[colon] == ':') { return at; }
            }
        }
        return std::string::npos;
    }

    [[nodiscard]] std::size_t end_of_quoted(std::size_t at) const {
        const char quote = text_[at];
        for (++at; at < text_.size(); ++at) {
            if (quote == '"' && text_[at] == '\\') {
                ++at;
            } else if (text_[at] == quote) {
                if (quote == '\'' && at + 1 < text_.size() && text_[at + 1] == '\'') {
                    ++at;
                } else {
                    return at + 1;
                }
            }
        }
        return std::string::npos;
    }

    /// Returns the end of `[…]` or `{…}`, or npos if it contains a comment.
    [[nodiscard]] std::size_t end_of_brackets(std::size_t at) const {
        int depth = 0;
        while (at < text_.size()) {
            const char c = text_[at];
            if (c == '"' || c == '\'') {
                at = end_of_quoted(at);
                if (at == std::string::npos) { return at; }
                continue;
            }
            if (c == '#') { return std::string::npos; }
            if (c == '[' || c == '{') { ++depth; }
            if ((c == ']' || c == '}') && --depth == 0) { return at + 1; }
            ++at;
        }
        return std::string::npos;
    }

    /// Returns the offset after which a `#` is not part of the value at `at`: after its quotes or brackets. npos if unknown.
    [[nodiscard]] std::size_t behind_quotes(std::size_t at) const {
        const char first = text_[at];
        if (first == '"' || first == '\'') { return end_of_quoted(at); }
        if (first == '[' || first == '{') { return end_of_brackets(at); }
        return std::string_view("|>&*!").find(first) == std::string_view::npos ? at : std::string::npos;
    }

    /// True if these lines, whose value begins at `at`, contain a comment. True when in doubt.
    [[nodiscard]] bool holds_comment(std::size_t line, std::size_t end, std::size_t at) const {
        const std::size_t behind = at >= line && at < end ? behind_quotes(at) : std::string::npos;
        if (behind == std::string::npos || behind > end) {
            return text_.substr(line, end - line).find('#') != std::string_view::npos;
        }
        return text_.substr(line, at - line).find('#') != std::string_view::npos ||
               text_.substr(behind, end - behind).find('#') != std::string_view::npos;
    }

    Result<std::string> replace(const std::vector<std::string>& segments, const json::value& value) {
        const std::string pointer = pointer_to(segments, segments.size());
        const json::value* old = &document_.value;
        for (const auto& segment : segments) { old = &old->as_object().at(segment); }
        if (*old == value) { return std::string(text_); }
        const auto line = key_line(segments, segments.size() - 1);
        const std::size_t at = offset_of(pointer);
        if (at == std::string::npos) { return cannot(pointer, "its place is not known"); }
        const bool brackets = at < text_.size() && (text_[at] == '[' || text_[at] == '{');
        if (old->is_null() || ((old->is_array() || old->is_object()) && !brackets)) {
            // A value below its key: removes its lines and writes the new value on the key's own line.
            if (line == std::string::npos) { return cannot(pointer, "it is inside brackets"); }
            const std::size_t end = end_of_block(line, indentation(line));
            const std::string_view block = text_.substr(line, end - line);
            if (old->is_null()) { return text_with_value(line, line_end(line), value, pointer); }
            if (block.find('#') != std::string_view::npos) {
                return cannot(pointer, "it contains a comment, which would be lost");
            }
            return text_with_value(line, end, value, pointer);
        }
        const char first = at < text_.size() ? text_[at] : '\0';
        std::size_t end = std::string::npos;
        if (first == '"' || first == '\'') {
            end = end_of_quoted(at);
        } else if (brackets) {
            end = end_of_brackets(at);
        } else if (std::string_view("|>&*!").find(first) == std::string_view::npos) {
            end = line_end(at);
            while (end > at && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) { --end; }
            if (const auto comment = text_.substr(0, end).find(" #", at); comment != std::string_view::npos) { end = comment; }
            if (line == std::string::npos) { end = std::min(end, text_.find_first_of(",]}", at)); }
            while (end > at && text_[end - 1] == ' ') { --end; }
        }
        if (end == std::string::npos) {
            return cannot(pointer, "it is an anchor, an alias or a text of several lines, or it contains a comment");
        }
        return std::string(text_.substr(0, at)) + value_text(value) + std::string(text_.substr(end));
    }

    Result<std::string> text_with_value(std::size_t line, std::size_t end, const json::value& value,
                                        const std::string& pointer) const {
        const std::string_view shown = line_at(line);
        const std::size_t start = indentation(line);
        std::size_t colon = std::string_view::npos;
        if (start < shown.size() && (shown[start] == '"' || shown[start] == '\'')) {
            colon = end_of_quoted(line + start);
        } else {
            colon = text_.find(':', line);
        }
        if (colon != std::string_view::npos) { colon = text_.find(':', colon); }
        if (colon == std::string_view::npos || colon >= line + shown.size()) {
            return cannot(pointer, "its key cannot be found");
        }
        std::size_t comment_at = std::min(shown.find(" #"), shown.size());
        while (comment_at > 0 && shown[comment_at - 1] == ' ') { --comment_at; }
        const std::string_view comment = shown.substr(comment_at);
        return std::string(text_.substr(0, colon + 1)) + " " + value_text(value) + std::string(comment) + eol_ +
               std::string(text_.substr(end));
    }

    /// `llm:` / `  backend: cli`
    [[nodiscard]] std::string block(const std::vector<std::string>& segments, std::size_t from, std::size_t indent,
                                    const json::value& value) const {
        std::string out;
        for (std::size_t index = from; index < segments.size(); ++index, indent += 2) {
            out += std::string(indent, ' ') + key_text(segments[index]) + ":" +
                   (index + 1 == segments.size() ? " " + value_text(value) : "") + eol_;
        }
        return out;
    }

    Result<std::string> insert(const std::vector<std::string>& segments, std::size_t known, const json::value& value) {
        const json::value* around = &document_.value;
        for (std::size_t index = 0; index < known; ++index) { around = &around->as_object().at(segments[index]); }
        const auto* map = around->if_object();
        if (map != nullptr && !map->empty()) { return insert_into_map(segments, known, value); }
        const bool braces = map != nullptr;
        return known == 0 ? insert_into_empty_document(segments, value, braces)
                          : insert_below_empty_key(segments, known, value, braces);
    }

    /// `braces`: the document is `{}`, else nothing.
    Result<std::string> insert_into_empty_document(const std::vector<std::string>& segments, const json::value& value,
                                                   bool braces) const {
        if (!braces) {
            std::string changed(text_);
            if (!changed.empty() && !changed.ends_with('\n')) { changed += eol_; }
            return changed + block(segments, 0, 0, value);
        }
        const std::size_t at = offset_of("");
        const bool known_form = at != std::string::npos && at < text_.size() && text_[at] == '{';
        const std::size_t end = known_form ? end_of_brackets(at) : std::string::npos;
        if (end == std::string::npos) { return cannot(pointer_to(segments, 0), "this command cannot edit YAML in this form"); }
        std::string after(text_.substr(end));
        if (after.starts_with("\r\n")) {
            after.erase(0, 2);
        } else if (after.starts_with('\n')) {
            after.erase(0, 1);
        }
        return std::string(text_.substr(0, at)) + block(segments, 0, 0, value) + after;
    }

    /// `braces`: the key's value is `{}`, else nothing.
    Result<std::string> insert_below_empty_key(const std::vector<std::string>& segments, std::size_t known,
                                               const json::value& value, bool braces) const {
        const std::string pointer = pointer_to(segments, known);
        const auto line = key_line(segments, known - 1);
        if (line == std::string::npos) { return cannot(pointer, "it is inside brackets"); }
        const std::size_t indent = indentation(line) + 2;
        if (!braces) { return with_line(line_end(line), block(segments, known, indent, value)); }
        const std::size_t at = offset_of(pointer);
        const std::size_t end = at == std::string::npos || text_[at] != '{' ? std::string::npos : end_of_brackets(at);
        if (end == std::string::npos) { return cannot(pointer, "this command cannot edit YAML in this form"); }
        std::size_t begin = at;
        while (begin > 0 && text_[begin - 1] == ' ') { --begin; }
        const std::string changed = std::string(text_.substr(0, begin)) + std::string(text_.substr(end));
        const std::size_t removed = end - begin;
        const std::size_t below = line_end(at) - removed;
        std::string head = changed.substr(0, below);
        if (!head.ends_with('\n')) { head += eol_; }
        return head + block(segments, known, indent, value) + changed.substr(below);
    }

    Result<std::string> insert_into_map(const std::vector<std::string>& segments, std::size_t known,
                                        const json::value& value) const {
        const std::string pointer = pointer_to(segments, known);
        const std::size_t at = offset_of(pointer);
        if (at == std::string::npos) { return cannot(pointer, "its place is not known"); }
        if (text_[at] == '{') {
            std::string inner = value_text(value);
            for (std::size_t index = segments.size(); index-- > known;) {
                inner = key_text(segments[index]) + ": " + (index + 1 == segments.size() ? inner : "{" + inner + "}");
            }
            return std::string(text_.substr(0, at + 1)) + inner + ", " + std::string(text_.substr(at + 1));
        }
        const std::size_t first = line_begin(at);
        const std::size_t indent = at - first;
        std::size_t end = first;
        for (std::size_t line = first; line < text_.size(); line = line_end(line)) {
            if (says_nothing(line)) { continue; }
            if (line != first && indentation(line) < indent) { break; }
            end = line_end(line);
        }
        return with_line(end, block(segments, known, indent, value));
    }

    [[nodiscard]] std::string with_line(std::size_t at, const std::string& lines) const {
        std::string head(text_.substr(0, at));
        if (!head.empty() && !head.ends_with('\n')) { head += eol_; }
        return head + lines + std::string(text_.substr(at));
    }

    std::string_view text_;
    YamlDocument document_;
    std::string eol_;
};

}  // namespace

Result<std::string> set_in_yaml(std::string_view text, std::string_view source, const std::vector<std::string>& segments,
                                const json::value& value) {
    AF_TRY(YamlDocument document, parse_yaml(text, source));
    return Editor(text, std::move(document)).set(segments, value);
}

Result<std::string> move_in_yaml(std::string_view text, std::string_view source, const std::vector<std::string>& from,
                                 const std::vector<std::string>& to, const json::value& value) {
    AF_TRY(YamlDocument document, parse_yaml(text, source));
    const Editor before(text, std::move(document));
    const std::string comment = before.comment_behind(from);
    AF_TRY(std::string changed, unset_in_yaml(before.without_comment_behind(from), source, from));
    AF_TRY(changed, set_in_yaml(changed, source, to, value));
    if (comment.empty()) { return changed; }
    AF_TRY(YamlDocument moved, parse_yaml(changed, source));
    const json::value wanted = moved.value;
    std::string commented = Editor(changed, std::move(moved)).with_comment_behind(to, comment);
    const auto again = parse_yaml(commented, source);
    return again.ok() && again->value == wanted ? commented : changed;
}

Result<std::string> unset_in_yaml(std::string_view text, std::string_view source, const std::vector<std::string>& segments) {
    AF_TRY(YamlDocument document, parse_yaml(text, source));
    return Editor(text, std::move(document)).unset(segments);
}

}  // namespace agentforge::kernel
