// SPDX-License-Identifier: Apache-2.0
// A contract as a form to fill in, and its default values.
#pragma once

#include <string>

#include <agentforge/json.hpp>

#include "contracts/contract.hpp"

namespace agentforge::kernel {

/// Returns YAML with each field that a person may give: required ones with a value to replace, the others as comments, each with
/// what it must be. Omits what the kernel measures. The filled-in form satisfies the contract; as printed, it is the smallest
/// artifact of this shape.
[[nodiscard]] std::string contract_form(const Contract& contract);

/// Returns the artifact with the contract's `default` for every absent field.
[[nodiscard]] json::object with_defaults(const Contract& contract, json::object artifact);

}  // namespace agentforge::kernel
