// SPDX-License-Identifier: Apache-2.0
#include "program/sets/open_set.hpp"

#include <ostream>

#include "base/text.hpp"
#include "program/project/known_repositories.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

void OpenSet::report(const std::string& text) const {
    if (program.quiet || program.json_output) { return; }
    program.err << "agentforge: " << printable("set " + set.id + ": " + text, 1000) << std::endl;
}

Result<void> find_repositories(OpenSet& open) {
    for (SetPart& part : open.set.parts) {
        std::error_code error;
        if (fs::is_directory(part.path, error)) { continue; }
        const auto known = find_known_repository(open.program, part.repo);
        if (!known.ok() || !fs::is_directory(known->path, error)) {
            return Error{"AF-SET-015", "repository `" + part.repo + "` is not at " + part.path.string(), open.file().string(),
                         "move it back; or register its new path: agentforge repo remove " + part.repo +
                             ", then agentforge repo add PATH --name " + part.repo,
                         ErrorKind::not_found};
        }
        open.report("repository " + part.repo + " is at " + known->path.string() + " now");
        part.path = known->path;
        AF_CHECK(open.save());
    }
    return {};
}

}  // namespace agentforge::kernel
