// SPDX-License-Identifier: Apache-2.0
// Runs a language's commands, confined: the tree can be read, scratch can be written, there is no network.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "gates/checkout.hpp"
#include "gates/language.hpp"
#include "gates/results.hpp"
#include "sandbox/process.hpp"

namespace agentforge::kernel {

/// `gates:` of the settings.
struct GateSettings {
    std::map<std::string, std::string, std::less<>> programs;       ///< `python3: /home/me/venv/bin/python`
    std::map<std::string, std::chrono::seconds, std::less<>> timeouts;     ///< By command: tests, syntax, types, metrics, skeleton.
    std::map<std::string, std::int64_t, std::less<>> thresholds;    ///< By check id.
    std::vector<std::string> readable;                              ///< More that commands may read: a virtual environment.

    /// Errors: `invalid` AF-GATE-012 unknown key or wrong type.
    [[nodiscard]] static Result<GateSettings> read(const json::object& settings);
};

class LanguageCommands {
public:
    LanguageCommands(TreeCheckout& checkout, ProcessRunner& processes, std::string scratch_directory,
                     std::map<std::string, std::string> environment, GateSettings settings);

    /// Runs the tests of `files` on the tree, which is checked out first, with the canary.
    /// Errors: AF-GATE-003 the runner's program is missing; AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<TestRun> run_tests(const Language& language, const std::string& tree,
                                            const std::vector<std::string>& files, const Stop& stop);
    /// Runs a helper that answers on standard output; `tree` empty: no tree is needed. `missing_is_error` false: a program
    /// that is not installed gives an empty optional.
    [[nodiscard]] Result<std::optional<ProcessOutcome>> run(const Language& language, const LanguageCommand& command,
                                                            const std::string& tree, const std::string& input, const Stop& stop,
                                                            bool missing_is_error = true);
    /// The JSON objects that a helper wrote, up to its end mark. Errors: AF-GATE-003 it failed or has no end mark.
    [[nodiscard]] Result<std::vector<json::object>> run_for_lines(const Language& language, const std::string& command,
                                                                  const std::string& tree, const json::object& input,
                                                                  const Stop& stop);
    [[nodiscard]] const GateSettings& settings() const noexcept { return settings_; }
    [[nodiscard]] const json::object& last_confinement() const noexcept { return confinement_; }
    [[nodiscard]] TreeCheckout& checkout() noexcept { return checkout_; }

private:
    class Scratch;
    [[nodiscard]] ProcessRequest request(const Language& language, const LanguageCommand& command,
                                         const std::filesystem::path& scratch, std::string input) const;
    [[nodiscard]] Result<ProcessOutcome> start(const Language& language, const ProcessRequest& request, const Stop& stop);

    TreeCheckout& checkout_;
    ProcessRunner& processes_;
    std::string scratch_directory_;
    std::map<std::string, std::string> environment_;
    GateSettings settings_;
    std::string checked_out_;
    json::object confinement_;
};

}  // namespace agentforge::kernel
