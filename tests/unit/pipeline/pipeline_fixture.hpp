// SPDX-License-Identifier: Apache-2.0
// Everything a controller needs, in a temporary folder: a workspace without git, stages and models from functions, a clock set by
// the test.
#pragma once

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/yaml.hpp"
#include "pipeline/pipeline_controller.hpp"
#include "records/records.hpp"

namespace agentforge::kernel::testing {

namespace fs = std::filesystem;

/// FakeClock for several threads. Its steady time begins at the machine's, because the step loop compares the two.
class SharedClock final : public Clock {
public:
    [[nodiscard]] std::chrono::system_clock::time_point now() const override {
        return std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} + std::chrono::milliseconds(ms_.load()) +
               std::chrono::hours(jumped_hours_.load());
    }
    [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
        return start_ + std::chrono::milliseconds(ms_.load());
    }
    void advance(std::chrono::milliseconds by) { ms_ += by.count(); }
    /// Changes the wall clock; no time passes.
    void jump(std::chrono::hours by) { jumped_hours_ += by.count(); }

private:
    std::atomic<std::int64_t> jumped_hours_{0};
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::atomic<std::int64_t> ms_{0};
};

/// Records a run as an observer sees it: records under their types, and events between them.
class Events final : public EventSink, public RecordObserver {
public:
    void event(const Event& event) override {
        const std::lock_guard lock(mutex_);
        std::visit([this](const auto& one) { seen_.emplace_back(one.type, records::to_fields(one)); }, event);
    }
    void recorded(const TaskState&, const StageState*, const records::AnyRecord& record) override {
        const std::lock_guard lock(mutex_);
        seen_.emplace_back(records::type_of(record.body), records::to_fields(record.body));
    }
    [[nodiscard]] std::size_t count(std::string_view name) const {
        const std::lock_guard lock(mutex_);
        return static_cast<std::size_t>(
            std::count_if(seen_.begin(), seen_.end(), [&](const auto& one) { return one.first == name; }));
    }
    [[nodiscard]] std::vector<std::string> texts(std::string_view name, std::string_view field) const {
        const std::lock_guard lock(mutex_);
        std::vector<std::string> found;
        for (const auto& [seen, fields] : seen_) {
            if (seen == name && fields.contains(field)) { found.emplace_back(fields.at(field).as_string()); }
        }
        return found;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::pair<std::string, json::object>> seen_;
};

using Files = std::map<std::string, std::string>;
using GateFunction = std::function<Result<GateReport>(const GateCall&, const Files&)>;

inline GateReport gate_report(const GateCall& call, bool passed, json::object facts = {}) {
    GateReport report;
    report.gate = call.request.gate;
    report.tree = call.tree;
    report.passed = passed;
    report.summary = passed ? "passes" : "does not pass";
    if (!passed) { report.blocking_issues = {"something is wrong"}; }
    report.facts = std::move(facts);
    return report;
}

/// What git would store. Outlives every process that works on a task.
struct Memory {
    std::map<std::string, Files> trees;
    std::map<std::string, std::pair<std::string, std::string>> branches;  ///< Commit and tree.
    std::vector<std::string> messages;
    std::map<std::string, WrittenCommit> parents;  ///< By commit.
    std::vector<std::string> pushed;
    std::vector<std::string> archived;
    BaseDrift drift;
    std::function<HookReport(const HookOrder&)> hooks = [](const HookOrder&) { return HookReport(); };
    std::function<Result<Published>(const PublishOrder&)> publish = [](const PublishOrder&) -> Result<Published> {
        return Published{"remote", "https://example.org/pr/1", "gh", ""};
    };
    GateFunction gate = [](const GateCall& call, const Files&) { return gate_report(call, true); };
    std::vector<std::string> gates_run;
    std::map<std::string, std::string> links;  ///< The symbolic links of every tree.
    std::int64_t baseline_runs = 1;
    bool holds_out_tests = false;
    std::vector<std::string> skeleton_trees;  ///< The trees on which skeletons were written.
    unsigned scratch_cleared = 0;
    std::string inputs;
    std::vector<std::pair<std::string, std::string>> scaffold;
    unsigned commits = 0;
    unsigned closed = 0;
    unsigned programs = 0;
    Result<void> moved;  ///< What moving a branch returns once it is done.
    std::function<void(const std::string& root)> program = [](const std::string&) {};

