// SPDX-License-Identifier: Apache-2.0
#include "pipelines/run_case.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <set>

#include <agentforge/agentic.hpp>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "config/settings.hpp"
#include "pipeline/pipeline_controller.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel::pipelines {
namespace {

namespace fs = std::filesystem;

template <class T>
T must(Result<T> result) {
    if (!result.ok()) {
        std::cerr << result.error().to_string() << std::endl;
        std::abort();
    }
    return std::move(result).value();
}

/// As the machine has it, the system's own programs first: its Python, whatever else is installed.
std::map<std::string, std::string> environment_of_cases() {
    auto environment = current_environment();
    environment["PATH"] = "/usr/bin:/bin:" + environment["PATH"];
    return environment;
}

std::string shell(const std::string& command) {
    std::string out;
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) { return {}; }
    char buffer[4096];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) { out.append(buffer, got); }
    EXPECT_EQ(::pclose(pipe), 0) << command << "\n" << out;
    while (out.ends_with('\n')) { out.pop_back(); }
    return out;
}

/// All that ships, read once a process.
struct Product {
    ProductPaths paths = must(ProductPaths::find_for("", std::string(AGENTFORGE_BINARY_DIR) + "/bin/agentforge"));
    ContractSet contracts = must(ContractSet::load({paths.config + "/contracts"}));
    PipelineSet pipelines = must(PipelineSet::load(paths.config + "/pipelines", "", "", contracts));
    PluginRegistry plugins = [this] {
        PluginSearch search;
        search.product = paths.plugins;
        search.stages = {paths.config + "/stages"};
        return PluginRegistry::discover(search);
    }();
};

Product& product() {
    static Product one;
    return one;
}

// ----------------------------------------------------------------------------------------- the model --

/// Answers in the order of the script, each place (`stage/role`, else `stage`) for itself. When it has no more to say, the call
/// fails.
class ScriptedModel final : public LLMBackend {
public:
    /// `worktrees`: where the workspaces of tasks are.
    ScriptedModel(const Case& test, fs::path worktrees)
        : script_(test.model), unseen_(test.unseen), worktrees_(std::move(worktrees)) {}
    [[nodiscard]] BackendInfo info() const override {
        BackendInfo info;
        info.name = "script";
        info.native_tool_calls = true;
        info.offline = true;
        return info;
    }
    [[nodiscard]] Result<Completion> complete(const CompletionRequest& request, StreamSink*, CallContext& context) override {
        Answer answer;
        if (request.place.stage == "green" || request.place.stage == "refactor") { look_for_unseen(request); }
        {
            const std::lock_guard guard(mutex_);
            auto place = script_.find(request.place.stage + "/" + request.place.role);
            if (place == script_.end()) { place = script_.find(request.place.stage); }
            if (place == script_.end() || next_[place->first] == place->second.size()) {
                return Error{"SCRIPT-END",
                             "the script of " + request.place.stage + "/" + request.place.role + " has no more answers", "", "",
                             ErrorKind::invalid};
            }
            answer = place->second[next_[place->first]++];
        }
        AgenticContext* workspace = agentic_context(context);
        if (workspace != nullptr) {
            AgenticCommand command;
            command.argv = {"/bin/sh", "-c", answer.shell.empty() ? std::string("true") : answer.shell};
            command.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"}};
            AF_TRY(const AgenticOutcome outcome, workspace->run_command(command));
            if (!outcome.process.out.empty()) { std::cout << "[shell] " << outcome.process.out << std::flush; }
            if (!outcome.process.err.empty()) { std::cout << "[shell] " << outcome.process.err << std::flush; }
        }
        if (answer.error) { return *answer.error; }
        Completion completion;
        completion.model = "script";
        completion.text = answer.say;
        if (!answer.tool.empty()) {
            completion.tool_calls.push_back({answer.tool, answer.arguments});
            completion.stop_reason = StopReason::tool_call;
        }
        return completion;
    }

private:
    void look_for_unseen(const CompletionRequest& request) const {
        std::string request_text = request.system + request.user;
        for (const ToolDescription& tool : request.tools) {
            request_text += tool.name + tool.description + json::serialize(tool.parameters);
        }
        for (const std::string& text : unseen_) {
            EXPECT_EQ(request_text.find(text), std::string::npos)
                << text << " is in a request of " << request.place.stage << "/" << request.place.role << ":\n"
                << request_text;
        }
        if (unseen_.empty()) { return; }
        const auto lies_in = [](const fs::path& path, const char* folder) {
            return std::ranges::find(path, fs::path(folder)) != path.end();
        };
        for (const auto& entry : fs::recursive_directory_iterator(worktrees_)) {
            const fs::path inside = entry.path().lexically_relative(worktrees_);
            if (!entry.is_regular_file() || lies_in(inside, "gates") ||
                !(lies_in(inside, "work") || lies_in(inside, "scratch"))) {
                continue;
            }
            const std::string path = entry.path().string();
            const std::string content = must(read_file(entry.path()));
            for (const std::string& text : unseen_) {
                EXPECT_EQ((path + content).find(text), std::string::npos) << text << " is in " << path;
            }
        }
    }

