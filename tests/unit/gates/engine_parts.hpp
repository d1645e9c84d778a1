// SPDX-License-Identifier: Apache-2.0
// What the parts of the gate engine need: trees in memory, and programs that a test answers for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gates/engine/current_call.hpp"
#include "gates/language/tree_languages.hpp"
#include "gates/run/language_commands.hpp"
#include "gates/stubs/function_marks.hpp"
#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {

/// Answers in place of programs, and counts how often one was run. Without an answer, running one is an error.
class AnsweredPrograms final : public ProcessRunner {
public:
    Result<ProcessOutcome> run(const ProcessRequest& request, const Stop&) override {
        ++runs;
        if (answer) { return answer(request); }
        return Error{"AF-EXEC-001", "no program is run: " + request.argv.front(), "", "", ErrorKind::unavailable};
    }
    std::function<ProcessOutcome(const ProcessRequest&)> answer;
    int runs = 0;
};

/// Trees of one language, and what reads them. The parts under test are made from these members.
struct EngineParts {
    explicit EngineParts(const std::string& language, json::object settings = {})
        : checkout(folder.path() / "verify"),
          languages(checkout, std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", language),
          commands(checkout, programs, (folder.path() / "scratch").string(), {{"PATH", "/usr/bin:/bin"}},
                   settings_of(std::move(settings))),
          marks(checkout, commands, current) {
        checkout.trees["base"];
        checkout.trees["now"];
        baseline.base_tree = "base";
    }
    static GateSettings settings_of(const json::object& settings) {
        auto read = GateSettings::read(settings);
        EXPECT_TRUE(read.ok()) << read.error().to_string();
        return read.ok() ? std::move(read).value() : GateSettings{};
    }

    Files& tree(const std::string& name) { return checkout.trees[name]; }
    const Language& language() {
        const auto found = languages.of("now");
        EXPECT_TRUE(found.ok());
        return **found;
    }
    /// A call that measures `now` against the baseline. `begin`s it.
    GateCall call(const std::string& gate, std::vector<std::string> paths = {}, json::object parameters = {}) {
        GateCall made{{gate, std::move(paths), std::move(parameters)}, "now", &baseline};
        current.begin(made);
        return made;
    }

    TemporaryDirectory folder{"parts"};
    AnsweredPrograms programs;
    MemoryTrees checkout;
    TreeLanguages languages;
    LanguageCommands commands;
    CurrentCall current;
    FunctionMarks marks;
    GateBaseline baseline;
};

}  // namespace agentforge::kernel::testing