    std::string keep(Files files) {
        json::object all;
        for (const auto& [path, content] : files) { all[path] = content; }
        const std::string id = hash_of(all).substr(0, 40);
        trees.emplace(id, std::move(files));
        return id;
    }
};

class FakeTaskWorkspace final : public TaskWorkspace {
public:
    FakeTaskWorkspace(Memory& memory, fs::path root) : memory_(memory), root_(root.string()) { fs::create_directories(root); }

    [[nodiscard]] const std::string& root() const noexcept override { return root_; }
    [[nodiscard]] std::string scratch() const override { return root_ + ".scratch"; }
    [[nodiscard]] Result<void> restore(const std::string& tree) override {
        for (const auto& entry : fs::directory_iterator(root_)) { fs::remove_all(entry.path()); }
        for (const auto& [path, content] : memory_.trees.at(tree)) {
            fs::create_directories((fs::path(root_) / path).parent_path());
            std::ofstream(fs::path(root_) / path) << content;
        }
        return {};
    }
    [[nodiscard]] Result<std::string> snapshot(const std::vector<std::string>&) override {
        Files files;
        for (const auto& entry : fs::recursive_directory_iterator(root_)) {
            if (!entry.is_regular_file()) { continue; }
            AF_TRY(files[fs::relative(entry.path(), root_).string()], read_file(entry.path()));
        }
        return memory_.keep(std::move(files));
    }
    [[nodiscard]] Result<void> keep(const std::string&, const std::string&) override { return {}; }
    [[nodiscard]] Result<std::vector<TreeChange>> diff(const std::string& from, const std::string& to) override {
        const Files& before = memory_.trees.at(from);
        const Files& after = memory_.trees.at(to);
        std::vector<TreeChange> changes;
        for (const auto& [path, content] : after) {
            const auto old = before.find(path);
            if (old != before.end() && old->second == content) { continue; }
            changes.push_back(TreeChange{path, "", old == before.end() ? 'A' : 'M', 1, old == before.end() ? 0UL : 1UL});
        }
        for (const auto& [path, content] : before) {
            if (!after.contains(path)) { changes.push_back(TreeChange{path, "", 'D', 0, 1}); }
        }
        return changes;
    }
    /// Returns a file's old text before its new one.
    [[nodiscard]] Result<std::string> patch(const std::string& from, const std::string& to) override {
        std::string text = from + ".." + to + "\n";
        for (const auto& [path, content] : memory_.trees.at(to)) {
            const auto old = memory_.trees.at(from).find(path);
            const bool there = old != memory_.trees.at(from).end();
            if (!there || old->second != content) {
                text += "+++ b/" + path + "\n" + (there ? "-" + old->second + "\n" : "") + "+" + content + "\n";
            }
        }
        return text;
    }
    [[nodiscard]] Result<std::optional<std::string>> file_in_tree(const std::string& tree, const std::string& path) override {
        const Files& files = memory_.trees.at(tree);
        const auto found = files.find(path);
        return found == files.end() ? std::optional<std::string>() : std::optional(found->second);
    }
    [[nodiscard]] Result<GateReport> gate(const GateCall& call, const Stop&) override {
        memory_.gates_run.push_back(call.request.gate);
        return memory_.gate(call, memory_.trees.at(call.tree));
    }
    [[nodiscard]] Result<std::string> gate_inputs() override { return memory_.inputs; }
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string& tree) override {
        auto files = memory_.scaffold;
        std::erase_if(files, [&](const auto& file) { return memory_.trees.at(tree).contains(file.first); });
        return files;
    }
    [[nodiscard]] std::int64_t baseline_runs() const override { return memory_.baseline_runs; }
    [[nodiscard]] bool holds_out_tests() const override { return memory_.holds_out_tests; }
    [[nodiscard]] Result<void> clear_scratch() override {
        ++memory_.scratch_cleared;
        return {};
    }
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop&) override {
        memory_.skeleton_trees.push_back(tree);
        std::vector<std::pair<std::string, std::string>> files;
        for (const SkeletonInterface& one : interfaces) { files.emplace_back(one.file, one.signature + ": ...\n"); }
        return files;
    }
    [[nodiscard]] Result<ActingLinks> acting_links(const std::string&) override { return ActingLinks(memory_.links); }
    [[nodiscard]] Result<std::shared_ptr<const PathSymbols>> path_symbols(const std::string& tree) override {
        auto symbols = std::make_shared<PathSymbols>();
        const auto tests = [](std::string_view path) { return path.starts_with("tests/"); };
        symbols->tests = {tests, tests, "tests/**"};
        const auto created = [this, tree](std::string_view path) { return !memory_.trees.at(tree).contains(std::string(path)); };
        symbols->created = {created, created, "files that this task created"};
        symbols->acting = ActingLinks(memory_.links);
        return std::shared_ptr<const PathSymbols>(std::move(symbols));
    }
    [[nodiscard]] Result<ProcessOutcome> run(ProcessRequest, const Stop&) override {
        ++memory_.programs;
        memory_.program(root_);
        ProcessOutcome outcome;
        outcome.exit_code = 0;
        outcome.out = "done\n";
        return outcome;
    }
    [[nodiscard]] Result<MadeCommit> commit(const CommitOrder& order, const Stop&) override {
        if (memory_.branches.contains(order.branch)) {
            return Error{"AF-GIT-010", "the branch exists", order.branch, "", ErrorKind::conflict};
        }
        memory_.messages.push_back(order.message);
        const std::string id = "commit-" + std::to_string(++memory_.commits);
        if (!order.branch.empty()) { memory_.branches[order.branch] = {id, order.tree}; }
        memory_.parents[id] =
            WrittenCommit{order.tree, order.parent, order.message, order.sign == "always" ? "a signature" : "", ""};
        return MadeCommit{id, order.sign == "always"};
    }
    [[nodiscard]] Result<void> check_branch(const std::string& branch, const std::string& at) override {
        const auto found = memory_.branches.find(branch);
        if (found == memory_.branches.end() || found->second.first != at) {
            return Error{"AF-GIT-040", "the branch is elsewhere", branch, "", ErrorKind::conflict};
        }
        return {};
    }
    [[nodiscard]] Result<void> move_branch(const std::string& branch, const std::string& from, const std::string& to) override {
        AF_CHECK(check_branch(branch, from));
        const auto found = memory_.branches.find(branch);
        found->second = {to, memory_.parents.at(to).tree};
        return memory_.moved;
    }
    [[nodiscard]] Result<HookReport> hooks(const HookOrder& order, const std::string&, const Stop&) override {
        HookReport report = memory_.hooks(order);
        if (report.message.empty()) { report.message = order.message; }
        return report;
    }
    [[nodiscard]] Result<std::string> edit(
        const std::string& tree, const std::vector<std::pair<std::string, std::optional<std::string>>>& files) override {
        Files edited = memory_.trees.at(tree);
        for (const auto& [path, content] : files) {
            if (content) {
                edited[path] = *content;
            } else {
                edited.erase(path);
            }
        }
        return memory_.keep(std::move(edited));
    }
    [[nodiscard]] Result<std::string> whole_patch(const std::string& from, const std::string& to) override {
        return patch(from, to);
    }
    [[nodiscard]] Result<BaseDrift> drift(const TaskState&, const std::string&) override { return memory_.drift; }
    /// Merges whole files: one that both sides changed is a conflict.
    [[nodiscard]] Result<TreeMerge> merge(const std::string& base, const std::string& ours, const std::string& theirs) override {
        AF_TRY(const auto mine, diff(base, ours));
        AF_TRY(const auto other, diff(base, theirs));
        TreeMerge merged;
        Files files = memory_.trees.at(ours);
        for (const TreeChange& change : other) {
            if (std::any_of(mine.begin(), mine.end(), [&](const TreeChange& one) { return one.path == change.path; })) {
                merged.conflicts.push_back(change.path);
            }
            if (change.status == 'D') {
                files.erase(change.path);
            } else {
                files[change.path] = memory_.trees.at(theirs).at(change.path);
            }
        }
        if (merged.conflicts.empty()) { merged.tree = memory_.keep(std::move(files)); }
        return merged;
    }
    [[nodiscard]] Result<WrittenCommit> read_commit(const std::string& commit) override { return memory_.parents.at(commit); }
    [[nodiscard]] Result<Published> publish(const PublishOrder& order, const Stop&) override {
        memory_.pushed.push_back(order.branch);
        return memory_.publish(order);
    }
    [[nodiscard]] Result<std::optional<std::pair<std::string, std::string>>> branch(const std::string& name) override {
        const auto found = memory_.branches.find(name);
        if (found == memory_.branches.end()) { return std::optional<std::pair<std::string, std::string>>(); }
        return std::optional(found->second);
    }
    [[nodiscard]] Result<void> close() override {
        ++memory_.closed;
        fs::remove_all(root_);
        return {};
    }