    std::map<std::string, std::vector<Answer>> script_;
    std::vector<std::string> unseen_;
    fs::path worktrees_;
    std::map<std::string, std::size_t> next_;
    std::mutex mutex_;
};

bool works_by_shell(const Case& test, const std::string& stage, const std::string& role) {
    auto place = test.model.find(stage + "/" + role);
    if (place == test.model.end()) { place = test.model.find(stage); }
    return place != test.model.end() &&
           std::any_of(place->second.begin(), place->second.end(), [](const Answer& answer) { return !answer.shell.empty(); });
}

// ------------------------------------------------------------------------------------ the repository --

void write_entry(const fs::path& file, const json::value& entry) {
    fs::create_directories(file.parent_path());
    if (entry.is_string()) {
        std::ofstream(file, std::ios::binary) << entry.get_string().c_str();
        return;
    }
    const json::object& fields = entry.as_object();
    if (const auto* target = fields.if_contains("link")) {
        fs::create_symlink(std::string(target->as_string()), file);
    } else {
        std::ofstream(file, std::ios::binary) << fields.at("executable").as_string().c_str();
        fs::permissions(file, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                                  fs::perms::others_exec);
    }
}

class UserRepository {
public:
    UserRepository(const Case& test, fs::path folder) : folder_(std::move(folder)) {
        fs::create_directories(folder_);
        for (const auto& [path, entry] : test.repository) { write_entry(folder_ / path, entry); }
        git("init -q -b main .");
        std::ofstream(folder_ / ".git/config", std::ios::app) << "[user]\n\tname = Ada Example\n\temail = ada@example.org\n";
        git("add -A");
        git("-c commit.gpgsign=false commit -q --allow-empty -m Import");
        head_ = git("rev-parse HEAD");
    }
    std::string git(const std::string& arguments) const { return shell("git -C '" + folder_.string() + "' " + arguments); }
    [[nodiscard]] const fs::path& folder() const { return folder_; }
    void expect_untouched() const {
        EXPECT_EQ(git("symbolic-ref HEAD"), "refs/heads/main") << "the user's branch";
        EXPECT_EQ(git("rev-parse HEAD"), head_) << "the user's commit";
        EXPECT_EQ(git("status --porcelain --ignored -- . ':!.agentforge'"), "") << "the user's checkout";
    }
    [[nodiscard]] std::vector<std::string> changes(const std::string& tree) const {
        std::vector<std::string> result;
        const std::string text = git("diff --name-only --no-renames " + head_ + " " + tree);
        std::size_t at = 0;
        while (at < text.size()) {
            const auto end = std::min(text.find('\n', at), text.size());
            result.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        std::sort(result.begin(), result.end());
        return result;
    }
    [[nodiscard]] std::optional<std::string> file(const std::string& tree, const std::string& path) const {
        const auto repository = Repository::open(folder_.string());
        EXPECT_TRUE(repository.ok());
        auto content = repository->file_in_tree(tree, path);
        EXPECT_TRUE(content.ok()) << content.error().to_string();
        return content.ok() ? *content : std::nullopt;
    }

private:
    fs::path folder_;
    std::string head_;
};

// --------------------------------------------------------------------------------------- the journal --

/// The value at a dotted path; a name may hold dots itself where it is the last.
const json::value* value_at(const json::object& object, std::string_view path) {
    if (const auto* whole = object.if_contains(path)) { return whole; }
    const auto dot = path.find('.');
    if (dot == std::string_view::npos) { return nullptr; }
    const auto* below = object.if_contains(path.substr(0, dot));
    return below != nullptr && below->is_object() ? value_at(below->get_object(), path.substr(dot + 1)) : nullptr;
}

/// A text is equal; with `~` before it, it is contained. In a list some element must be so. Of an object, each given field must
/// be so. `{}` and `[]` are equal only to themselves.
bool fits(const json::value& expected, const json::value& found) {
    if (found.is_array() && !expected.is_array()) {
        return std::any_of(found.get_array().begin(), found.get_array().end(),
                           [&](const json::value& each) { return fits(expected, each); });
    }
    if (expected.is_string() && expected.get_string().starts_with('~')) {
        const auto text = found.is_string() ? std::string(found.get_string()) : json::serialize(found);
        return text.find(std::string(expected.get_string()).substr(1)) != std::string::npos;
    }
    if (expected.is_object() && found.is_object() && !expected.get_object().empty()) {
        return std::ranges::all_of(expected.get_object(), [&](const auto& field) {
            const auto* value = found.get_object().if_contains(field.key());
            return value != nullptr && fits(field.value(), *value);
        });
    }
    return expected == found;
}

class Story {
public:
    Story(const TaskPaths& paths, std::vector<Record> records) : blobs_(paths.blobs()) {
        for (auto& record : records) {
            json::object body = std::move(record.body);
            for (const char* key : {"report", "arguments", "result"}) { take_in(body, key); }
            if (auto* action = body.if_contains("action"); action != nullptr && action->is_object()) {
                take_in(action->get_object(), "arguments");
            }
            if (auto* result = body.if_contains("result"); result != nullptr && result->is_object()) {
                take_in(result->get_object(), "error");
            }
            records_.push_back(std::move(body));
        }
    }

