// SPDX-License-Identifier: Apache-2.0
// The settings that the HTTP backends share.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>

#include <agentforge_http/exchange.hpp>

namespace agentforge::http {

/// What differs between the services.
struct Service {
    std::string name;          ///< Name of the backend.
    std::string base_url;      ///< Its address, unless the settings change it.
    std::string key_variable;  ///< Holds the key for that address only, so the key never goes elsewhere by default.
};

struct Settings {
    Address server;
    std::string model;
    std::string key_variable;  ///< Empty: no key is sent.
    std::string key;           ///< Its value. Empty if the variable is not set.
    bool needs_key = false;
    Headers headers;
    std::chrono::seconds timeout{300};
    bool stream = true;
    std::uint64_t max_tokens = 0;  ///< 0: as in the request.
    std::string ca_file;
    std::string version;           ///< Version of the API. Empty: the backend's own.
    std::string tool_choice;       ///< Empty: the backend's own.
    std::string max_tokens_field;  ///< Empty: by the server.
};

/// Reads the settings; the key comes from the environment by its variable's name. Throws std::invalid_argument that names the
/// wrong setting, or one that is not in `known`.
[[nodiscard]] Settings read_settings(const json::object& object, const Service& service,
                                     const std::vector<std::string_view>& known);

/// Returns the JSON Schema of those settings.
[[nodiscard]] json::object settings_schema(const std::vector<std::string_view>& known);

}  // namespace agentforge::http