private:
    Memory& memory_;
    std::string root_;
};

class FakeTaskWorkspaces final : public TaskWorkspaceFactory {
public:
    FakeTaskWorkspaces(Memory& memory, fs::path root, Files base)
        : memory_(memory), root_(std::move(root)), base_(memory.keep(std::move(base))) {
        memory.parents["base-commit"] = WrittenCommit{base_, "", "first\n", "", ""};
    }
    [[nodiscard]] Result<std::pair<std::string, std::string>> base() override {
        return std::pair<std::string, std::string>("base-commit", base_);
    }
    [[nodiscard]] std::string base_branch() override { return "main"; }
    [[nodiscard]] Result<void> archive(const std::string& task_id, const std::string&, const std::string&) override {
        memory_.archived.push_back(task_id);
        return {};
    }
    [[nodiscard]] Result<std::unique_ptr<TaskWorkspace>> open(const TaskState&) override {
        return std::unique_ptr<TaskWorkspace>(std::make_unique<FakeTaskWorkspace>(memory_, root_ / std::to_string(++opened_)));
    }

private:
    Memory& memory_;
    fs::path root_;
    std::string base_;
    unsigned opened_ = 0;
};

class FakeModel final : public ModelClient {
public:
    using Answer = std::function<Result<Completion>(const CompletionRequest&)>;
    explicit FakeModel(Answer answer) : answer_(std::move(answer)) {
        info_.name = "fake";
        info_.native_tool_calls = true;
    }
    [[nodiscard]] Result<Completion> complete(ModelRequest request, CallContext&) override {
        request.frame_hash = frame_hash(request);
        request.context_hash = context_hash(request);
        requests.push_back(request);
        return answer_(request);
    }
    [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
    std::vector<CompletionRequest> requests;

private:
    Answer answer_;
    BackendInfo info_;
};

inline Completion call_tool(std::string name, json::object arguments) {
    Completion completion;
    completion.tool_calls.push_back({std::move(name), std::move(arguments)});
    completion.stop_reason = StopReason::tool_call;
    completion.usage.input_tokens = 100;
    completion.usage.output_tokens = 10;
    completion.model = "fake-1";
    return completion;
}

inline Completion say(std::string text) {
    Completion completion;
    completion.text = std::move(text);
    completion.usage.input_tokens = 50;
    completion.usage.output_tokens = 5;
    completion.model = "fake-1";
    return completion;
}

/// A stage made of one function. An exception of it counts as the plugin's.
class FunctionStage final : public Stage {
public:
    using Function = std::function<StageResult(StageContext&)>;
    FunctionStage(std::string name, Function function) : name_(std::move(name)), function_(std::move(function)) {}
    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = name_;
        return info;
    }
    [[nodiscard]] StageResult execute(StageContext& context) override { return function_(context); }

private:
    std::string name_;
    Function function_;
};

