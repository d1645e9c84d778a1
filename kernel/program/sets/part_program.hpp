// SPDX-License-Identifier: Apache-2.0
// The context of a command that runs for one part of a set.
#pragma once

#include <sstream>

#include "program/sets/open_set.hpp"

namespace agentforge::kernel {

/// Runs in the part's repository, with the set's settings. Discards the results that it prints, because the set prints one
/// summary at the end. Keeps errors and progress.
class PartProgram {
public:
    PartProgram(const OpenSet& open, const SetPart& part);
    ~PartProgram() { whole_.skip_destructors = whole_.skip_destructors || program_.skip_destructors; }
    PartProgram(const PartProgram&) = delete;
    PartProgram& operator=(const PartProgram&) = delete;
    [[nodiscard]] Program& program() noexcept { return program_; }

private:
    std::ostringstream out_;
    Program& whole_;
    Program program_;
};

}  // namespace agentforge::kernel
