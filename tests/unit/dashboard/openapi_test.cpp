// SPDX-License-Identifier: Apache-2.0
// Compares kernel/dashboard/openapi.yaml with the server, in both directions.
#include <algorithm>
#include <set>

#include "base/hash.hpp"
#include "escalation/escalation_store.hpp"
#include "journal/blob_store.hpp"
#include "task/task_set.hpp"
#include "task/task_store.hpp"
#include "unit/dashboard/dashboard_of.hpp"

namespace agentforge::kernel::testing {
namespace {

namespace fs = std::filesystem;

class DashboardOpenApi : public DashboardOf {
protected:
    DashboardOpenApi() : document_(body_of(get("/api/openapi.json"))) {
        // tests/integration/program/test_dashboard.py compares the commands themselves.
        commands_.of_command["pause"] = {
            {"task_id", waiting_.task_id()}, {"asked_to_pause", true}, {"when", "at_once"}, {"reason", "lunch"}};
        commands_.of_command["abort"] = {{"task_id", waiting_.task_id()},
                                         {"aborted", true},
                                         {"asked_to_stop", false},
                                         {"outcome", "aborted"},
                                         {"reason", "a mistake"}};
        commands_.of_command["plugins"] = {
            {"plugins", json::array{json::object{{"id", "fs"},
                                                 {"version", "1.0.0"},
                                                 {"licence", "Apache-2.0"},
                                                 {"description", "Files"},
                                                 {"library", "/plugins/fs.so"},
                                                 {"provides", json::array{json::object{{"kind", "tool"}, {"name", "read_file"}}}},
                                                 {"source", "product"},
                                                 {"state", "ready"}}}},
            {"stages_that_are_data", json::object{{"spec", "Specifies"}}},
            {"problems", json::array()}};
        commands_.of_command["pipelines"] = {{"pipelines", json::array{json::object{{"name", "implement"},
                                                                                    {"description", "All of it"},
                                                                                    {"goal_type", "implement"},
                                                                                    {"stages", json::array{"spec"}},
                                                                                    {"exit_stage", "spec"},
                                                                                    {"deliverable", "specification"},
                                                                                    {"source", "implement.yaml"},
                                                                                    {"of_project", false}}}}};
        commands_.of_command["agents"] = {{"agents", json::array{json::object{{"role", "architect"},
                                                                              {"version", "1.0"},
                                                                              {"display_name", "Architect"},
                                                                              {"description", "Specifies"},
                                                                              {"stage", "spec"},
                                                                              {"source", "architect.yaml"},
                                                                              {"of_project", false}}}}};
    }

    [[nodiscard]] fs::path agentforge_of(const char* repository) const { return folder_.path() / repository / ".agentforge"; }