inline StageResult note(std::string text = "done") { return StageResult::completed({{"text", std::move(text)}}); }

class SilentHandler final : public EscalationHandler {
public:
    [[nodiscard]] std::string name() const override { return "silent"; }
    [[nodiscard]] Result<void> notify(const Escalation& escalation, CallContext&) override {
        notified.push_back(escalation.id);
        return {};
    }
    [[nodiscard]] Result<std::optional<Resolution>> wait_for_resolution(const Escalation&, CallContext&) override {
        if (broken) { return Error{"X-1", "the console is gone", "", "", ErrorKind::io}; }
        return answer;
    }
    [[nodiscard]] Result<void> notify_approval(const ApprovalRequest& request, CallContext&) override {
        notified.push_back(request.id);
        return {};
    }
    [[nodiscard]] Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& request, CallContext&) override {
        if (!approve) { return std::optional<Approval>(); }
        Approval approval;
        approval.approved = true;
        approval.artifact_hash = request.artifact_hash;
        approval.decided_by = "console";
        return std::optional<Approval>(approval);
    }
    std::vector<std::string> notified;
    std::optional<Resolution> answer;
    bool approve = false;
    bool broken = false;
};

class PipelineFixture {
public:
    explicit PipelineFixture(Files base = {{"README.md", "hello\n"}})
        : task_workspaces(memory, folder.path() / "work", std::move(base)),
          store(folder.path() / ".agentforge"),
          escalations(folder.path() / ".agentforge"),
          contracts(shipped().contracts),
          agents(shipped().agents),
          plugins(PluginRegistry::discover(shipped_plugins())),
          services{.plugins = plugins,
                   .contracts = contracts,
                   .agents = agents,
                   .events = events,
                   .cancel = cancel,
                   .clock = clock,
                   .model = [this](const AgentDefinition&) -> Result<ModelClient*> { return model.get(); },
                   .budget = {},
                   .max_output_tokens = 4096,
                   .environment = {},
                   .hang_grace = std::chrono::milliseconds(0)} {
        store.observe(&events);
        answers([](const CompletionRequest&) -> Result<Completion> {
            return Error{"AF-LLM-001", "no model in this test", "", "", ErrorKind::unavailable};
        });
    }

