// SPDX-License-Identifier: Apache-2.0
// The real controller, stage and tool plugins, journal, git worktrees and commit, on examples/textkit. The model is the `replay`
// backend. Each gate returns at once the result that it measured in an earlier, untimed run.
#include "bench/task_run.hpp"

#include <unistd.h>

#include <ctime>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/project.hpp"
#include "bench/syncs.hpp"
#include "pipeline/pipeline_controller.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;
namespace fs = std::filesystem;

/// The gates' reports in call order. A second run of the same transcript makes the same calls.
struct Answers {
    std::vector<GateReport> reports;
    std::vector<std::vector<std::pair<std::string, std::string>>> skeletons;
    bool recorded = false;
};

class InstantTaskWorkspace final : public TaskWorkspace {
public:
    InstantTaskWorkspace(std::unique_ptr<TaskWorkspace> inner, Answers& answers) : inner_(std::move(inner)), answers_(answers) {}

    const std::string& root() const noexcept override { return inner_->root(); }
    std::string scratch() const override { return inner_->scratch(); }
    Result<void> restore(const std::string& tree) override { return inner_->restore(tree); }
    Result<std::string> snapshot(const std::vector<std::string>& paths) override { return inner_->snapshot(paths); }
    Result<void> keep(const std::string& name, const std::string& tree) override { return inner_->keep(name, tree); }
    Result<std::vector<TreeChange>> diff(const std::string& from, const std::string& to) override {
        return inner_->diff(from, to);
    }
    Result<std::optional<std::string>> file_in_tree(const std::string& tree, const std::string& path) override {
        return inner_->file_in_tree(tree, path);
    }
    Result<std::string> patch(const std::string& from, const std::string& to) override { return inner_->patch(from, to); }
    Result<GateReport> gate(const GateCall& call, const Stop& stop) override {
        if (!answers_.recorded) {
            auto measured = inner_->gate(call, stop);
            if (measured.ok()) { answers_.reports.push_back(*measured); }
            return measured;
        }
        if (next_gate_ == answers_.reports.size()) {
            give_up("a gate more is asked than in the run before: " + call.request.gate);
        }
        GateReport report = answers_.reports[next_gate_++];
        if (report.gate != call.request.gate || report.tree != call.tree) {
            give_up("gate " + call.request.gate + " is not the one of the run before");
        }
        return report;
    }
    Result<std::vector<std::pair<std::string, std::string>>> skeleton(const std::string& tree,
                                                                      const std::vector<SkeletonInterface>& interfaces,
                                                                      const Stop& stop) override {
        if (!answers_.recorded) {
            auto made = inner_->skeleton(tree, interfaces, stop);
            if (made.ok()) { answers_.skeletons.push_back(*made); }
            return made;
        }
        if (next_skeleton_ == answers_.skeletons.size()) { give_up("a skeleton more is asked than in the run before"); }
        return answers_.skeletons[next_skeleton_++];
    }
    Result<std::shared_ptr<const PathSymbols>> path_symbols(const std::string& tree) override {
        return inner_->path_symbols(tree);
    }
    Result<ProcessOutcome> run(ProcessRequest request, const Stop& stop) override {
        return inner_->run(std::move(request), stop);
    }
    Result<MadeCommit> commit(const CommitOrder& order, const Stop& stop) override { return inner_->commit(order, stop); }
    Result<void> check_branch(const std::string& branch, const std::string& at) override {
        return inner_->check_branch(branch, at);
    }
    Result<void> move_branch(const std::string& branch, const std::string& from, const std::string& to) override {
        return inner_->move_branch(branch, from, to);
    }
    Result<HookReport> hooks(const HookOrder& order, const std::string& author, const Stop& stop) override {
        return inner_->hooks(order, author, stop);
    }
    Result<std::string> edit(const std::string& tree,
                             const std::vector<std::pair<std::string, std::optional<std::string>>>& files) override {
        return inner_->edit(tree, files);
    }
    Result<std::string> whole_patch(const std::string& from, const std::string& to) override {
        return inner_->whole_patch(from, to);
    }
    Result<BaseDrift> drift(const TaskState& state, const std::string& tree) override { return inner_->drift(state, tree); }
    Result<TreeMerge> merge(const std::string& base, const std::string& ours, const std::string& theirs) override {
        return inner_->merge(base, ours, theirs);
    }
    Result<WrittenCommit> read_commit(const std::string& commit) override { return inner_->read_commit(commit); }
    Result<Published> publish(const PublishOrder& order, const Stop& stop) override { return inner_->publish(order, stop); }
    Result<std::optional<std::pair<std::string, std::string>>> branch(const std::string& name) override {
        return inner_->branch(name);
    }
    Result<void> close() override { return inner_->close(); }

private:
    std::unique_ptr<TaskWorkspace> inner_;
    Answers& answers_;
    std::size_t next_gate_ = 0;
    std::size_t next_skeleton_ = 0;
};

