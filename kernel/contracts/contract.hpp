// SPDX-License-Identifier: Apache-2.0
// Contracts: what an artifact must look like, compiled to JSON Schema.
//
// A property may have `measured: <fact>`. The kernel then fills it in with a measured fact. No model is asked for it, and a
// model's value is discarded.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/yaml.hpp"

namespace agentforge::kernel {

/// One broken rule, in words that a model or a person can act on.
struct ContractViolation {
    std::string path;     ///< JSON pointer into the artifact.
    std::string rule;     ///< Keyword (`required`, `pattern`, …) or the named rule's text.
    std::string message;  ///< "requirements[0].id is \"R1\"; it must match ^REQ-[0-9]{3}$"
};

struct ContractVerdict {
    std::vector<ContractViolation> violations;
    [[nodiscard]] bool valid() const noexcept { return violations.empty(); }
    [[nodiscard]] std::vector<std::string> messages() const;
};

/// What named rules may read besides the artifact itself.
struct RuleContext {
    const std::map<std::string, json::object, std::less<>>* artifacts = nullptr;  ///< By contract, without envelope.
    std::function<bool(std::string_view)> agent_exists;
    std::function<bool(std::string_view)> contract_exists;
    std::function<bool(std::string_view)> tool_exists;
};

class Contract {
public:
    [[nodiscard]] const std::string& name() const noexcept;
    [[nodiscard]] const std::string& version() const noexcept;
    [[nodiscard]] const std::string& description() const noexcept;
    [[nodiscard]] const std::string& source() const noexcept;
    /// Returns the contract that this one extends: artifacts of this one satisfy that one too. Empty: none.
    [[nodiscard]] const std::string& extends() const noexcept;
    /// Returns the JSON Schema of the whole artifact.
    [[nodiscard]] const json::object& schema() const noexcept;
    /// The same without measured properties: what a model is asked for.
    [[nodiscard]] const json::object& model_schema() const noexcept;
    /// Returns the measured properties: JSON pointer (`/verification/all_tests_fail`) → fact name.
    [[nodiscard]] const std::map<std::string, std::string, std::less<>>& measured() const noexcept;
    [[nodiscard]] const std::vector<std::string>& rules() const noexcept;

    /// Checks the whole contract: the schema, then every named rule.
    [[nodiscard]] ContractVerdict validate(const json::object& artifact, const RuleContext& context) const;
    /// Checks a model's answer: model_schema, and the named rules that need no measured fact.
    [[nodiscard]] ContractVerdict validate_answer(const json::object& answer, const RuleContext& context) const;
    /// Returns the words of `skip_if` that the artifact makes true (contracts/conditions.hpp), in the contract's order.
    [[nodiscard]] std::vector<std::string> conditions_of(const json::object& artifact, const RuleContext& context) const;
    /// Returns every word that an artifact may make true.
    [[nodiscard]] std::vector<std::string> condition_words() const;
    /// Returns the words of `skip_if` that an artifact from outside makes true, besides `CONTRACT_provided` and
    /// `external_CONTRACT_provided`.
    [[nodiscard]] const std::vector<std::string>& provided_as() const noexcept;
    /// Writes measured facts into their places and replaces existing values. Missing facts stay absent.
    void fill_measured(json::object& artifact, const json::object& facts) const;

    struct Data;
    explicit Contract(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

private:
    std::shared_ptr<const Data> data_;
};

/// Errors: `invalid` AF-CONT-001…: unknown keyword, unknown named rule, bad pattern, with file, line and column.
[[nodiscard]] Result<Contract> compile_contract(const YamlDocument& document);

/// All contracts in force: the product's, then the project's over them by name.
class ContractSet {
public:
    /// Reads every `*.yaml` of the folders in order; later ones win. A missing folder counts as empty.
    [[nodiscard]] static Result<ContractSet> load(const std::vector<std::string>& directories);
    /// Errors: `not_found` AF-CONT-002, with the nearest name.
    [[nodiscard]] Result<Contract> get(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> names() const;
    /// Returns every word of `skip_if` that a contract declares. Includes those of shipped contracts that the project replaces:
    /// such words exist, but may never hold.
    [[nodiscard]] const std::set<std::string, std::less<>>& skip_words() const noexcept;

private:
    void add(Contract contract);

    std::map<std::string, Contract, std::less<>> contracts_;
    std::set<std::string, std::less<>> skip_words_;
};

/// Returns the `*.yaml` files of a folder, by name; none if the folder is missing. Skips hidden files. Errors: `invalid`
/// AF-CONF-030 for a `*.yml` file, which would otherwise be overlooked; `io` AF-CONF-031.
[[nodiscard]] Result<std::vector<std::string>> yaml_files_of(const std::string& directory);

}  // namespace agentforge::kernel