    /// A question, an approval and an action, with deadlines.
    void ask() {
        acts_.begin(agentforge_of("one"), acts_.records());
        const EscalationStore store(agentforge_of("one"));
        fs::create_directories(store.directory());
        const AnswerDeadline soon{"2026-01-03T03:04:05.000Z", "pause", ""};
        const std::string at = "2026-01-02T03:04:05.000Z";
        const std::string task = waiting_.task_id();
        ASSERT_TRUE(store
                        .record(Escalation{EscalationStore::escalation_id(task, "spec", 1),
                                           task,
                                           "spec",
                                           "unclear",
                                           "Which one?",
                                           {"this", "that"},
                                           {{"stage", "spec"}},
                                           at,
                                           ""},
                                soon)
                        .ok());
        ASSERT_TRUE(
            store
                .record(ApprovalRequest{
                    EscalationStore::approval_id(task, "spec", 1), task, "spec", {{"title", "x"}}, std::string(64, 'a'), at, ""})
                .ok());
        ASSERT_TRUE(store
                        .record(ApprovalRequest{EscalationStore::action_id(acts_.task_id(), "intake", 1),
                                                acts_.task_id(),
                                                "intake",
                                                {{"tool", "read_file"}, {"arguments", json::object{{"path", "a.py"}}}},
                                                std::string(64, 'b'),
                                                at,
                                                ""})
                        .ok());
    }
    /// A task whose specification depends on others, whose gate fails, and whose last step has its blobs.
    void fail_a_gate() {
        const auto needs = [](const std::string& task) {
            return json::object{{"task_id", task}, {"required_stage", "spec"}, {"repo", "two"}, {"reason", "its interface"}};
        };
        const json::object external{{"repo", "library"}, {"artifact", "api"}, {"version", "^1.2"}, {"reason", ""}};
        const json::object dependencies{{"tasks", json::array{needs(ended_.task_id()), needs("task-20260101-none-00000000")}},
                                        {"external", json::array{external}}};
        const std::string specification = to_json_line(json::object{{"dependencies", dependencies}});
        const std::string kept = "5ac9946919782d8d8dfdb1748d91099f5b0dc6b828e3f1ee47bbfd93998091f4";
        const fs::path folder = failing_.begin_with(agentforge_of("two"), {{kept, sha256(specification)}});
        BlobStore blobs(TaskPaths{folder}.blobs());
        ASSERT_TRUE(blobs.put(specification).ok());
        const json::object call{{"name", "read_file"}, {"arguments", json::object{{"path", "a.py"}}}};
        const auto step = blobs.put(to_json_line(json::object{
            {"output", "text"}, {"completion", json::object{{"text", "I read it."}, {"tool_calls", json::array{call}}}}}));
        ASSERT_TRUE(step.ok() && blobs.sync().ok());
        failing_.append_steps(1, {{"record_blob", *step}});
        failing_.add(failing_gate(), 17);
    }
    /// A task that has ended after its specification, so more stages may follow.
    void end_early() {
        const std::string created = "\"goal_type\": \"implement\", \"pipeline\": {";
        extendable_.begin_with(agentforge_of("two"), {{created, "\"exit_after\": \"spec\", " + created}});
        records::ApprovalDecided decided{};
        decided.stage = "spec";
        decided.approval_id = EscalationStore::approval_id(extendable_.task_id(), "spec", 1);
        decided.approved = true;
        decided.artifact_hash = "aa47080b8d02c3e4dda9b6c9ebb61ad0ae7f2e3a98a8f571e5a1f3eccd2031f0";
        decided.decided_by = "a person";
        decided.decision = "approve";
        extendable_.add(decided, 8);
        extendable_.add(records::StageCompleted{"spec", decided.artifact_hash}, 8);
        extendable_.add(records::TaskCompleted{"spec", "early_exit"}, 8);
    }
    /// A task and a set that cannot be read, and a set that can be.
    void damage() {
        const fs::path task = damaged_.begin(agentforge_of("two"), damaged_.records());
        (void)tasks_.refresh();
        std::ofstream(task / "actions.yaml", std::ios::app) << "- {\"seq\": 999}\n- {\"seq\": 1000}\n";
        const fs::path sets = folder_.path() / "sets";
        fs::create_directories(sets / "set-damaged");
        std::ofstream(sets / "set-damaged" / "set.yaml") << "set_id: [";
        TaskSet set;
        set.id = "set-20260102-add-a-slug-1f2e3d4c";
        set.request = "Add a slug";
        set.created_at = "2026-01-02T03:04:05.000Z";
        set.parts = {{"one", folder_.path() / "one", {}, waiting_.task_id(), "agentforge/slug", std::string(40, 'a')},
                     {"two", folder_.path() / "two", {"one"}, "", "", ""}};
        ASSERT_TRUE(save_set(set_file(sets / set.id), set).ok());
    }
    void add_every_shape() {
        const fs::path artifacts = agentforge_of("two") / "tasks" / ended_.task_id() / "artifacts" / "phases" / "spec";
        fs::create_directories(artifacts);
        std::ofstream(artifacts / "specification.yaml") << "a: 1\n";
        ask();
        fail_a_gate();
        end_early();
        damage();
        (void)tasks_.refresh();
    }