class InstantTaskWorkspaces final : public TaskWorkspaceFactory {
public:
    InstantTaskWorkspaces(std::unique_ptr<TaskWorkspaceFactory> inner, Answers& answers)
        : inner_(std::move(inner)), answers_(answers) {}
    Result<std::pair<std::string, std::string>> base() override { return inner_->base(); }
    std::string base_branch() override { return inner_->base_branch(); }
    Result<void> archive(const std::string& task_id, const std::string& folder, const std::string& escalations) override {
        return inner_->archive(task_id, folder, escalations);
    }
    Result<std::unique_ptr<TaskWorkspace>> open(const TaskState& state) override {
        AF_TRY(std::unique_ptr<TaskWorkspace> task_workspace, inner_->open(state));
        return std::unique_ptr<TaskWorkspace>(std::make_unique<InstantTaskWorkspace>(std::move(task_workspace), answers_));
    }

private:
    std::unique_ptr<TaskWorkspaceFactory> inner_;
    Answers& answers_;
};

/// Counts all threads, because each stage runs on its own.
double process_cpu_milliseconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Runs tasks one after the other, each in its own repository.
class TaskRuns {
public:
    /// `transcript` writes the transcript into the given folder.
    TaskRuns(std::string pipeline, const std::function<fs::path(const fs::path& folder)>& transcript)
        : folder_("task-" + pipeline),
          product_(open_product()),
          processes_(make_process_runner(product_->paths.exec_helper)),
          pipeline_(std::move(pipeline)),
          transcript_(transcript(folder_.path())) {
        make_repository(folder_.path() / "seed", source_folder() + "/examples/textkit");
        run();
        answers_.recorded = true;
    }

    struct Spent {
        double milliseconds = 0;
        double cpu_milliseconds = 0;
        Syncs syncs;
        std::size_t records = 0;
    };

