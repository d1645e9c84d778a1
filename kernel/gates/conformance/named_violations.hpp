// SPDX-License-Identifier: Apache-2.0
// Violations with lasting ids: the records of `agentforge check`, and the baseline that a project commits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/host.hpp>

#include "gates/conformance/conformance_search.hpp"

namespace agentforge::kernel {

/// A violation and its identity. `text` and `above` are fingerprints, because a violating line may contain a secret and the
/// baseline is committed.
struct NamedViolation {
    std::string id;       ///< `V-` and twelve hexadecimal digits.
    Violation violation;  ///< For one known only from the baseline: check and file.
    std::string text;     ///< Fingerprint of the line without blanks, or of the function's name.
    std::string above;    ///< Fingerprint of the nearest non-trivial lines around it.
    std::string below;
};

/// True for `V-` and twelve lower-case hexadecimal digits.
[[nodiscard]] bool is_violation_id(std::string_view text) noexcept;

/// Names each finding by its check, its file and the text of its line. So its id stays the same if the line moves or its blanks
/// change. If the same text violates a check several times in a file, known ones keep their ids by line and neighbours, then by
/// neighbours, then by their order; the others are numbered. The ends of a file are not neighbours. The result is sorted by file,
/// line and check. `known` may contain
/// violations that are gone.
[[nodiscard]] std::vector<NamedViolation> name_violations(const std::vector<Finding>& findings,
                                                          const std::vector<NamedViolation>& known);

/// First and last line of a part of a text, from 1.
struct LineRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};
/// Returns the part of `now` that a line of `before` became: what stands between the nearest lines around it that occur once in
/// both texts, other than itself. Empty if these lines changed their order.
[[nodiscard]] std::optional<LineRange> part_of_line(std::string_view before, std::string_view now, std::uint64_t line);

[[nodiscard]] json::object to_json(const NamedViolation& named);
/// Errors: `invalid` AF-GATE-170, naming the field.
[[nodiscard]] Result<NamedViolation> named_violation_from_json(const json::object& value, const std::string& where);

/// Reads the baseline: violations that existed when it was written, on which `check` does not fail. A missing file has none.
/// Errors: `invalid` AF-GATE-170 with file and line; AF-CONF-….
[[nodiscard]] Result<std::vector<NamedViolation>> read_baseline(const std::filesystem::path& file);
/// Returns the file's text: sorted and without line numbers, so it changes only when violations appear or disappear.
[[nodiscard]] std::string baseline_text(std::vector<NamedViolation> violations);

/// Reads the records `V-….yaml` of a folder, one for each violation. A missing folder has none. Skips unreadable records: the
/// next `check` writes them again.
[[nodiscard]] std::vector<NamedViolation> read_records(const std::filesystem::path& folder);
/// Reads one record. Errors: `not_found` AF-GATE-171; AF-GATE-170.
[[nodiscard]] Result<NamedViolation> read_record(const std::filesystem::path& folder, const std::string& id);
/// Writes the records that changed, and removes those in `gone`. Errors: AF-BASE-….
[[nodiscard]] Result<void> write_records(const std::filesystem::path& folder, const std::vector<NamedViolation>& violations,
                                         const std::vector<std::string>& gone);

}  // namespace agentforge::kernel
