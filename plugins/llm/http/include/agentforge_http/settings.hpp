// SPDX-License-Identifier: Apache-2.0
// The settings that the backends over HTTP share.
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
    std::string name;          ///< Of the backend.
    std::string base_url;      ///< Where it is, unless the settings say otherwise.
    std::string key_variable;  ///< Asked for the key at that address only, so that it never goes elsewhere unasked.
};

struct Settings {
    Address server;
    std::string model;
    std::string key_variable;  ///< Empty: no key is sent.
    std::string key;           ///< Its value; empty where the variable is not set.
    bool needs_key = false;
    Headers headers;
    std::chrono::seconds timeout{300};
    bool stream = true;
    std::uint64_t max_tokens = 0;  ///< 0: as the request says.
    std::string ca_file;
    std::string version;           ///< Of the API; empty: the backend's own.
    std::string tool_choice;       ///< Empty: the backend's own.
    std::string max_tokens_field;  ///< Empty: by the server.
};

/// Reads the settings; the key comes from the environment by its variable's name. Throws std::invalid_argument that names the
/// key of the settings, also where it is not one of `known`.
[[nodiscard]] Settings read_settings(const json::object& object, const Service& service,
                                     const std::vector<std::string_view>& known);

/// The JSON Schema of those settings.
[[nodiscard]] json::object settings_schema(const std::vector<std::string_view>& known);

}  // namespace agentforge::http
