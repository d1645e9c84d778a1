// SPDX-License-Identifier: Apache-2.0
// Where the words of a request come from: the command line, standard input, or the path of a file to work on.
#pragma once

#include <string>

#include "program/project/project.hpp"
#include "program/start/start_arguments.hpp"

namespace agentforge::kernel {

/// Returns the request; `-` reads it from standard input, because a request may be longer than an argument can be. Errors:
/// AF-CLI-136; that of request_too_long.
[[nodiscard]] Result<std::string> request_of(const Program& program, const StartArguments& arguments);
/// Makes a request from a file or folder: `verb` says what to do with it. Returns other words unchanged. Errors: AF-CLI-140 the
/// path does not exist or is outside the repository; AF-CLI-206 the words are a task's id.
[[nodiscard]] Result<std::string> request_about_path(const Program& program, Project& project, const std::string& given,
                                                     const std::string& verb);

}  // namespace agentforge::kernel
