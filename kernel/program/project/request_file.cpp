// SPDX-License-Identifier: Apache-2.0
#include "program/project/request_file.hpp"

#include <functional>
#include <map>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "pipeline/pipeline_controller.hpp"

namespace agentforge::kernel {

namespace {

constexpr YamlLimits request_file_limits{64UL << 20U, 1'000'000, 20};

Error bad_entry(const std::string& what, const std::string& where, const std::string& remedy) {
    return Error{"AF-CLI-170", what, where, remedy, ErrorKind::invalid};
}

/// Returns the place of an entry's key. In a file of lines, this is the line.
using Place = std::function<std::string(const std::string& key)>;

class EntryReader {
public:
    EntryReader(const json::object& entry, const Place& place) : entry_(entry), place_(place) {}

    Result<RequestEntry> read() {
        RequestEntry made;
        made.where = place_("");
        const std::map<std::string, std::function<Result<void>(const json::value&, const std::string&)>, std::less<>> keys{
            {"request", text(made.arguments.request)},
            {"pipeline", text(made.arguments.pipeline)},
            {"exit_after", text(made.arguments.exit_after)},
            {"approve", texts(made.arguments.approve)},
            {"supervised", flag(made.arguments.supervised)},
            {"include_uncommitted", flag(made.arguments.include_uncommitted)},
            {"backend", setting(made, "llm.backend")},
            {"model", setting(made, "llm.model")},
            {"delivery", setting(made, "delivery.type")},
            {"transcript",
             [&](const json::value& value, const std::string& key) -> Result<void> {
                 made.settings.emplace_back("llm.backend", "replay");
                 return setting(made, "llm.transcript")(value, key);
             }},
            {"set", [&](const json::value& value, const std::string& key) { return settings(made, value, key); }}};
        std::vector<std::string> names;
        for (const auto& [name, take] : keys) { names.push_back(name); }
        for (const auto& [key, value] : entry_) {
            const auto known = keys.find(std::string_view(key));
            if (known == keys.end()) { return unknown(std::string(key), names); }
            AF_CHECK(known->second(value, std::string(key)));
        }
        if (!entry_.contains("request")) {
            return bad_entry("the entry has no `request`", made.where, "say what to do: request: \"Add a --version flag\"");
        }
        if (auto taken = check_request(made.arguments.request); !taken.ok()) {
            Error error = taken.error();
            error.where = made.where;
            return error;
        }
        return made;
    }

private:
    using Take = std::function<Result<void>(const json::value&, const std::string&)>;

    [[nodiscard]] Error unknown(const std::string& key, const std::vector<std::string>& names) const {
        const std::string near = nearest(key, names);
        std::string known;
        for (const std::string& name : names) { known += (known.empty() ? "" : ", ") + name; }
        return bad_entry("an entry has no key `" + ellipsis(key, 80) + "`", place_(key),
                         near.empty() ? "its keys are " + known : "did you mean `" + near + "`?");
    }
    [[nodiscard]] Error wrong(const std::string& key, const std::string& wanted) const {
        return bad_entry("`" + key + "` must be " + wanted, place_(key), "correct the line");
    }

    Take text(std::string& out) {
        return [this, &out](const json::value& value, const std::string& key) -> Result<void> {
            if (!value.is_string() || value.get_string().empty()) { return wrong(key, "a string that is not empty"); }
            out = value.get_string();
            return {};
        };
    }
    Take flag(bool& out) {
        return [this, &out](const json::value& value, const std::string& key) -> Result<void> {
            if (!value.is_bool()) { return wrong(key, "true or false"); }
            out = value.get_bool();
            return {};
        };
    }
    Take texts(std::vector<std::string>& out) {
        return [this, &out](const json::value& value, const std::string& key) -> Result<void> {
            if (!value.is_array()) { return wrong(key, "a list of strings"); }
            for (const json::value& each : value.get_array()) { AF_CHECK(text(out.emplace_back())(each, key)); }
            return {};
        };
    }
    Take setting(RequestEntry& made, const char* name) {
        return [this, &made, name](const json::value& value, const std::string& key) -> Result<void> {
            std::string given;
            AF_CHECK(text(given)(value, key));
            made.settings.emplace_back(name, given);
            return {};
        };
    }
    Result<void> settings(RequestEntry& made, const json::value& value, const std::string& key) {
        if (!value.is_object()) { return wrong(key, "a map of settings: {limits.max_tokens: 100000}"); }
        for (const auto& [name, given] : value.get_object()) {
            if (given.is_object() || given.is_null()) {
                return wrong(key + "." + std::string(name), "a string, a number, true, false or a list");
            }
            made.settings.emplace_back(std::string(name),
                                       given.is_string() ? std::string(given.get_string()) : json::serialize(given));
        }
        return {};
    }

