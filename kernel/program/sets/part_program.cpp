// SPDX-License-Identifier: Apache-2.0
#include "program/sets/part_program.hpp"

namespace agentforge::kernel {

PartProgram::PartProgram(const OpenSet& open, const SetPart& part)
    : whole_(open.program),
      program_{.out = out_,
               .err = whole_.err,
               .environment = whole_.environment,
               .directory = part.path,
               .cancel = whole_.cancel,
               .settings = {},
               .command = {}} {
    program_.err_is_terminal = whole_.err_is_terminal;
    program_.quiet = whole_.quiet || whole_.json_output;
    program_.trust_project = whole_.trust_project;
    program_.command_name = whole_.command_name;
    for (const auto& [key, value] : open.set.settings) {
        if (value.is_string()) { program_.settings.emplace_back(key, std::string(value.get_string())); }
    }
    program_.settings.insert(program_.settings.end(), whole_.settings.begin(), whole_.settings.end());
}

}  // namespace agentforge::kernel