    const json::object& schema_of(const json::object& schema) const {
        const json::value* reference = schema.if_contains("$ref");
        if (reference == nullptr) { return schema; }
        return document_.at("components").at("schemas").at(component_of(schema)).as_object();
    }
    /// Returns the name of the component that a schema refers to, or empty.
    static std::string component_of(const json::object& schema) {
        const json::value* reference = schema.if_contains("$ref");
        const std::string name(reference == nullptr ? "" : std::string(reference->as_string()));
        return name.substr(name.rfind('/') + 1);
    }
    /// Returns what is wrong with a value, or empty.
    std::string problem_of(const json::value& value, const json::object& named, const std::string& at) const {
        const json::object& schema = schema_of(named);
        if (!fits(value, schema)) { return at + " has another type"; }
        if (value.is_object()) { seen_.insert(component_of(named)); }
        for (const std::string_view key : {"oneOf", "anyOf"}) {
            const json::value* choices = schema.if_contains(key);
            if (choices == nullptr) { continue; }
            if (const std::string problem = problem_of_choices(value, choices->as_array(), key == "oneOf", at);
                !problem.empty()) {
                return problem;
            }
        }
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
    std::string problem_of_choices(const json::value& value, const json::array& choices, bool only_one,
                                   const std::string& at) const {
        std::size_t fitting = 0;
        std::string problem = at + " is none of the choices";
        for (const json::value& choice : choices) {
            const std::string found = problem_of(value, choice.as_object(), at);
            fitting += found.empty() ? 1 : 0;
            if (!found.empty() && fits(value, schema_of(choice.as_object()))) { problem = found; }
        }
        if (fitting == 0) { return problem; }
        return only_one && fitting > 1 ? at + " is several of the choices" : "";
    }
    /// Compares what an address answers to GET with what the document says of its path.
    void expect_described(const std::string& path, const std::string& asked, std::map<std::string, std::string> query = {}) {
        const HttpResponse response = get(asked, std::move(query));
        EXPECT_EQ(response.status, 200) << asked << response.body;
        expect_described(document_.at("paths").at(path).at("get").as_object(), response, asked);
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
        const json::value* words = schema.if_contains("enum");
        if (words != nullptr && std::ranges::find(words->as_array(), value) == words->as_array().end()) { return false; }
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
    /// Returns the place of an object of which the document neither lists the fields nor says that it may have any, or empty.
    static std::string bare_in(const json::value& value, const std::string& at) {
        if (const json::array* list = value.if_array()) {
            for (const json::value& each : *list) {
                if (const std::string bare = bare_in(each, at + "[]"); !bare.empty()) { return bare; }
            }
        }
        const json::object* schema = value.if_object();
        if (schema == nullptr) { return {}; }
        const json::value* type = schema->if_contains("type");
        const bool is_schema = type != nullptr && (type->is_string() || type->is_array());
        if (is_schema && fits(json::object(), *schema) && !schema->contains("properties") &&
            !schema->contains("additionalProperties")) {
            return at;
        }
        for (const auto& field : *schema) {
            const std::string bare = bare_in(field.value(), at + "." + std::string(field.key()));
            if (!bare.empty()) { return bare; }
        }
        return {};
    }
    json::object document_;
    mutable std::set<std::string> seen_;  ///< The components that a value was compared with.
    KeptJournal acts_{"waiting_for_action"};
    KeptJournal failing_{"killed_in_green"};
    KeptJournal extendable_{"waiting_for_approval"};
    KeptJournal damaged_{"paused_at_a_limit"};
};

TEST_F(DashboardOpenApi, names_each_route_and_no_other) {
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

TEST_F(DashboardOpenApi, describes_each_answer_field_by_field) {
    add_every_shape();
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
    const std::string failing = "/api/tasks/" + failing_.task_id();
    expect_described("/api/tasks/{task_id}", failing);
    expect_described("/api/tasks/{task_id}/phases/{phase}", failing + "/phases/green");
    expect_described("/api/tasks/{task_id}/steps/{step}", failing + "/steps/17");
    expect_described("/api/tasks/{task_id}", "/api/tasks/" + damaged_.task_id());
    expect_described("/api/tasks/{task_id}", "/api/tasks/" + extendable_.task_id(), {{"repo", "two"}});
    expect_described("/api/tasks/{task_id}/report", "/api/tasks/" + extendable_.task_id() + "/report", {{"repo", "two"}});

    // Other tests compare events, the answers to changes, and differences, which need a repository.
    const std::set<std::string> elsewhere{"Change",  "Notice", "Started",       "Resumed", "Forked",    "Answered",
                                          "Aborted", "Paused", "ResumeProblem", "Diff",    "FileChange"};
    for (const auto& component : document_.at("components").at("schemas").as_object()) {
        const std::string name(component.key());
        EXPECT_NE(seen_.contains(name), elsewhere.contains(name)) << name << ": no answer has this shape";
    }
    EXPECT_EQ(body_of(get("/api/attention")).at("items").as_array().size(), 3U);
    EXPECT_EQ(body_of(get("/api/sets")).at("problems").as_array().size(), 1U);
    EXPECT_EQ(body_of(get(failing + "/steps/17")).at("llm_response").at("tool_calls").as_array().size(), 1U);
}

TEST_F(DashboardOpenApi, describes_the_fields_of_each_object) {
    EXPECT_EQ(bare_in(document_.at("components"), "components"), "");
    EXPECT_EQ(bare_in(document_.at("paths"), "paths"), "");
}

TEST_F(DashboardOpenApi, checks_each_field_of_a_one_of_schema) {
    const json::object trouble{{"$ref", "#/components/schemas/Trouble"}};
    const json::object schema{{"oneOf", json::array{trouble, json::object{{"type", "null"}}}}};
    json::object problem{{"code", "AF-JRNL-002"}, {"title", "damaged"}, {"where", "here"}, {"detail", "restore it"}};
    EXPECT_EQ(problem_of(problem, schema, "problem"), "");
    EXPECT_EQ(problem_of(nullptr, schema, "problem"), "");
    EXPECT_EQ(problem_of("text", schema, "problem"), "problem is none of the choices");
    problem["cause"] = "unknown";
    EXPECT_EQ(problem_of(problem, schema, "problem"), "problem.cause is not described");
    const json::object twice{{"oneOf", json::array{json::object{{"type", "integer"}}, json::object{{"type", "number"}}}}};
    EXPECT_EQ(problem_of(1, twice, "number"), "number is several of the choices");
}

TEST_F(DashboardOpenApi, describes_the_body_of_each_change) {
    for (const auto& path : document_.at("paths").as_object()) {
        const json::value* operation = path.value().as_object().if_contains("post");
        if (operation == nullptr) { continue; }
        const json::object& schema = operation->at("requestBody").at("content").at("application/json").at("schema").as_object();
        json::object body;
        for (const auto& property : schema.at("properties").as_object()) {
            const json::value& type = property.value().at("type");
            json::value& value = body[property.key()];
            value = "text";
            if (type == json::value("boolean")) { value = false; }
            if (type == json::value("integer")) { value = 1; }
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

TEST_F(DashboardOpenApi, describes_why_a_task_cannot_continue) {
    commands_.answers.emplace_back(json::object{{"task_id", ended_.task_id()}});
    commands_.answers.emplace_back(Error{"AF-LLM-001", "No model answers", "", "Set another", ErrorKind::unavailable});
    const HttpResponse answer = post("/api/tasks/" + waiting_.task_id() + "/fork", {{"step", 1}});
    expect_described(document_.at("paths").at("/api/tasks/{task_id}/fork").at("post").as_object(), answer, "fork");
    EXPECT_TRUE(seen_.contains("ResumeProblem"));
}

TEST_F(DashboardOpenApi, describes_each_event_field_by_field) {
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

TEST_F(DashboardOpenApi, describes_problems) {
    const HttpResponse refused = get("/api/tasks/task-20260101-none-00000000");
    EXPECT_EQ(refused.header("Content-Type"), "application/problem+json");
    EXPECT_EQ(problem_of(body_of(refused), document_.at("components").at("schemas").at("Problem").as_object(), "problem"), "");
}

}  // namespace
}  // namespace agentforge::kernel::testing