    Spent run() {
        const fs::path repository = folder_.path() / ("repository-" + std::to_string(++number_));
        fs::copy(folder_.path() / "seed", repository, fs::copy_options::recursive);
        ::sync();  // Pending writes of the copy do not belong to this task.
        GitTaskWorkspaceOptions options;
        options.repository = repository.string();
        options.state_directory = (folder_.path() / "state").string();
        options.gates.languages_directory = product_->paths.config + "/languages";
        options.gates.conformance_directories = {product_->paths.config + "/conformance"};
        options.gates.environment = current_environment();
        options.gates.settings = product_->settings.section("gates");
        // Excludes the gates.
        for (const char* key : {"language", "baseline_runs", "held_out", "unattended", "setup"}) {
            options.gates.settings.erase(key);
        }
        options.gates.baseline_runs = product_->settings.integer("gates.baseline_runs");
        options.gates.setup = product_->settings.text("gates.setup");
        InstantTaskWorkspaces task_workspaces(make_git_task_workspaces(std::move(options), *processes_), answers_);
        TaskStore store(repository / ".agentforge");
        EscalationStore escalations(repository / ".agentforge");
        auto model = make_model_client(must(product_->plugins.backend("replay", {{"transcript", transcript_.string()}})),
                                       RetryPolicy{}, [](std::chrono::milliseconds) {});
        NullEventSink events;
        CancelToken cancel;
        TaskServices services{.plugins = product_->plugins,
                              .contracts = product_->contracts,
                              .agents = product_->agents,
                              .events = events,
                              .cancel = cancel,
                              .clock = clock_,
                              .model = [&](const AgentDefinition&) -> Result<ModelClient*> { return model.get(); },
                              .budget = {},
                              .max_output_tokens = 4096,
                              .environment = current_environment()};
        PipelineController controller(ControllerSetup{.store = store,
                                                      .task_workspaces = task_workspaces,
                                                      .escalations = escalations,
                                                      .services = services,
                                                      .ids = ids_,
                                                      .handler = must(product_->plugins.escalation("file")),
                                                      .wait = std::chrono::milliseconds(0),
                                                      .command = "agentforge-bench"});
        StartOptions start;
        start.pipeline = must(product_->pipelines.get(pipeline_));
        start.configuration = product_->settings.all();
        const Syncs before = syncs_so_far();
        const double cpu_before = process_cpu_milliseconds();
        Spent spent;
        std::optional<PipelineResult> result;
        spent.milliseconds =
            microseconds(
                [&] { result = must(controller.execute("Add a slugify function that turns a title into a URL slug", start)); }) /
            1e3;
        spent.syncs = syncs_so_far() - before;
        spent.cpu_milliseconds = process_cpu_milliseconds() - cpu_before;
        if (!result->success) {
            give_up("the task did not end in a commit: " +
                    (result->error ? result->error->to_string() : std::string(result->current_stage)));
        }
        state_ = must(controller.get_status(result->task_id));
        spent.records = state_->seq;
        // The repository stays until all runs are done. A file system without a journal (ext4) skips all inodes freed in the last
        // seconds when it needs a new one, and a user's task does not follow the deletion of a hundred files.
        return spent;
    }

    const TaskState& state() const { return *state_; }

private:
    WorkFolder folder_;
    std::unique_ptr<Product> product_;
    std::unique_ptr<ProcessRunner> processes_;
    std::string pipeline_;
    fs::path transcript_;
    SystemClock clock_;
    SystemIdSource ids_;
    Answers answers_;
    int number_ = 0;
    std::optional<TaskState> state_;
};

fs::path recorded_transcript(const fs::path&) { return source_folder() + "/examples/transcripts/slugify.yaml"; }

/// Shared by all: the run with the real gates takes seconds.
TaskRuns& task_runs() {
    static TaskRuns runs("implement", recorded_transcript);
    return runs;
}

constexpr std::int64_t plan_steps = 100;

json::array called(const char* tool, json::object arguments) {
    return {json::object{{"name", tool}, {"arguments", std::move(arguments)}}};
}

json::object answer(const char* stage, const char* role, unsigned run, unsigned step, json::array calls) {
    return {{"stage", stage}, {"role", role}, {"run", run}, {"step", step}, {"tool_calls", std::move(calls)}};
}