    const json::object& entry_;
    const Place& place_;
};

Result<RequestEntry> entry_from(const json::value& value, const Place& place) {
    if (value.is_object()) { return EntryReader(value.get_object(), place).read(); }
    if (!value.is_string()) {
        return bad_entry("an entry is neither a request in words nor a map with a `request`", place(""),
                         "write the request, or {\"request\": \"…\", \"pipeline\": \"…\"}");
    }
    return EntryReader(json::object{{"request", value}}, place).read();
}

/// `# later: …` and `##` are comments; `#42: fix the login` is a request.
bool is_comment(std::string_view line) {
    return line.starts_with('#') && (line.size() == 1 || line[1] == ' ' || line[1] == '\t' || line[1] == '\r' || line[1] == '#');
}

Result<std::vector<RequestEntry>> from_lines(std::string_view text, const std::string& source) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) { text.remove_prefix(byte_order_mark.size()); }
    std::vector<RequestEntry> entries;
    std::size_t number = 0;
    while (!text.empty()) {
        ++number;
        const auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const auto first = line.find_first_not_of(" \t\r");
        if (first == std::string_view::npos || is_comment(line.substr(first))) { continue; }
        line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
        const std::string where = source + ":" + std::to_string(number);
        const Place place = [&where](const std::string&) { return where; };
        json::value value(line);
        if (line.starts_with('{')) {
            auto parsed = parse_json(line, where);
            if (!parsed.ok()) {
                return bad_entry(
                    "a line that begins with `{` is a JSON object, and this one cannot be read: " + parsed.error().message, where,
                    "correct the line");
            }
            value = std::move(*parsed);
        }
        AF_TRY(RequestEntry entry, entry_from(value, place));
        entries.push_back(std::move(entry));
    }
    return entries;
}

Result<std::vector<RequestEntry>> from_yaml(std::string_view text, const std::string& source) {
    AF_TRY(const YamlDocument document, parse_yaml(text, source, request_file_limits));
    if (document.value.is_null()) { return std::vector<RequestEntry>(); }
    if (!document.value.is_array()) {
        return bad_entry("the file is not a list of requests", document.where(""), "begin each request with `- `");
    }
    std::vector<RequestEntry> entries;
    for (std::size_t index = 0; index < document.value.get_array().size(); ++index) {
        const std::string pointer = "/" + std::to_string(index);
        const Place place = [&](const std::string& key) {
            return document.where(key.empty() ? pointer : pointer + "/" + key.substr(0, key.find('.')) + "#");
        };
        AF_TRY(RequestEntry entry, entry_from(document.value.get_array()[index], place));
        entries.push_back(std::move(entry));
    }
    return entries;
}

std::string key_of_entry(const RequestEntry& entry) {
    json::array approve(entry.arguments.approve.begin(), entry.arguments.approve.end());
    json::object settings;
    for (const auto& [name, value] : entry.settings) { settings[name] = value; }
    return sha256(to_json_canonical(json::object{{"request", entry.arguments.request},
                                                 {"pipeline", entry.arguments.pipeline},
                                                 {"exit_after", entry.arguments.exit_after},
                                                 {"approve", std::move(approve)},
                                                 {"supervised", entry.arguments.supervised},
                                                 {"include_uncommitted", entry.arguments.include_uncommitted},
                                                 {"settings", std::move(settings)}}));
}

}  // namespace

RequestForm form_of(const std::string& file) {
    return file.ends_with(".yaml") || file.ends_with(".yml") ? RequestForm::yaml : RequestForm::lines;
}

Result<std::vector<RequestEntry>> read_requests(std::string_view text, const std::string& source, RequestForm form) {
    if (!is_valid_utf8(text)) { return bad_entry("the file is not text in UTF-8", source, "save it as UTF-8"); }
    AF_TRY(auto entries, form == RequestForm::yaml ? from_yaml(text, source) : from_lines(text, source));
    if (entries.empty()) {
        return Error{"AF-CLI-171", "the file contains no request", source, "write one per line", ErrorKind::invalid};
    }
    std::map<std::string, unsigned> seen;
    for (RequestEntry& entry : entries) {
        const std::string key = key_of_entry(entry);
        entry.key = key + "#" + std::to_string(++seen[key]);
    }
    return entries;
}

}  // namespace agentforge::kernel