    /// `says` looks at the whole record; `tool` and `status` are short for a step's action and result.
    [[nodiscard]] static bool matches(const Expected& expected, const json::object& record) {
        if (record.at("type") != json::value(expected.type)) { return false; }
        for (const auto& [name, value] : expected.fields) {
            std::string key(name);
            if (key == "says") {
                if (json::serialize(record).find(std::string(value.as_string())) == std::string::npos) { return false; }
                continue;
            }
            if (key == "tool") { key = "action.type"; }
            if (key == "status") { key = "result.status"; }
            if (key == "path") { key = "action.arguments.path"; }
            const auto* found = value_at(record, key);
            if (found == nullptr || !fits(value, *found)) { return false; }
        }
        return true;
    }

    void check(const Case& test) const {
        std::size_t at = 0;
        for (const auto& expected : test.journal) {
            const auto found = std::find_if(records_.begin() + static_cast<std::ptrdiff_t>(at), records_.end(),
                                            [&](const json::object& record) { return matches(expected, record); });
            if (found == records_.end()) {
                ADD_FAILURE() << expected.where << " is not in the journal after record " << at << ": " << expected.type << " "
                              << json::serialize(expected.fields) << "\n"
                              << history();
                return;
            }
            at = static_cast<std::size_t>(found - records_.begin()) + 1;
        }
        for (const auto& unwanted : test.never) {
            for (const auto& record : records_) {
                if (matches(unwanted, record)) {
                    ADD_FAILURE() << unwanted.where << " is in the journal: " << short_form(record) << "\n" << history();
                }
            }
        }
    }

    /// The tree that the newest passing `deliver` gate was measured on.
    [[nodiscard]] std::string delivered_tree() const {
        std::string tree;
        for (const auto& record : records_) {
            if (record.at("type") == json::value("gate") && record.at("gate") == json::value("deliver")) {
                tree = record.at("passed").as_bool() ? std::string(record.at("tree").as_string()) : std::string();
            }
        }
        return tree;
    }

