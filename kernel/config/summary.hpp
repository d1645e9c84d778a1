// SPDX-License-Identifier: Apache-2.0
// The summary of a task's deliverable at its end. `summary_template` of a pipeline names a file in `summaries/` of the product or
// the project.
//
// `{field}` and `{field.inner}` stand for values of the artifact. A line with `{list[].field}` is written once for each item of
// the list.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "contracts/contract.hpp"

namespace agentforge::kernel {

struct SummaryText {
    std::string text;
    std::string source;  ///< Its file.
};

/// Returns `NAME.txt` from the first folder that has it. Empty: none has.
[[nodiscard]] std::optional<SummaryText> load_summary(const std::vector<std::string>& folders, const std::string& name);

/// Checks that the contract has the fields named in the text. Errors: AF-PIPE-022 with file and line.
[[nodiscard]] Result<void> check_summary(const SummaryText& summary, const Contract& contract);

/// Omits lines whose fields are all missing.
[[nodiscard]] std::string render_summary(std::string_view text, const json::object& artifact);

}  // namespace agentforge::kernel
