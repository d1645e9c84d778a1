// SPDX-License-Identifier: Apache-2.0
// Where models may run: the setting `network`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "config/settings.hpp"

namespace agentforge::kernel {

/// From the least to the most strict.
enum class ModelNetwork : unsigned char {
    any = 1,
    local,  ///< Loopback addresses and `private_hosts` only.
    none    ///< Recorded answers only.
};

struct NetworkRule {
    ModelNetwork network = ModelNetwork::any;
    std::vector<std::string> private_hosts;          ///< Names and addresses as written in `base_url`.
    std::map<std::string, std::string> environment;  ///< For proxies.
};

/// Returns the rule in force.
[[nodiscard]] NetworkRule network_rule(const Settings& settings, std::map<std::string, std::string> environment);

/// Checks that a backend with these settings may be made. Decides before its code runs, from the text of the address alone: a
/// name is loopback only as `localhost`, an address only as `127.a.b.c` or `[::1]`. `local` allows no backend that is a program,
/// because its address is unknown, and no proxy. Errors (`unavailable`): AF-LLM-003.
[[nodiscard]] Result<void> check_network(const NetworkRule& rule, std::string_view backend, const json::object& config);

/// The same for a webhook's address (`url`: the value of its variable; empty: not set yet). Errors (`unavailable`): AF-ESC-055,
/// which does not show the address.
[[nodiscard]] Result<void> check_webhook_network(const NetworkRule& rule, std::string_view url);

/// The same for a collector of telemetry. Errors (`unavailable`): AF-OTEL-002.
[[nodiscard]] Result<void> check_telemetry_network(const NetworkRule& rule, std::string_view url);

}  // namespace agentforge::kernel
