// SPDX-License-Identifier: Apache-2.0
// Compares kernel/dashboard/openapi.yaml with the server, in both directions.
#include <algorithm>
#include <set>

#include "unit/dashboard/dashboard_of.hpp"

namespace agentforge::kernel::testing {
namespace {

class OpenApi : public DashboardOf {
protected:
    OpenApi() : document_(body_of(get("/api/openapi.json"))) {}

    const json::object& schema_of(const json::object& schema) const {
        const json::value* reference = schema.if_contains("$ref");
        if (reference == nullptr) { return schema; }
        const std::string name(reference->as_string());
        return document_.at("components").at("schemas").at(name.substr(name.rfind('/') + 1)).as_object();
    }
    /// Returns what is wrong with a value, or empty.
    std::string problem_of(const json::value& value, const json::object& named, const std::string& at) const {
        const json::object& schema = schema_of(named);
        if (!fits(value, schema)) { return at + " has another type"; }
        if (value.is_array() && schema.contains("items")) {
            for (const json::value& item : value.get_array()) {
                if (const std::string problem = problem_of(item, schema.at("items").as_object(), at + "[]"); !problem.empty()) {
                    return problem;
                }
            }
        }
        if (const json::value* others = schema.if_contains("additionalProperties");
            value.is_object() && others != nullptr && others->is_object()) {
            for (const auto& field : value.get_object()) {
                const std::string place = at + "." + std::string(field.key());
                if (const std::string problem = problem_of(field.value(), others->get_object(), place); !problem.empty()) {
                    return problem;
                }
            }
        }
        if (!value.is_object() || !schema.contains("properties")) { return {}; }
        const json::object& properties = schema.at("properties").as_object();
        for (const auto& field : value.get_object()) {
            if (!properties.contains(field.key())) { return at + "." + std::string(field.key()) + " is not described"; }
        }
        for (const auto& property : properties) {
            const json::value* given = value.get_object().if_contains(property.key());
            const json::value* required = schema.if_contains("required");
            const bool may_be_missing =
                required != nullptr &&
                std::ranges::find(required->as_array(), json::value(property.key())) == required->as_array().end();
            if (given == nullptr && may_be_missing) { continue; }
            if (given == nullptr) { return at + "." + std::string(property.key()) + " is described and missing"; }
            if (const std::string problem =
                    problem_of(*given, property.value().as_object(), at + "." + std::string(property.key()));
                !problem.empty()) {
                return problem;
            }
        }
        return {};
    }
    /// Compares an answer with what the operation says of its status.
    void expect_described(const json::object& operation, const HttpResponse& answer, const std::string& asked) const {
        const json::object& responses = operation.at("responses").as_object();
        const json::value* described = responses.if_contains(std::to_string(answer.status));
        if (described == nullptr && answer.status >= 400) { described = responses.if_contains("default"); }
        ASSERT_NE(described, nullptr) << asked << " answers " << answer.status;
        const json::object& content = described->at("content").as_object();
        const std::string type(content.begin()->key());
        EXPECT_TRUE(answer.header("Content-Type").starts_with(type)) << asked;
        if (!type.ends_with("json")) { return; }
        EXPECT_EQ(problem_of(body_of(answer), content.at(type).at("schema").as_object(), asked), "");
    }
    static bool fits(const json::value& value, const json::object& schema) {
        const json::value* type = schema.if_contains("type");
        if (type == nullptr) { return true; }
        const json::array types = type->is_array() ? type->get_array() : json::array{*type};
        for (const json::value& each : types) {
            const std::string_view name = each.as_string();
            if ((name == "null" && value.is_null()) || (name == "object" && value.is_object()) ||
                (name == "array" && value.is_array()) || (name == "string" && value.is_string()) ||
                (name == "boolean" && value.is_bool()) || (name == "integer" && (value.is_int64() || value.is_uint64())) ||
                (name == "number" && value.is_number())) {
                return true;
            }
        }
        return false;
    }
    json::object document_;
};

TEST_F(OpenApi, NamesEachRouteAndNoOther) {
    std::set<std::string> described;
    for (const auto& path : document_.at("paths").as_object()) {
        for (const auto& operation : path.value().as_object()) {
            described.insert(std::string(operation.key()) + " " + std::string(path.key()));
        }
    }
    std::set<std::string> served;
    for (const Route& route : dashboard_.routes()) { served.insert((route.method == "GET" ? "get " : "post ") + route.path); }
    EXPECT_EQ(described, served);
}

TEST_F(OpenApi, DescribesEachAnswerFieldByField) {
    const std::filesystem::path spec =
        folder_.path() / "two" / ".agentforge" / "tasks" / ended_.task_id() / "artifacts" / "phases" / "spec";
    std::filesystem::create_directories(spec);
    std::ofstream(spec / "specification.yaml") << "a: 1\n";
    const std::vector<std::pair<std::string, std::string>> places{
        {"{task_id}", ended_.task_id()}, {"{phase}/{name}", "spec/specification.yaml"}, {"{phase}", "green"}, {"{step}", "5"}};
    std::size_t checked = 0;
    for (const auto& path : document_.at("paths").as_object()) {
        const json::value* operation = path.value().as_object().if_contains("get");
        const json::value* answer = operation == nullptr ? nullptr : operation->at("responses").as_object().if_contains("200");
        if (answer == nullptr || !answer->as_object().contains("content")) { continue; }
        std::string asked(path.key());
        for (const auto& [place, value] : places) {
            if (const std::size_t at = asked.find(place); at != std::string::npos) { asked.replace(at, place.size(), value); }
        }
        const HttpResponse response = get(asked);
        // The kept task's repository is gone: tests/integration/program/test_dashboard.py has a difference.
        EXPECT_EQ(asked.ends_with("/diff"), response.status != 200) << asked << response.body;
        expect_described(operation->as_object(), response, asked);
        ++checked;
    }
    EXPECT_GT(checked, 12U);
}

TEST_F(OpenApi, DescribesWhatEachChangeTakes) {
    for (const auto& path : document_.at("paths").as_object()) {
        const json::value* operation = path.value().as_object().if_contains("post");
        if (operation == nullptr) { continue; }
        const json::object& schema = operation->at("requestBody").at("content").at("application/json").at("schema").as_object();
        json::object body;
        for (const auto& property : schema.at("properties").as_object()) {
            const bool flag = property.value().at("type") == json::value("boolean");
            const bool number = property.value().at("type") == json::value("integer");
            body[property.key()] = flag ? json::value(false) : number ? json::value(1) : json::value("text");
        }
        std::string asked(path.key());
        for (const auto& [place, value] : {std::pair<std::string, std::string>{"{task_id}", waiting_.task_id()},
                                           {"{escalation_id}", "ESC-" + waiting_.task_id() + "-a-1"}}) {
            if (const std::size_t at = asked.find(place); at != std::string::npos) { asked.replace(at, place.size(), value); }
        }
        if (body.contains("id")) { body["id"] = "APR-" + waiting_.task_id() + "-spec-1"; }
        if (body.contains("hash")) { body["hash"] = "abcdef0123"; }
        if (body.contains("repo")) { body["repo"] = "one"; }
        const HttpResponse answer = post(asked, body);
        const bool not_now = asked.ends_with("/extend");  // The kept task continues after the artifact that it shows.
        EXPECT_EQ(not_now, answer.status >= 300) << asked << to_json_line(body) << answer.body;
        expect_described(operation->as_object(), answer, asked);
        body["unknown"] = "text";
        EXPECT_EQ(code_of(post(asked, body)), "400 AF-DASH-013") << asked;
    }
}

TEST_F(OpenApi, DescribesEachEventFieldByField) {
    const HttpResponse answer = get("/api/events");
    events_.publish(
        {{.repo = "one", .task_id = "task", .seq = 1, .type = "step", .stage = "green", .step = 1, .state = "paused"}});
    std::vector<std::string> described;
    for (const EventSource::Event& event : answer.events->take()) {
        const std::string schema = event.type == "task" ? "Change" : "Notice";
        const auto data = parse_json(event.data, event.type);
        ASSERT_TRUE(data.ok());
        EXPECT_EQ(problem_of(*data, document_.at("components").at("schemas").at(schema).as_object(), event.type), "");
        described.push_back(schema);
    }
    EXPECT_EQ(described, (std::vector<std::string>{"Notice", "Change"}));
}

TEST_F(OpenApi, DescribesProblems) {
    const HttpResponse refused = get("/api/tasks/task-20260101-none-00000000");
    EXPECT_EQ(refused.header("Content-Type"), "application/problem+json");
    EXPECT_EQ(problem_of(body_of(refused), document_.at("components").at("schemas").at("Problem").as_object(), "problem"), "");
}

}  // namespace
}  // namespace agentforge::kernel::testing
