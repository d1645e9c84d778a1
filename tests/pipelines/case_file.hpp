// SPDX-License-Identifier: Apache-2.0
// A pipeline case as data: a repository, a scripted model, and what must come of it. README.md has the format.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel::pipelines {

/// One answer of the scripted model: exactly one of a tool call, a text, a shell command (agentic work) or an error. A shell
/// command may carry a `complete` artifact.
struct Answer {
    std::string tool;
    json::object arguments;
    std::string say;
    std::string shell;
    std::optional<Error> error;
};

/// A record of the journal that must be there: its type, and fields by dotted path. See `matches` in run_case.cpp.
struct Expected {
    std::string type;
    json::object fields;
    std::string where;
};

struct Case {
    std::string name;  ///< The file's, without its end.
    std::string shows;
    std::vector<std::string> needs;  ///< Programs that must be there; otherwise the case is not run.
    std::string request;
    std::string pipeline = "implement";
    std::string through;       ///< Ends after this stage.
    bool verify_edits = true;  ///< False: the gates that the pipeline has after each edit are left out, for speed.
    std::map<std::string, json::value> repository;     ///< Path to text, {link: target}, {executable: text} or {hex: bytes}.
    json::object settings;                             ///< `gates:` of the settings.
    std::map<std::string, json::object> agents;        ///< The project's agents, over the shipped ones.
    std::map<std::string, std::vector<Answer>> model;  ///< By `stage` or `stage/role`.

    std::string ends;               ///< completed, failed, paused, awaiting_approval
    std::string error;              ///< Code; empty: none is looked for.
    std::vector<Expected> journal;  ///< In this order; others may stand between.
    std::vector<Expected> never;
    std::optional<std::vector<std::string>> changes;          ///< Paths that differ from the user's commit in the end, sorted.
    std::map<std::string, std::optional<std::string>> files;  ///< In the last tree; empty: not there.
    std::vector<std::string>
        unseen;  ///< Texts that no request of GREEN and REFACTOR holds, nor any file that their programs may read.
};

/// Reads a case with everything that it is `like`. Errors: `invalid` CASE with file, line and field.
[[nodiscard]] Result<Case> read_case(const std::string& file);

}  // namespace agentforge::kernel::pipelines
