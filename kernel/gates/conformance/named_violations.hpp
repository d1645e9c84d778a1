// SPDX-License-Identifier: Apache-2.0
// Violations with names that last: ids, the records of `agentforge check`, and the baseline that a project commits.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/host.hpp>

#include "gates/conformance/conformance.hpp"

namespace agentforge::kernel {

/// A violation and what it is known by. `text` and its neighbours are fingerprints: what breaks a check may be a secret, and the
/// baseline is committed.
struct NamedViolation {
    std::string id;       ///< `V-` and twelve hexadecimal digits.
    Violation violation;  ///< Of one that only the baseline knows: check and file.
    std::string text;     ///< Of the line without its blanks, or of the function's name.
    std::string above;    ///< Of the nearest lines around it that say something.
    std::string below;
};

/// `V-` and twelve lower-case hexadecimal digits.
[[nodiscard]] bool is_violation_id(std::string_view text) noexcept;

/// Names each finding: by its check, its file and the text of its line, so that lines which move, and blanks which change, leave
/// its id as it is. Where one text breaks a check several times in a file, those that are known keep their ids by their
/// neighbours, then by their order; the rest are counted. The result is sorted by file, line and check. `known` may hold what is
/// gone.
[[nodiscard]] std::vector<NamedViolation> name_violations(const std::vector<Finding>& findings,
                                                          const std::vector<NamedViolation>& known);

[[nodiscard]] json::object to_json(const NamedViolation& named);
/// Errors: `invalid` AF-GATE-170, naming the field.
[[nodiscard]] Result<NamedViolation> named_violation_from_json(const json::object& value, const std::string& where);

/// The baseline: what was there when it was written, which `check` does not fail on. A file that does not exist has none.
/// Errors: `invalid` AF-GATE-170 with file and line; AF-CONF-….
[[nodiscard]] Result<std::vector<NamedViolation>> read_baseline(const std::filesystem::path& file);
/// The file's text: sorted, without lines' numbers, so that it changes only where violations come and go.
[[nodiscard]] std::string baseline_text(std::vector<NamedViolation> violations);

/// The records `V-….yaml` of a folder, one a violation. A folder that does not exist has none. Records that cannot be read are
/// left out: the next `check` writes them anew.
[[nodiscard]] std::vector<NamedViolation> read_records(const std::filesystem::path& folder);
/// One record. Errors: `not_found` AF-GATE-171; AF-GATE-170.
[[nodiscard]] Result<NamedViolation> read_record(const std::filesystem::path& folder, const std::string& id);
/// Writes the records that changed, and removes those of `gone`. Errors: AF-BASE-….
[[nodiscard]] Result<void> write_records(const std::filesystem::path& folder, const std::vector<NamedViolation>& violations,
                                         const std::vector<std::string>& gone);

}  // namespace agentforge::kernel
