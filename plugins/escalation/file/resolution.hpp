// SPDX-License-Identifier: Apache-2.0
// What a person writes into `<id>.resolution.yaml`. Pure.
//
//   a question:                       an approval:
//     answer: "Use PostgreSQL"          approved: false
//     # or                              feedback: "Split the second requirement"
//     context: {database: postgresql}   artifact_hash: 9f2c…   # optional; must be that of what was shown
//     abort: false
//
// An action (`ACT-…`) is answered as an approval; `edited: {arguments: {…}}`, with `tool` where it is another, is what is done in its place.
//
// `resolved_by` (a question) and `decided_by` (an approval) may name the person. Only `true` and
// `false` are booleans. Refused with file, line and key: an unknown or repeated key, a value of
// another type, anchors and aliases, a second document, and a file that says nothing.
#pragma once

#include <agentforge/escalation.hpp>

#include <string>
#include <string_view>

namespace agentforge::escalation_file {

/// Errors: AF-ESC-103.
[[nodiscard]] Result<Resolution> read_resolution(std::string_view text, const std::string& file);
/// What `edited` holds is the `feedback` of one that is approved, as JSON. Errors: AF-ESC-103; AF-ESC-104 (`conflict`) where `artifact_hash` is another than `shown_hash`.
[[nodiscard]] Result<Approval> read_approval(std::string_view text, const std::string& file, const std::string& shown_hash, bool action = false);

}  // namespace agentforge::escalation_file