    [[nodiscard]] PipelineController controller() {
        return PipelineController(ControllerSetup{store, task_workspaces, escalations, services, ids,
                                                  other_handler ? other_handler : handler, wait, "agentforge test", present});
    }
    static PluginSearch shipped_plugins() {
        PluginSearch search;
        search.product = std::string(AGENTFORGE_BINARY_DIR) + "/plugins";
        search.stages = {std::string(AGENTFORGE_SOURCE_DIR) + "/config/stages"};
        return search;
    }
    void stage(const std::string& name, FunctionStage::Function function) {
        plugins.add_stage(name, std::make_shared<FunctionStage>(name, std::move(function)));
    }
    void answers(FakeModel::Answer answer) { model = std::make_unique<FakeModel>(std::move(answer)); }

    /// A stage without a model, whose artifact is a note.
    [[nodiscard]] static StageTemplate simple(const std::string& name) {
        StageTemplate stage;
        stage.name = name;
        stage.executor = name;
        stage.contract = "note";
        stage.artifact = "note";
        return stage;
    }
    [[nodiscard]] static StartOptions with(std::vector<StageTemplate> stages) {
        StartOptions options;
        options.pipeline.name = "test";
        options.pipeline.goal_type = "implement";
        options.pipeline.exit_stage = stages.back().name;
        options.pipeline.stages = std::move(stages);
        return options;
    }
    [[nodiscard]] static StartOptions with(std::initializer_list<const char*> names) {
        std::vector<StageTemplate> stages;
        for (const char* name : names) { stages.push_back(simple(name)); }
        return with(std::move(stages));
    }

