// SPDX-License-Identifier: Apache-2.0
// Trace and span ids (W3C Trace Context). They depend only on the task, so every process that runs it uses the same ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace agentforge::kernel {

/// Returns 32 hexadecimal digits.
[[nodiscard]] std::string trace_id_of(std::string_view task_id);
/// Returns the id of the span of one visit of a stage. Without `stage`, that of the whole task, which is the parent of the
/// others. 16 hexadecimal digits.
[[nodiscard]] std::string span_id_of(std::string_view task_id, std::string_view stage = {}, std::uint64_t visit = 0);
/// Returns the id of the span of a part of a visit, such as "step 12". 16 hexadecimal digits.
[[nodiscard]] std::string part_span_id_of(std::string_view task_id, std::string_view part);

}  // namespace agentforge::kernel
