// SPDX-License-Identifier: Apache-2.0
// A dashboard over kept journals (tests/journals), without a socket and without a program.
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "base/text.hpp"
#include "dashboard/dashboard.hpp"
#include "unit/aggregate/kept_journal.hpp"

namespace agentforge::kernel::testing {

/// Returns a gate of GREEN that found two failing tests of ten.
inline records::Gate failing_gate() {
    const auto failing = [](const char* id, const char* message) {
        return json::object{{"id", id}, {"status", "failed_assertion"}, {"file", "tests/test_oauth.py"}, {"message", message}};
    };
    records::Gate gate{};
    gate.gate = "green";
    gate.tree = std::string(40, 'a');
    gate.summary = "2 tests fail";
    gate.stage = "green";
    gate.partial = false;
    gate.tests = 10;
    gate.tests_passed = 8;
    gate.report = records::Kept{
        json::object{
            {"gate", "green"},
            {"blocking_issues", json::array{"test_oauth_token_expiry fails"}},
            {"tests", json::array{failing("test_oauth_token_expiry", "Expected token.expired to be True"),
                                  failing("test_oauth_provider_google", "KeyError: 'client_secret'"),
                                  {{"id", "test_slug"}, {"status", "passed"}}}},
            {"violations", json::array()},
            {"facts", {{"all_tests_pass", false}, {"conformance_passing", true}, {"checks_total", 12}, {"checks_passing", 12}}}},
        {}};
    return gate;
}

/// Records the commands, and returns prepared answers: the next of `answers`, else the one of the command's name.
class FakeCommands final : public CommandRunner {
public:
    Result<json::object> run(const std::filesystem::path& repository, std::vector<std::string> arguments,
                             const std::string& input) override {
        repositories.push_back(repository);
        inputs.push_back(input);
        ran.push_back(std::move(arguments));
        if (answers.empty()) {
            const auto usual = of_command.find(ran.back().front());
            return usual != of_command.end() ? usual->second : json::object{{"task_id", "task-20260102-new-one-1f2e3d4c"}};
        }
        auto answer = std::move(answers.front());
        answers.erase(answers.begin());
        return answer;
    }
    std::vector<std::filesystem::path> repositories;
    std::vector<std::string> inputs;
    std::vector<std::vector<std::string>> ran;
    std::vector<Result<json::object>> answers;
    std::map<std::string, json::object> of_command;
};

class DashboardOf : public ::testing::Test {
protected:
    explicit DashboardOf(bool read_only = false)
        : waiting_("waiting_for_approval"),
          ended_("delivered_and_rebased"),
          tasks_({{"one", folder_.path() / "one"}, {"two", folder_.path() / "two"}}),
          events_(ids_, clock_),
          guard_({port, read_only}, ids_),
          dashboard_({tasks_, events_, guard_, commands_, folder_.path() / "sets"}) {
        waiting_.begin(folder_.path() / "one" / ".agentforge", waiting_.records());
        ended_.begin(folder_.path() / "two" / ".agentforge", ended_.records());
        (void)tasks_.refresh();
        HttpRequest opens = request("GET", "/");
        opens.headers.erase("cookie");
        opens.query["token"] = guard_.token();
        const HttpResponse opened = dashboard_.answer(opens);
        const std::string set = opened.header("Set-Cookie");
        cookie_ = set.substr(0, set.find(';'));
    }
    [[nodiscard]] HttpRequest request(const std::string& method, const std::string& path) const {
        HttpRequest asked;
        asked.method = method;
        asked.path = path;
        asked.headers = {{"host", "127.0.0.1:8420"}, {"cookie", cookie_}};
        if (method == "GET") { return asked; }
        asked.headers["origin"] = "http://127.0.0.1:8420";
        asked.headers["content-type"] = "application/json";
        return asked;
    }
    HttpResponse get(const std::string& path, std::map<std::string, std::string> query = {}) {
        HttpRequest asked = request("GET", path);
        asked.query = std::move(query);
        return dashboard_.answer(asked);
    }
    HttpResponse post(const std::string& path, const json::object& body) {
        HttpRequest asked = request("POST", path);
        asked.body = to_json_line(body);
        return dashboard_.answer(asked);
    }
    static json::object body_of(const HttpResponse& response) {
        const auto value = parse_json(response.body, "body");
        return value.ok() && value->is_object() ? value->get_object() : json::object();
    }
    static std::string code_of(const HttpResponse& response) {
        const json::object body = body_of(response);
        const json::value* code = body.if_contains("code");
        return std::to_string(response.status) + " " +
               (code != nullptr && code->is_string() ? std::string(code->get_string()) : "");
    }

    static constexpr unsigned port = 8420;
    TemporaryDirectory folder_{"dashboard"};
    KeptJournal waiting_;
    KeptJournal ended_;
    CountingIdSource ids_;
    Aggregator tasks_;
    FakeClock clock_;
    EventHub events_;
    Guard guard_;
    FakeCommands commands_;
    Dashboard dashboard_;
    std::string cookie_;
};

}  // namespace agentforge::kernel::testing