/// Returns the recorded task as a plan of many steps: the first contains GREEN's edits, the others change nothing.
fs::path loop_transcript(const fs::path& folder) {
    const auto recorded = must(load_yaml(recorded_transcript(folder).string())).value.as_object();
    json::object transcript = recorded;
    json::array& entries = transcript["entries"].emplace_array();
    const auto calls_of = [&](std::string_view stage, std::string_view role) {
        std::vector<json::array> found;
        for (const json::value& entry : recorded.at("entries").as_array()) {
            const json::object& one = entry.as_object();
            if (one.at("stage").as_string() == stage && one.at("role").as_string() == role) {
                found.push_back(one.at("tool_calls").as_array());
            }
        }
        return found;
    };
    json::object plan = calls_of("spec", "software_architect").front().at(0).at("arguments").as_object();
    json::array& steps = plan["steps"].emplace_array();
    for (std::int64_t number = 1; number <= plan_steps; ++number) {
        json::array requirements;
        if (number == 1) { requirements = {"REQ-001", "REQ-002", "REQ-003"}; }
        steps.push_back(json::object{{"number", number},
                                     {"title", "Part " + std::to_string(number)},
                                     {"description", "Do it"},
                                     {"estimate", "small"},
                                     {"requirements", std::move(requirements)}});
    }
    entries.push_back(answer("plan", "software_architect", 1, 1, called("complete", std::move(plan))));
    unsigned step = 0;
    for (json::array& calls : calls_of("red", "test_engineer")) {
        entries.push_back(answer("tests", "test_engineer", 1, ++step, std::move(calls)));
    }
    step = 0;
    for (json::array& calls : calls_of("green", "software_developer")) {
        const std::string tool(calls.at(0).at("name").as_string());
        if (tool == "create_file" || tool == "edit_file") {
            entries.push_back(answer("execute", "software_developer", 1, ++step, std::move(calls)));
        }
    }
    for (std::int64_t number = 1; number <= plan_steps; ++number) {
        entries.push_back(answer("execute", "software_developer", static_cast<unsigned>(number), number == 1 ? step + 1 : 1,
                                 called("complete", {{"summary", "Part " + std::to_string(number) + " is done."}})));
    }
    entries.push_back(answer("review", "code_reviewer", 1, 1,
                             called("complete", {{"decision", "approve"}, {"summary", "Good."}, {"issues", json::array()}})));
    step = 0;
    for (json::array& calls : calls_of("deliver", "devops_engineer")) {
        entries.push_back(answer("deliver", "devops_engineer", 1, ++step, std::move(calls)));
    }
    const fs::path file = folder / "loop.yaml";
    write_text(file, to_yaml(transcript));
    return file;
}

void whole_task(benchmark::State& state) {
    TaskRuns& runs = task_runs();
    Samples ours;
    Samples syncing;
    Samples above;
    Samples cpu;
    TaskRuns::Spent spent;
    for (auto _ : state) {
        spent = runs.run();
        ours.add(spent.milliseconds);
        syncing.add(spent.syncs.microseconds / 1e3);
        cpu.add(spent.cpu_milliseconds);
        above.add(spent.milliseconds - spent.syncs.microseconds / 1e3);
        state.SetIterationTime(spent.milliseconds / 1e3);
    }
    state.counters["records"] = static_cast<double>(spent.records);
    state.counters["syncs"] = static_cast<double>(spent.syncs.count);
    report(state,
           {"eight-stage task, instant model and gates",
            "ms",
            ours.median(),
            syncing.median(),
            "its own " + std::to_string(spent.syncs.count) + " fsync calls for " + std::to_string(spent.records) + " records",
            {Aim::Of::value, 150}});
    report(state, {"… above its fsync calls", "ms", above.median(), 0, "–", {}});
    report(state, {"… its processor time", "ms", cpu.median(), 0, "–", {}});
}
/// Compares a step of a long plan with a step of the eight stages, with all work included.
void steps_of_a_plan(benchmark::State& state) {
    static TaskRuns loop("loop", loop_transcript);
    TaskRuns& eight = task_runs();
    Samples ours;
    Samples theirs;
    Samples cpu;
    for (auto _ : state) {
        const TaskRuns::Spent stages = eight.run();
        theirs.add(stages.milliseconds / static_cast<double>(eight.state().steps));
        const TaskRuns::Spent spent = loop.run();
        ours.add(spent.milliseconds / static_cast<double>(loop.state().steps));
        cpu.add(spent.cpu_milliseconds / static_cast<double>(loop.state().steps));
        state.SetIterationTime(spent.milliseconds / 1e3);
    }
    state.counters["steps"] = static_cast<double>(loop.state().steps);
    report(state, {"a step of a plan of 100 steps, instant model and gates",
                   "ms",
                   ours.median(),
                   theirs.median(),
                   "a step of the eight stages",
                   {Aim::Of::ratio, 1}});
    report(state, {"… its processor time", "ms", cpu.median(), 0, "–", {}});
}
BENCHMARK(steps_of_a_plan)->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(whole_task)->Iterations(15)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

TaskState finished_task() { return task_runs().state(); }

}  // namespace agentforge::bench