    [[nodiscard]] std::string history() const {
        std::string text = "The journal:\n";
        for (const auto& record : records_) {
            const std::string line = short_form(record);
            if (!line.empty()) { text += "  " + line + "\n"; }
        }
        return text;
    }

private:
    void take_in(json::object& object, const std::string& key) {
        const auto* hash = object.if_contains(key + "_blob");
        if (hash == nullptr || !hash->is_string() || object.contains(key)) { return; }
        auto text = blobs_.get(hash->get_string());
        if (!text.ok()) { return; }
        auto value = parse_json(*text, "blob");
        object[key] = value.ok() ? std::move(value).value() : json::value(*text);
    }

    static std::string text_at(const json::object& record, const char* path) {
        const auto* value = value_at(record, path);
        if (value == nullptr) { return {}; }
        return value->is_string() ? std::string(value->get_string()) : json::serialize(*value);
    }

    static std::string short_form(const json::object& record) {
        const std::string type = text_at(record, "type");
        if (type == "step") {
            return "step " + text_at(record, "phase") + " " + text_at(record, "action.type") + " " +
                   text_at(record, "action.arguments.path") + ": " + text_at(record, "result.status") + ", " +
                   text_at(record, "result.summary") + " " + text_at(record, "result.error");
        }
        if (type == "gate") {
            std::string text =
                "gate " + text_at(record, "gate") + " " + text_at(record, "passed") + ": " + text_at(record, "summary");
            if (const auto* issues = value_at(record, "report.blocking_issues"); issues != nullptr && issues->is_array()) {
                for (const auto& issue : issues->get_array()) { text += "\n      - " + json::serialize(issue); }
            }
            return text;
        }
        if (type == "answer" || type == "call_started" || type == "call_finished" || type == "task_created" ||
            type == "costing") {
            return {};
        }
        json::object rest = record;
        for (const char* key : {"seq", "step", "type", "timestamp", "prev", "hash"}) { rest.erase(key); }
        return type + " " + ellipsis(json::serialize(rest), 300);
    }

    BlobStore blobs_;
    std::vector<json::object> records_;
};

}  // namespace

std::string missing_program(const Case& test) {
    const auto environment = environment_of_cases();
    const auto path = environment.find("PATH");
    for (const auto& program : test.needs) {
        if (program.starts_with('/')) {
            if (!fs::exists(program)) { return program; }
            continue;
        }
        bool found = false;
        std::string_view folders = path == environment.end() ? std::string_view() : std::string_view(path->second);
        while (!folders.empty() && !found) {
            const auto end = std::min(folders.find(':'), folders.size());
            std::error_code none;
            found = fs::exists(fs::path(folders.substr(0, end)) / program, none);
            folders.remove_prefix(std::min(end + 1, folders.size()));
        }
        if (!found) { return program; }
    }
    return {};
}

