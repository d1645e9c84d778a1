// SPDX-License-Identifier: Apache-2.0
// A contract as a form to fill in, and the values that stand where nothing was said.
#pragma once

#include <string>

#include <agentforge/json.hpp>

#include "contracts/contract.hpp"

namespace agentforge::kernel {

/// YAML with each field that a person may give: required ones with a value to replace, the others as comments, each with what it
/// must be. What the kernel measures is left out. Filled in, it satisfies the contract; as it is printed, it is the smallest
/// artifact of its shape.
[[nodiscard]] std::string contract_form(const Contract& contract);

/// The artifact with the contract's `default` wherever a field is absent.
[[nodiscard]] json::object with_defaults(const Contract& contract, json::object artifact);

}  // namespace agentforge::kernel
