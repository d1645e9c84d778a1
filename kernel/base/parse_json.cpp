// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>

#include "base/json_handler.hpp"

namespace agentforge::kernel {

namespace {

/// Builds the value, and counts the members of all objects in the text. Of two equal keys the value keeps the last.
class ValueBuilder : public JsonHandler {
public:
    ValueBuilder() : stack_({}, buffer_.data(), buffer_.size()) {}

    [[nodiscard]] json::value release() { return stack_.release(); }
    [[nodiscard]] std::size_t members() const noexcept { return members_; }

    bool on_object_end(std::size_t size, Error&) {
        members_ += size;
        stack_.push_object(size);
        return true;
    }
    bool on_array_end(std::size_t size, Error&) {
        stack_.push_array(size);
        return true;
    }
    bool on_key_part(std::string_view part, std::size_t, Error&) {
        stack_.push_chars(part);
        return true;
    }
    bool on_key(std::string_view last_part, std::size_t, Error&) {
        stack_.push_key(last_part);
        return true;
    }
    bool on_string_part(std::string_view part, std::size_t, Error&) {
        stack_.push_chars(part);
        return true;
    }
    bool on_string(std::string_view last_part, std::size_t, Error&) {
        stack_.push_string(last_part);
        return true;
    }
    bool on_int64(std::int64_t number, std::string_view, Error&) {
        stack_.push_int64(number);
        return true;
    }
    bool on_uint64(std::uint64_t number, std::string_view, Error&) {
        stack_.push_uint64(number);
        return true;
    }
    bool on_double(double number, std::string_view, Error&) {
        stack_.push_double(number);
        return true;
    }
    bool on_bool(bool value, Error&) {
        stack_.push_bool(value);
        return true;
    }
    bool on_null(Error&) {
        stack_.push_null();
        return true;
    }

private:
    std::array<unsigned char, 4096> buffer_;  ///< A record's values fit, so that its parsing allocates only what it keeps.
    json::value_stack stack_;
    std::size_t members_ = 0;
};

std::size_t count_members(const json::value& value) noexcept {
    std::size_t count = 0;
    if (const auto* object = value.if_object()) {
        count = object->size();
        for (const auto& entry : *object) { count += count_members(entry.value()); }
    } else if (const auto* array = value.if_array()) {
        for (const auto& item : *array) { count += count_members(item); }
    }
    return count;
}

/// Returns the end of the string token that starts at `at`. The text is valid JSON.
std::size_t after_string(std::string_view text, std::size_t at) noexcept {
    for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') { ++at; }
    }
    return at + 1;
}

/// Finds the second occurrence of a key in one object, in valid JSON that has one.
std::pair<std::size_t, std::string> find_duplicate(std::string_view text) {
    std::vector<std::set<std::string>> keys;  // One for each open object or list.
    std::size_t last = 0;                     // The last string token. It is a key if a colon follows.
    for (std::size_t i = 0; i < text.size(); ++i) {
        switch (text[i]) {
            case '{':
            case '[':
                keys.emplace_back();
                break;
            case '}':
            case ']':
                keys.pop_back();
                break;
            case '"':
                last = i;
                i = after_string(text, i) - 1;
                break;
            case ':': {
                const json::value key = json::parse(text.substr(last, after_string(text, last) - last));
                if (std::string name(key.get_string()); !keys.back().insert(name).second) { return {last, name}; }
                break;
            }
            default:
                break;
        }
    }
    return {0, ""};
}

}  // namespace

Result<json::value> parse_json(std::string_view text, std::string_view source) {
    json::parse_options options;
    options.max_depth = 200;
    std::size_t stopped = 0;
    std::string reason;
    try {
        json::basic_parser<ValueBuilder> parser(options);
        json::error_code error;
        stopped = parser.write_some(false, text.data(), text.size(), error);
        if (!error) {
            const std::size_t rest = text.find_first_not_of(" \t\r\n", stopped);
            if (rest == std::string_view::npos) {
                json::value value = parser.handler().release();
                if (parser.handler().members() == count_members(value)) { return value; }
                const auto [at, key] = find_duplicate(text);
                stopped = at;
                reason = "the key '" + ellipsis(key, 60) + "' appears twice in one object";
            } else {
                stopped = rest;
                reason = "something follows the value";
            }
        } else {
            reason = error.message();
        }
    } catch (const std::exception& exception) { reason = exception.what(); }
    stopped = std::min(stopped, text.size());
    const std::string_view before = text.substr(0, stopped);
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const auto start = before.rfind('\n') + 1;  // npos + 1 is 0.
    return Error{"AF-BASE-020", "This is not JSON: " + reason,
                 std::string(source) + ":" + std::to_string(line) + ":" + std::to_string(stopped - start + 1),
                 "Correct the text there.", ErrorKind::invalid};
}

}  // namespace agentforge::kernel
