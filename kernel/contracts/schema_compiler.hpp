// SPDX-License-Identifier: Apache-2.0
// Translates the contract language, including `measured`, to JSON Schema draft 7.
#pragma once

#include "contracts/contract.hpp"
#include "contracts/rules.hpp"
#include "contracts/schema_check.hpp"

namespace agentforge::kernel {

/// A compiled contract file.
struct CompiledContract {
    std::string name;
    std::string version;
    std::string description;
    json::object schema;
    json::object model_schema;
    std::map<std::string, std::string, std::less<>> measured;
    std::vector<std::string> not_asked;  ///< Pointers to what `model_schema` leaves out, outermost only.
    std::vector<const NamedRule*> rules;
};

[[nodiscard]] Result<CompiledContract> compile_schema(const YamlDocument& document);

}  // namespace agentforge::kernel
