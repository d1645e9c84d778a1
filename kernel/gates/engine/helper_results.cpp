// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/helper_results.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel {
namespace {

std::string text_field(const json::object& line, std::string_view key, std::size_t limit = 500) {
    const auto* found = line.if_contains(key);
    const auto* string = found == nullptr ? nullptr : found->if_string();
    return string == nullptr ? std::string{} : ellipsis(std::string_view(string->data(), string->size()), limit);
}

std::optional<std::uint64_t> number_field(const json::object& line, std::string_view key) {
    const auto* found = line.if_contains(key);
    if (found == nullptr || !found->is_int64() || found->get_int64() < 0) { return std::nullopt; }
    return static_cast<std::uint64_t>(found->get_int64());
}

std::optional<TestStatus> status_of(std::string_view text) {
    for (const auto status : {TestStatus::passed, TestStatus::failed_assertion, TestStatus::failed_skeleton, TestStatus::error,
                              TestStatus::skipped}) {
        if (to_string(status) == text) { return status; }
    }
    return std::nullopt;
}

struct Planned {
    TestOutcome test;
    bool canary = false;
    bool reported = false;
    std::optional<std::uint64_t> assertions = {};
};

/// The stream of results, read line by line. `problem`: why it is not trusted.
struct Stream {
    std::vector<Planned> tests;
    std::map<std::string, std::size_t, std::less<>> index;
    std::vector<std::string> notes;
    std::string machine;
    std::string running;
    bool ended = false;
    std::uint64_t announced_exit = 0;
    std::string problem;

    Planned& entry(const json::object& line, bool planned) {
        const auto id = text_field(line, "id", 1000);
        const auto [place, fresh] = index.emplace(id, tests.size());
        if (fresh) {
            const auto* canary = line.if_contains("canary");
            TestOutcome test{id,
                             text_field(line, "name", 300),
                             text_field(line, "file", 1000),
                             number_field(line, "line").value_or(0),
                             TestStatus::error,
                             {}};
            tests.push_back({std::move(test), canary != nullptr && canary->is_bool() && canary->get_bool(), !planned});
        }
        return tests[place->second];
    }

    void result(const json::object& line) {
        const auto status = status_of(text_field(line, "status"));
        if (!status) {
            problem = "a result has no known status";
            return;
        }
        auto& planned = entry(line, true);
        if (planned.reported) {
            problem = "a test was reported twice (" + planned.test.id + ")";
            return;
        }
        planned.reported = true;
        planned.test.status = *status;
        planned.test.line = number_field(line, "line").value_or(planned.test.line);
        planned.test.message = text_field(line, "message");
        planned.assertions = number_field(line, "assertions");
    }

    void read(std::string_view text, std::string_view nonce, std::uint64_t number) {
        if (ended) {
            problem = "something was written after the end mark";
            return;
        }
        const auto value = parse_json(text, "results");
        const auto* line = value.ok() ? value->if_object() : nullptr;
        if (line == nullptr || text_field(*line, "n") != nonce || number_field(*line, "i") != number) {
            problem = "line " + std::to_string(number + 1) + " of the results was not written by the kernel's runner";
            return;
        }
        const auto type = text_field(*line, "type");
        if (type == "plan") {
            entry(*line, true);
        } else if (type == "start") {
            running = text_field(*line, "id", 1000);
        } else if (type == "machine") {
            machine = text_field(*line, "text");
        } else if (type == "note") {
            notes.push_back(text_field(*line, "text"));
        } else if (type == "result") {
            result(*line);
        } else if (type == "end") {
            ended = true;
            announced_exit = number_field(*line, "exit").value_or(99);
            if (number_field(*line, "lines") != number || number_field(*line, "results") != tests.size()) {
                problem = "the end mark's counts are wrong";
            }
        } else {
            problem = "a line of the results has an unknown type";
        }
    }
};

std::string how_it_ended(const ProcessOutcome& outcome, const RunExpectation& expected) {
    if (outcome.timed_out) { return "the tests did not finish within " + std::to_string(expected.timeout.count()) + " s"; }
    if (outcome.signal != 0) { return "the test process was ended by signal " + std::to_string(outcome.signal); }
    return "the test process ended with exit code " + std::to_string(outcome.exit_code) + " before all results were written";
}

std::string canary_problem(const Stream& stream, std::size_t expected) {
    std::size_t failed = 0;
    for (const auto& planned : stream.tests) {
        if (!planned.canary) { continue; }
        if (planned.test.status != TestStatus::failed_assertion) {
            return "the kernel's own canary test " + planned.test.name + ", which must fail, was reported as " +
                   std::string(to_string(planned.test.status)) + ": something in the project changes what tests report";
        }
        ++failed;
    }
    if (failed == expected) { return {}; }
    if (failed == 0 && !stream.tests.empty() &&
        std::ranges::all_of(stream.tests, [](const auto& planned) { return planned.test.status == TestStatus::error; })) {
        return "the runner ran no test, not even the kernel's own canary tests: " + first_line(stream.tests.front().test.message);
    }
    return "the kernel's own canary tests, which must fail, were not all run (" + std::to_string(failed) + " of " +
           std::to_string(expected) + "): something in the project changes which tests are run";
}

std::string distrust_reason(const Stream& stream, const RunExpectation& expected, const ProcessOutcome& outcome) {
    if (!stream.problem.empty()) { return stream.problem; }
    if (!stream.ended || outcome.timed_out || outcome.signal != 0) {
        auto text = how_it_ended(outcome, expected);
        if (!stream.running.empty()) { text += ", in or after " + stream.running; }
        if (const auto words = last_output_line(outcome.err); !words.empty()) { text += " (" + words + ")"; }
        return text;
    }
    bool failures = false;
    for (const auto& planned : stream.tests) {
        if (!planned.reported) { return "a collected test has no result (" + planned.test.id + ")"; }
        failures = failures || (!planned.canary && is_failure(planned.test.status));
    }
    if (outcome.exit_code != (failures ? 1 : 0) || stream.announced_exit != (failures ? 1U : 0U)) {
        return "the exit code " + std::to_string(outcome.exit_code) + " does not agree with the results";
    }
    return canary_problem(stream, expected.canary_tests);
}

}  // namespace

TestRun read_test_lines(std::string_view lines, const RunExpectation& expected, const ProcessOutcome& outcome) {
    Stream stream;
    std::uint64_t number = 0;
    while (!lines.empty() && stream.problem.empty()) {
        const auto end = lines.find('\n');
        if (end == std::string_view::npos) {
            // The process died while writing this line, so its writer is unknown.
            if (stream.ended) { stream.problem = "something was written after the end mark"; }
            break;
        }
        stream.read(lines.substr(0, end), expected.nonce, number++);
        lines.remove_prefix(end + 1);
    }
    TestRun run;
    run.distrust = distrust_reason(stream, expected, outcome);
    run.trusted = run.distrust.empty();
    if (stream.problem.empty()) { run.machine = std::move(stream.machine); }
    run.notes = std::move(stream.notes);
    run.duration = outcome.duration;
    run.confinement = outcome.confinement;
    run.crashed = outcome.signal != 0 && !outcome.timed_out;
    for (auto& planned : stream.tests) {
        if (planned.canary) { continue; }
        if (!run.trusted) {
            planned.test.status = TestStatus::error;
            planned.test.message = ellipsis((planned.reported ? "not trusted: " : "not run: ") + run.distrust, 500);
        }
        if (planned.assertions) { run.assertions[planned.test.id] = *planned.assertions; }
        run.tests.push_back(std::move(planned.test));
    }
    return run;
}

}  // namespace agentforge::kernel
