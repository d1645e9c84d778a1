// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/schema_check.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "plugins/config_check.hpp"

namespace agentforge::kernel {

void check_settings_schema(const PluginCalls& calls) {
    const PluginManifest& manifest = calls.manifest();
    if (manifest.config_schema.empty()) {
        calls.pass("config_schema", "there is none, so settings are not checked");
    } else if (auto good = check_config_schema(manifest); !good.ok()) {
        calls.finding("config_schema", CheckStatus::error, good.error(), ellipsis(json::serialize(manifest.config_schema), 300),
                      "a JSON Schema of an object");
    } else {
        calls.pass("config_schema", "it is a JSON Schema");
    }
}

Result<void> check_schema(const PluginManifest& manifest, const json::object& schema) {
    PluginManifest holder;
    holder.id = manifest.id;
    holder.config_schema = schema;
    auto good = check_config_schema(holder);
    if (good.ok()) { return {}; }
    Error error = std::move(good).error();
    constexpr std::string_view introduction = " JSON Schema: ";
    if (const auto at = error.message.find(introduction); at != std::string::npos) {
        error.message = error.message.substr(at + introduction.size());
    }
    constexpr std::string_view field = "config_schema.";
    if (error.message.starts_with(field)) { error.message = error.message.substr(field.size()); }
    return error;
}

}  // namespace agentforge::kernel