void run(const Case& test) {
    const TemporaryDirectory place("pipeline-case");
    const UserRepository repository(test, place.path() / "repository");
    const fs::path own_agents = place.path() / "agents";
    fs::create_directories(own_agents);
    for (const auto& [role, definition] : test.agents) { std::ofstream(own_agents / (role + ".yaml")) << to_yaml(definition); }
    auto agents = AgentSet::load(product().paths.config + "/agents", own_agents.string(), product().contracts);
    ASSERT_TRUE(agents.ok()) << agents.error().to_string();

    const auto processes = make_process_runner(product().paths.exec_helper);
    GitTaskWorkspaceOptions options;
    options.repository = repository.folder().string();
    options.state_directory = (place.path() / "state").string();
    options.gates.languages_directory = product().paths.config + "/languages";
    options.gates.conformance_directories = {product().paths.config + "/conformance"};
    options.gates.environment = environment_of_cases();
    options.gates.settings = test.settings;
    if (const auto* language = test.settings.if_contains("language")) {
        options.gates.language = std::string(language->as_string());
        options.gates.settings.erase("language");
    }
    if (const auto* runs = test.settings.if_contains("baseline_runs")) {
        options.gates.baseline_runs = runs->as_int64();
        options.gates.settings.erase("baseline_runs");
    }
    if (const auto* held_out = test.settings.if_contains("held_out")) {
        options.gates.held_out = held_out->as_bool();
        options.gates.settings.erase("held_out");
    }
    options.gates.settings.erase("outdated_tests");
    const bool strict = options.gates.settings.erase("unattended") > 0;
    const auto task_workspaces = make_git_task_workspaces(std::move(options), *processes);
    TaskStore store(repository.folder() / ".agentforge");
    EscalationStore escalations(repository.folder() / ".agentforge");
    const auto client =
        make_model_client(std::make_shared<UnmarkedBackend>(std::make_shared<ScriptedModel>(test, place.path() / "state")),
                          RetryPolicy{}, [](std::chrono::milliseconds) {});
    NullEventSink events;
    CancelToken cancel;
    SystemClock clock;
    SystemIdSource ids;
    TaskServices services{.plugins = product().plugins,
                          .contracts = product().contracts,
                          .agents = *agents,
                          .events = events,
                          .cancel = cancel,
                          .clock = clock,
                          .model = [&](const AgentDefinition&) -> Result<ModelClient*> { return client.get(); },
                          .budget = {},
                          .max_output_tokens = 4096,
                          .environment = environment_of_cases()};
    services.exec_helper = product().paths.exec_helper;
    services.ask_about_suspicions = strict;
    services.outdated_tests = texts_of(test.settings, "outdated_tests");
    services.agentic = [&](const AgentDefinition& agent) { return works_by_shell(test, agent.stage, agent.role); };
    PipelineController controller(ControllerSetup{.store = store,
                                                  .task_workspaces = *task_workspaces,
                                                  .escalations = escalations,
                                                  .services = services,
                                                  .ids = ids,
                                                  .handler = must(product().plugins.escalation("file")),
                                                  .wait = std::chrono::milliseconds(0),
                                                  .command = "pipeline case"});
    StartOptions start;
    auto pipeline = product().pipelines.get(test.pipeline);
    ASSERT_TRUE(pipeline.ok()) << pipeline.error().to_string();
    start.pipeline = *pipeline;
    for (StageTemplate& stage : start.pipeline.stages) {
        if (!test.verify_edits) { stage.config.erase("verify_edits"); }
    }
    if (!test.through.empty()) { start.exit_after = test.through; }
    const auto result = controller.execute(test.request, start);
    ASSERT_TRUE(result.ok()) << result.error().to_string();

    const TaskPaths paths = store.paths(result->task_id);
    auto records = Journal::read(paths.journal());
    ASSERT_TRUE(records.ok()) << records.error().to_string();
    const Story story(paths, std::move(*records));
    const auto state = read_task_state(store, result->task_id);
    ASSERT_TRUE(state.ok()) << state.error().to_string();
    if (std::getenv("AGENTFORGE_CASE_TELL") != nullptr) {
        std::cout << story.history() << "ends " << to_string(state->status) << " " << state->error_code << "\n";
    }

    EXPECT_EQ(std::string(to_string(state->status)), test.ends) << state->error_code << " " << state->error << "\n"
                                                                << story.history();
    if (!test.error.empty()) { EXPECT_EQ(state->error_code, test.error) << state->error; }
    story.check(test);
    if (test.changes) {
        EXPECT_EQ(repository.changes(state->tree), *test.changes) << "what differs from the user's commit\n" << story.history();
    }
    for (const auto& [path, bytes] : test.files) { EXPECT_EQ(repository.file(state->tree, path), bytes) << path; }

    repository.expect_untouched();
    const std::string branches = repository.git("for-each-ref --format='%(refname:short)' refs/heads/agentforge");
    EXPECT_EQ(branches.empty(), state->commit.empty()) << branches;
    if (state->commit.empty()) { return; }
    const std::string tree = repository.git("rev-parse '" + branches + "^{tree}'");
    EXPECT_EQ(tree, story.delivered_tree()) << "what was committed is what the gate `deliver` has passed";
    if (!state->red_tree.empty()) {
        const auto suite = load_artifact(paths.artifact("red", "test_suite"));
        ASSERT_TRUE(suite.ok()) << suite.error().to_string();
        for (const auto& file : suite->at("test_files").as_array()) {
            const std::string path(file.as_object().at("path").as_string());
            EXPECT_EQ(repository.file(tree, path), repository.file(state->red_tree, path)) << path << " is RED's";
        }
    }
}

}  // namespace agentforge::kernel::pipelines
