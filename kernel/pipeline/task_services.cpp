// SPDX-License-Identifier: Apache-2.0
#include "pipeline/task_services.hpp"

#include "base/disk_failure.hpp"
#include "gates/engine/readiness.hpp"
#include "journal/failures.hpp"
#include "task/failures.hpp"

namespace agentforge::kernel {

bool ends_the_visit(const Error& error) {
    return is_for_user_to_fix(error) || error.kind == ErrorKind::cancelled || error.kind == ErrorKind::unavailable ||
           error.kind == ErrorKind::corrupt || error.kind == ErrorKind::transient || is_machine_failure(error) ||
           is_journal_failure(error) || is_out_of_time(error.code);
}

}  // namespace agentforge::kernel
