// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include "gates/gate_runner.hpp"

namespace agentforge::kernel {

/// What the running call of a gate means for every measurement that it makes. The engine owns it and sets it; the parts that
/// measure only read it. Until the first call nothing is specified and no stage is judged.
class CurrentCall {
public:
    /// Replaces what the call before said.
    void begin(const GateCall& call);
    /// True if the gate judges a stage: then only isolated builds count.
    [[nodiscard]] bool judges_a_stage() const noexcept { return judges_a_stage_; }
    /// The artifact of SPEC. Empty without a baseline.
    [[nodiscard]] const json::object& specification() const noexcept { return specification_; }
    /// By file: functions that the specification declares (`declared_functions`).
    [[nodiscard]] const std::map<std::string, std::set<std::string>>& to_be_changed() const noexcept { return to_be_changed_; }

    /// The files that the specification names, whose functions may change.
    [[nodiscard]] const std::set<std::string>& files_to_change() const noexcept { return files_to_change_; }
    /// If the request asks to remove something: the same files, which may lose a check.
    [[nodiscard]] const std::set<std::string>& files_of_removal() const noexcept {
        static const std::set<std::string> none;
        return removes_ ? files_to_change_ : none;
    }

private:
    json::object specification_;
    std::map<std::string, std::set<std::string>> to_be_changed_;
    std::set<std::string> files_to_change_;
    bool removes_ = false;
    bool judges_a_stage_ = false;
};

}  // namespace agentforge::kernel
