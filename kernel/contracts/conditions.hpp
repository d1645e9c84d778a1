// SPDX-License-Identifier: Apache-2.0
// The words of `skip_if` that an artifact makes true, from `conditions` of its contract:
//
//   conditions:
//     no_ambiguities: [{empty: identified_ambiguities}]
//     trivial_change: [{small_change: true}, {contract: intake_record, field: initial_complexity, is: trivial}]
//
// A word is true if all of its checks are. The words under `provided_as` are true if the artifact comes from outside, besides
// `CONTRACT_provided` and `external_CONTRACT_provided`.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/yaml.hpp"
#include "contracts/contract.hpp"

namespace agentforge::kernel {

/// `{empty: FIELD}`: the list is empty or absent.
struct EmptyField {
    std::string field;
};
/// `{small_change: true}`: the kernel measured at most two files with at most ten changed lines.
struct SmallChange {};
/// `{contract: NAME, field: FIELD, is: TEXT}`: another artifact of the task has this value.
struct FieldEquals {
    std::string contract;
    std::string field;
    std::string is;
};

struct Condition {
    std::string word;
    std::vector<std::variant<EmptyField, SmallChange, FieldEquals>> checks;
};

/// Errors: `invalid` AF-CONT-013 with file and line.
[[nodiscard]] Result<std::vector<Condition>> read_conditions(const YamlDocument& document);
[[nodiscard]] Result<std::vector<std::string>> read_provided_as(const YamlDocument& document);
[[nodiscard]] bool holds(const Condition& condition, const json::object& artifact, const RuleContext& context);

}  // namespace agentforge::kernel