    /// One stage, `deliver`, that delivers.
    [[nodiscard]] static StartOptions delivering() {
        StartOptions options = with({"deliver"});
        options.pipeline.stages[0].delivers = true;
        return options;
    }

    [[nodiscard]] PipelineResult start(const StartOptions& options, std::string_view request = "Do it") {
        auto result = controller().execute(request, options);
        EXPECT_TRUE(result.ok()) << result.error().to_string();
        return result.ok() ? std::move(*result) : PipelineResult{};
    }
    [[nodiscard]] PipelineResult resume(const std::string& task) {
        cancel.clear();
        auto result = controller().resume(task);
        EXPECT_TRUE(result.ok()) << result.error().to_string();
        return result.ok() ? std::move(*result) : PipelineResult{};
    }
    [[nodiscard]] TaskState state(const std::string& task) { return read_task_state(store, task).value(); }
    [[nodiscard]] std::vector<Record> records(const std::string& task) {
        return Journal::read(store.paths(task).journal()).value();
    }
    [[nodiscard]] std::size_t count(const std::string& task, std::string_view type) {
        const auto all = records(task);
        return static_cast<std::size_t>(
            std::count_if(all.begin(), all.end(), [&](const Record& record) { return record.type() == type; }));
    }
    [[nodiscard]] fs::path task_folder(const std::string& task) const { return store.paths(task).root; }
    void resolve(const PipelineResult& waiting, json::object answer, bool abort = false) {
        const auto done = escalations.resolve(waiting.waiting_id, Resolution{abort, std::move(answer), "tester"});
        EXPECT_TRUE(done.ok()) << done.error().to_string();
    }

    TemporaryDirectory folder{"controller-test"};
    SharedClock clock;
    CountingIdSource ids;
    CancelToken cancel;
    Events events;
    Memory memory;
    FakeTaskWorkspaces task_workspaces;
    TaskStore store;
    EscalationStore escalations;
    const ContractSet& contracts;
    const AgentSet& agents;
    PluginRegistry plugins;
    std::unique_ptr<FakeModel> model;
    std::shared_ptr<SilentHandler> handler = std::make_shared<SilentHandler>();
    std::shared_ptr<EscalationHandler> other_handler;  ///< Replaces it.
    std::shared_ptr<EscalationHandler> present;        ///< At the terminal.
    std::chrono::milliseconds wait{0};
    TaskServices services;

private:
    struct Shipped {
        ContractSet contracts;
        AgentSet agents;
    };
    /// Returns the shipped parts and the contract `note`; read once.
    [[nodiscard]] static const Shipped& shipped() {
        static const Shipped all = [] {
            const TemporaryDirectory own("controller-test-contracts");
            std::ofstream(own.path() / "note.yaml") << R"(contract: note
version: "1.0"
description: A text, and what was measured beside it
schema:
  text: {type: string, required: true, min_length: 1, max_length: 100}
  request_id: {type: string, required: true, measured: request_id}
  final_files: {type: array, items: {type: string}, measured: final_files}
  answer: {type: string}
  test_files: {type: array, items: {type: object}}
  original_request: {type: string, description: A contract stage carries its input forward}
)";
            const std::string config = std::string(AGENTFORGE_SOURCE_DIR) + "/config";
            Shipped loaded{ContractSet::load({config + "/contracts", own.path().string()}).value(), AgentSet()};
            loaded.agents = AgentSet::load(config + "/agents", "", loaded.contracts).value();
            return loaded;
        }();
        return all;
    }
};

}  // namespace agentforge::kernel::testing
