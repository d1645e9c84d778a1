// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/check_host.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/tool_effects.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

constexpr const char* some_tree = "0123456789abcdef0123456789abcdef01234567";

GateReport passed_gate(const std::string& gate) {
    GateReport report;
    report.gate = gate;
    report.tree = some_tree;
    report.passed = true;
    report.summary = "passed";
    return report;
}

}  // namespace

// ----------------------------------------------------------------------------------- ContextRules --

void ContextRules::open() {
    const std::lock_guard lock(mutex_);
    owner_ = std::this_thread::get_id();
    closed_ = false;
}

void ContextRules::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
}

std::vector<std::string> ContextRules::misuses() const {
    const std::lock_guard lock(mutex_);
    return misuses_;
}

void ContextRules::enter(const char* function) {
    const std::lock_guard lock(mutex_);
    const auto misuse = [&](const char* what) { misuses_.push_back(std::string(function) + what); };
    const auto here = std::this_thread::get_id();
    if (closed_) {
        misuse(" was called after the plugin's call had returned; a context ends with the call that received it");
    } else if (here != owner_) {
        misuse(" was called from a thread that does not run the plugin's call; a context belongs to the one that does");
    }
    const bool others = std::ranges::any_of(inside_, [&](const auto& one) { return one.first != here && one.second != 0; });
    if (others) { misuse(" was called while another call into the same context had not returned"); }
    ++inside_[here];
}

void ContextRules::leave() {
    const std::lock_guard lock(mutex_);
    --inside_[std::this_thread::get_id()];
}

// ------------------------------------------------------------------------------------------ files --

Result<CheckFolder> CheckFolder::make(const OpenWorkspace& open) {
    static constexpr std::array<std::pair<const char*, const char*>, 4> files = {
        {{"README.md", "# Title\n\nSome text.\n"},
         {"src/app.py", "def one():\n    return 1\n"},
         {"tests/test_app.py", "def test_one():\n    assert True\n"},
         {"text", "text\n"}}};
    CheckFolder made;
    AF_TRY(made.folder_, TemporaryDirectory::make("workspace"));
    for (const auto& [name, content] : files) {
        const std::filesystem::path path = made.folder_->path() / name;
        AF_CHECK(make_directories(path.parent_path()));
        AF_CHECK(write_file_atomic(path, content, Durability::cached));
    }
    AF_TRY(made.workspace_, open(made.folder_->path().string()));
    return made;
}

void CheckWorkspace::limit_effects(ToolEffect effects, std::string tool) {
    const std::lock_guard lock(mutex_);
    effects_ = effects;
    tool_ = std::move(tool);
}

std::optional<Error> CheckWorkspace::undeclared() const {
    const std::lock_guard lock(mutex_);
    return undeclared_;
}

Result<void> CheckWorkspace::need(ToolEffect effect, const char* what) {
    const std::lock_guard lock(mutex_);
    if (!effects_ || declares(*effects_, effect)) { return {}; }
    Error error = undeclared_effect(tool_, effect, what, "Add the effect to the tool's spec, or leave the call out.");
    if (!undeclared_) { undeclared_ = error; }
    return error;
}

template <class Answer>
Result<Answer> CheckWorkspace::passed_on(const char* function, ToolEffect effect, const char* what,
                                         const std::function<Result<Answer>()>& request) {
    const ContextRules::Request entered(rules_, function);
    AF_CHECK(need(effect, what));
    if (failure_) { return *failure_; }
    const std::lock_guard lock(one_at_a_time_);
    return request();
}

Result<FileView> CheckWorkspace::read(std::string_view path, const ReadOptions& options) {
    return passed_on<FileView>("workspace.read", ToolEffect::reads, "read a file", [&] { return files_.read(path, options); });
}

Result<Listing> CheckWorkspace::list(std::string_view directory, const ListOptions& options) {
    return passed_on<Listing>("workspace.list", ToolEffect::reads, "list files", [&] { return files_.list(directory, options); });
}

Result<SearchHits> CheckWorkspace::search(const SearchQuery& query) {
    return passed_on<SearchHits>("workspace.search", ToolEffect::reads, "search", [&] { return files_.search(query); });
}

bool CheckWorkspace::exists(std::string_view path) {
    const auto found = passed_on<bool>("workspace.exists", ToolEffect::reads, "look for a file",
                                       [&]() -> Result<bool> { return files_.exists(path); });
    return found.ok() && *found;
}

