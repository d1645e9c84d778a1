// SPDX-License-Identifier: Apache-2.0
// Errors of the API: problem documents (RFC 9457) with our codes.
#pragma once

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "dashboard/http.hpp"

namespace agentforge::kernel {

/// Returns 400, 403, 404, 409, 500, 503 or 504, by the error's kind.
[[nodiscard]] int status_of(const Error& error) noexcept;
/// Makes {type, title, status, detail, code, where}. `status` 0: status_of.
[[nodiscard]] HttpResponse problem_of(const Error& error, int status = 0);
[[nodiscard]] HttpResponse json_response(const json::value& value, int status = 200);

}  // namespace agentforge::kernel
