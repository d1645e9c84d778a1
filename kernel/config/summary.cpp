// SPDX-License-Identifier: Apache-2.0
#include "config/summary.hpp"

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

struct Placeholder {
    std::size_t begin = 0;
    std::size_t end = 0;  ///< Position after the brace.
    std::string path;
};

std::vector<Placeholder> placeholders(std::string_view line) {
    std::vector<Placeholder> found;
    for (std::size_t at = line.find('{'); at != std::string_view::npos; at = line.find('{', at + 1)) {
        const std::size_t close = line.find('}', at);
        if (close == std::string_view::npos) { break; }
        const std::string_view path = line.substr(at + 1, close - at - 1);
        const bool is_path = !path.empty() && std::ranges::all_of(path, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '[' || c == ']';
        });
        if (is_path) { found.push_back({at, close + 1, std::string(path)}); }
    }
    return found;
}

std::string list_of_path(std::string_view path) {
    const auto brackets = path.find("[].");
    return brackets == std::string_view::npos ? std::string() : std::string(path.substr(0, brackets));
}

const json::value* at_path(const json::object& object, std::string_view path) {
    const auto dot = path.find('.');
    const json::value* value = object.if_contains(path.substr(0, dot));
    if (value == nullptr || dot == std::string_view::npos) { return value; }
    return value->is_object() ? at_path(value->get_object(), path.substr(dot + 1)) : nullptr;
}

std::string text_of_value(const json::value* value) {
    if (value == nullptr || value->is_null()) { return {}; }
    if (value->is_string()) { return std::string(view(value->get_string())); }
    if (!value->is_array()) { return json::serialize(*value); }
    std::string text;
    for (const json::value& item : value->get_array()) {
        text += (text.empty() ? "" : ", ") + (item.is_string() ? std::string(view(item.get_string())) : json::serialize(item));
    }
    return text;
}

/// `item`: the list item that the line is about, if any.
std::string text_of_field(std::string_view path, const json::object& artifact, const json::object* item) {
    const std::string list = list_of_path(path);
    if (list.empty()) { return text_of_value(at_path(artifact, path)); }
    return item == nullptr ? std::string() : text_of_value(at_path(*item, path.substr(list.size() + 3)));
}

/// Returns the line with its fields filled in. Empty if it has fields and all are missing.
std::string filled(std::string_view line, const std::vector<Placeholder>& fields, const json::object& artifact,
                   const json::object* item) {
    std::string out;
    std::size_t from = 0;
    bool any = fields.empty();
    for (const Placeholder& field : fields) {
        const std::string value = text_of_field(field.path, artifact, item);
        any = any || !value.empty();
        out += std::string(line.substr(from, field.begin - from)) + value;
        from = field.end;
    }
    out += line.substr(from);
    return any ? out + "\n" : std::string();
}

template <class Each>
void each_line_of_summary(std::string_view text, const Each& each) {
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        each(text.substr(begin, end - begin), ++number);
        begin = end + 1;
    }
}

}  // namespace

std::optional<SummaryText> load_summary(const std::vector<std::string>& folders, const std::string& name) {
    if (name.empty() || name.find('/') != std::string::npos) { return std::nullopt; }
    for (const std::string& folder : folders) {
        const std::string file = folder + "/" + name + ".txt";
        std::error_code error;
        if (folder.empty() || !std::filesystem::is_regular_file(file, error)) { continue; }
        auto text = read_file(file);
        if (text.ok()) { return SummaryText{std::move(*text), file}; }
    }
    return std::nullopt;
}

Result<void> check_summary(const SummaryText& summary, const Contract& contract) {
    const json::value* properties = contract.schema().if_contains("properties");
    std::vector<std::string> known;
    if (properties != nullptr && properties->is_object()) {
        for (const auto& [key, unused] : properties->get_object()) { known.emplace_back(key); }
    }
    std::optional<Error> wrong;
    each_line_of_summary(summary.text, [&](std::string_view line, std::size_t number) {
        for (const Placeholder& field : placeholders(line)) {
            const std::string first = field.path.substr(0, field.path.find_first_of(".["));
            if (wrong || std::ranges::find(known, first) != known.end()) { continue; }
            const std::string near = nearest(first, known);
            wrong =
                Error{"AF-PIPE-022",
                      "the summary names `{" + ellipsis(field.path, 60) + "}`, but " + std::string(article_for(contract.name())) +
                          " " + contract.name() + " has no field `" + ellipsis(first, 60) + "`",
                      summary.source + ":" + std::to_string(number),
                      near.empty() ? "`agentforge contracts show " + contract.name() + "` lists its fields."
                                   : "Did you mean `" + near + "`?",
                      ErrorKind::invalid};
        }
    });
    if (wrong) { return *wrong; }
    return {};
}

std::string render_summary(std::string_view text, const json::object& artifact) {
    std::string out;
    each_line_of_summary(text, [&](std::string_view line, std::size_t) {
        const auto fields = placeholders(line);
        const auto listed =
            std::ranges::find_if(fields, [](const Placeholder& field) { return !list_of_path(field.path).empty(); });
        if (listed == fields.end()) {
            out += filled(line, fields, artifact, nullptr);
            return;
        }
        const json::value* items = at_path(artifact, list_of_path(listed->path));
        if (items == nullptr || !items->is_array()) { return; }
        for (const json::value& item : items->get_array()) { out += filled(line, fields, artifact, item.if_object()); }
    });
    return out;
}

}  // namespace agentforge::kernel
