// SPDX-License-Identifier: Apache-2.0
#include "config/migrate.hpp"

#include <algorithm>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "config/edit.hpp"

namespace agentforge::kernel {

namespace {

std::string pointer_of(const std::vector<std::string>& segments) {
    std::string pointer;
    for (const std::string& segment : segments) {
        pointer += '/';
        append_pointer_token(pointer, segment);
    }
    return pointer;
}

void collect_former(const SettingsSchema& schema, const json::object& object, std::vector<std::string>& segments,
                    std::vector<std::pair<std::vector<std::string>, json::value>>& found) {
    for (const auto& [name, value] : object) {
        segments.emplace_back(name);
        if (schema.former(segments) != nullptr) {
            found.emplace_back(segments, value);
        } else if (value.is_object()) {
            collect_former(schema, value.get_object(), segments, found);
        }
        segments.pop_back();
    }
}

/// Converts to the new unit, as a decimal if needed: 2500000 millionths become 2.5.
json::value in_new_unit(const json::value& value, std::int64_t divisor) {
    if (divisor == 1 || !value.is_int64()) { return value; }
    const std::int64_t whole = value.get_int64();
    if (whole % divisor == 0) { return whole / divisor; }
    return static_cast<double>(whole) / static_cast<double>(divisor);
}

bool is_there(const json::value& document, const std::vector<std::string>& segments) {
    const json::value* at = &document;
    for (const std::string& segment : segments) {
        const auto* object = at->if_object();
        at = object == nullptr ? nullptr : object->if_contains(segment);
        if (at == nullptr) { return false; }
    }
    return true;
}

}  // namespace

Result<Migration> migrate_settings(const SettingsSchema& schema, std::string_view text, std::string_view source) {
    AF_TRY(const YamlDocument document, parse_yaml(text, source));
    Migration out{std::string(text), {}};
    std::vector<std::pair<std::vector<std::string>, json::value>> found;
    std::vector<std::string> segments;
    if (const auto* top = document.value.if_object()) { collect_former(schema, *top, segments, found); }
    for (const auto& [old, value] : found) {
        const FormerKey& former = *schema.former(old);
        if (former.now.empty()) { return former_key(former, old, document.where(pointer_of(old))); }
        const auto successor = split_key(former.now);
        if (is_there(document.value, successor)) {
            return Error{"AF-CONF-045", "the file sets both " + join_key(old) + " and its new name " + former.now,
                         document.where(pointer_of(old)), "Nothing was written. Remove one of them.", ErrorKind::conflict};
        }
        json::value moved = in_new_unit(value, former.divisor);
        const auto is_list = [&former](const SettingKey& key) {
            return key.name == former.now && key.type == SettingKey::Type::list;
        };
        if (!moved.is_array() && std::ranges::any_of(schema.keys(), is_list)) { moved = json::array{std::move(moved)}; }
        AF_TRY(out.text, move_in_yaml(out.text, source, old, successor, moved));
        // Also removes a section that is now empty.
        for (auto around = old; around.size() > 1;) {
            around.pop_back();
            AF_TRY(const YamlDocument now, parse_yaml(out.text, source));
            const json::value* at = &now.value;
            for (const std::string& segment : around) {
                const auto* object = at->if_object();
                at = object == nullptr ? nullptr : object->if_contains(segment);
                if (at == nullptr) { break; }
            }
            if (at == nullptr || (!at->is_null() && !(at->is_object() && at->get_object().empty()))) { break; }
            AF_TRY(out.text, unset_in_yaml(out.text, source, around));
        }
        out.changes.push_back(
            join_key(old) + " is now " + former.now +
            (former.divisor == 1 ? "" : ", in another unit: " + to_json_line(in_new_unit(value, former.divisor))));
    }
    return out;
}

}  // namespace agentforge::kernel