Result<Change> CheckWorkspace::create(std::string_view path, std::string_view content, bool overwrite) {
    return passed_on<Change>("workspace.create", ToolEffect::writes, "create a file",
                             [&] { return files_.create(path, content, overwrite); });
}

Result<Change> CheckWorkspace::edit(std::string_view path, std::string_view search, std::string_view replace) {
    return passed_on<Change>("workspace.edit", ToolEffect::writes, "edit a file",
                             [&] { return files_.edit(path, search, replace); });
}

Result<Change> CheckWorkspace::move(std::string_view from, std::string_view to) {
    return passed_on<Change>("workspace.move", ToolEffect::writes, "move a file", [&] { return files_.move(from, to); });
}

Result<Change> CheckWorkspace::remove(std::string_view path) {
    return passed_on<Change>("workspace.remove", ToolEffect::writes, "delete a file", [&] { return files_.remove(path); });
}

Result<std::vector<FileEdited>> CheckWorkspace::apply(const std::vector<FileEdit>& edits) {
    return passed_on<std::vector<FileEdited>>("workspace.apply", ToolEffect::writes, "edit files",
                                              [&]() -> Result<std::vector<FileEdited>> {
                                                  AtomicEdits* atomic = atomic_edits(files_);
                                                  if (atomic == nullptr) { return std::vector<FileEdited>(); }
                                                  return atomic->apply(edits);
                                              });
}

// ------------------------------------------------------------------------------------------ tools --

const ToolCallInfo& CheckToolContext::info() const noexcept {
    const ContextRules::Request request(rules_, "info");
    return info_;
}

Result<ProcessResult> CheckToolContext::run_process(const ProcessSpec&) {
    const ContextRules::Request request(rules_, "run_process");
    AF_CHECK(files.need(ToolEffect::executes, "run a program"));
    return answered(process);
}

Result<GateReport> CheckToolContext::run_gate(const GateRequest& gate) {
    const ContextRules::Request request(rules_, "run_gate");
    AF_CHECK(files.need(ToolEffect::executes, "run a gate"));
    return answered(passed_gate(gate.gate));
}

Result<void> CheckToolContext::complete(const json::object&) {
    const ContextRules::Request request(rules_, "complete");
    AF_CHECK(files.need(ToolEffect::completes, "hand in an artifact"));
    return failure_ ? Result<void>(*failure_) : Result<void>();
}

Result<void> CheckToolContext::escalate(const EscalationRequest&) {
    const ContextRules::Request request(rules_, "escalate");
    AF_CHECK(files.need(ToolEffect::escalates, "ask for a person"));
    return failure_ ? Result<void>(*failure_) : Result<void>();
}

// ----------------------------------------------------------------------------------------- stages --

CheckStageContext::CheckStageContext(CheckFolder& folder) : files(rules_, failure_, folder) {
    stage_input.task_id = "task-check";
    stage_input.pipeline = "check";
    stage_input.stage = "stage";
    stage_input.agent = "role";
}

const StageInput& CheckStageContext::input() const noexcept {
    const ContextRules::Request request(rules_, "input");
    return stage_input;
}

Result<AgentOutcome> CheckStageContext::run_agent(const AgentRun&) {
    const ContextRules::Request request(rules_, "run_agent");
    return answered(agent);
}

Result<ProcessResult> CheckStageContext::run_process(const ProcessSpec&) {
    const ContextRules::Request request(rules_, "run_process");
    return answered(process);
}

Result<GateReport> CheckStageContext::run_gate(const GateRequest& gate) {
    const ContextRules::Request request(rules_, "run_gate");
    return answered(passed_gate(gate.gate));
}

Result<std::vector<Change>> CheckStageContext::write_skeleton(const std::vector<SkeletonInterface>&) {
    const ContextRules::Request request(rules_, "write_skeleton");
    return answered(std::vector<Change>());
}

Result<Delivery> CheckStageContext::deliver(const DeliveryRequest&) {
    const ContextRules::Request request(rules_, "deliver");
    return answered(Delivery{"agentforge/task-check", some_tree, some_tree, {"src/app.py"}});
}

Result<json::object> CheckStageContext::run_contract(std::string_view, const json::object&) {
    const ContextRules::Request request(rules_, "run_contract");
    return answered(contract_answer);
}

Result<json::value> CheckStageContext::parse_yaml(std::string_view text) {
    const ContextRules::Request request(rules_, "parse_yaml");
    if (failure_) { return *failure_; }
    AF_TRY(YamlDocument document, kernel::parse_yaml(text, "the text"));
    return std::move(document.value);
}

}  // namespace agentforge::kernel
