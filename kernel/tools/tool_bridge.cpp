// SPDX-License-Identifier: Apache-2.0
#include "tools/tool_bridge.hpp"

#include <algorithm>
#include <exception>
#include <set>

#include "base/text.hpp"
#include "base/tool_effects.hpp"
#include "tools/arguments_check.hpp"

namespace agentforge::kernel {
namespace {

std::string join(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) { text += (text.empty() ? "" : ", ") + name; }
    return text.empty() ? "none" : text;
}

ToolResult refusal(Error error) {
    ToolResult result;
    result.summary = ellipsis(first_line(error.message), 200);
    result.output = error.to_string();
    result.error = std::move(error);
    return result;
}

/// Removes the sentences that name a tool which the role does not have: impossible advice costs a step.
std::string possible_advice(std::string_view remedy, const std::vector<std::string>& missing) {
    const auto names_missing = [&](std::string_view sentence) {
        return std::any_of(missing.begin(), missing.end(),
                           [&](const std::string& tool) { return sentence.find(tool) != std::string_view::npos; });
    };
    std::string kept;
    while (!remedy.empty()) {
        const auto end = remedy.find(". ");
        const auto sentence = remedy.substr(0, end == std::string_view::npos ? end : end + 1);
        if (!names_missing(sentence)) { kept += (kept.empty() ? "" : " ") + std::string(sentence); }
        remedy.remove_prefix(end == std::string_view::npos ? remedy.size() : end + 2);
    }
    return kept;
}

/// Returns the tool that does the same.
const char* tool_for(FileEditKind kind) {
    if (kind == FileEditKind::create) { return "create_file"; }
    return kind == FileEditKind::remove ? "delete_file" : "edit_file";
}

/// The services that a tool may use, each only if the tool declares its effect. Remembers the first undeclared use.
class GuardedContext final : public ToolContext, public Workspace, public AtomicEdits {
public:
    using Rules = std::map<std::string, Result<PathRule>, std::less<>>;
    GuardedContext(const ToolSpec& spec, const ToolCallInfo& info, const AgentDefinition& agent, const Rules& rules,
                   RoleWorkspace& workspace, ToolServices& services)
        : spec_(spec), info_(info), agent_(agent), rules_(rules), workspace_(workspace), services_(services) {
        workspace_.allow_writes(has(spec.effects, ToolEffect::writes));
    }
    GuardedContext(const GuardedContext&) = delete;
    GuardedContext& operator=(const GuardedContext&) = delete;
    ~GuardedContext() { workspace_.allow_writes(true); }

    [[nodiscard]] const std::optional<Error>& violation() const noexcept { return violation_; }

    [[nodiscard]] bool cancelled() const noexcept override { return services_.cancelled(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return services_.deadline();
    }
    void log(LogLevel level, std::string_view message, const json::object& fields) override {
        services_.log(level, message, fields);
    }
    void progress(std::string_view text) override { services_.progress(text); }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return services_.now(); }
    [[nodiscard]] const ToolCallInfo& info() const noexcept override { return info_; }
    [[nodiscard]] Workspace& workspace() noexcept override { return *this; }
    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec& spec) override {
        AF_CHECK(need(ToolEffect::executes, "run a program"));
        return services_.run_process(spec);
    }
    [[nodiscard]] Result<GateReport> run_gate(const GateRequest& request) override {
        AF_CHECK(need(ToolEffect::executes, "run a gate"));
        return services_.run_gate(request);
    }
    [[nodiscard]] Result<void> complete(const json::object& artifact) override {
        AF_CHECK(need(ToolEffect::completes, "hand in an artifact"));
        return services_.complete(artifact);
    }
    [[nodiscard]] Result<void> escalate(const EscalationRequest& request) override {
        AF_CHECK(need(ToolEffect::escalates, "ask for a person"));
        return services_.escalate(request);
    }

private:
    [[nodiscard]] Result<FileView> read(std::string_view path, const ReadOptions& options) override {
        AF_CHECK(need(ToolEffect::reads, "read a file"));
        return workspace_.read(path, options);
    }
    [[nodiscard]] Result<Listing> list(std::string_view directory, const ListOptions& options) override {
        AF_CHECK(need(ToolEffect::reads, "list files"));
        return workspace_.list(directory, options);
    }
    [[nodiscard]] Result<SearchHits> search(const SearchQuery& query) override {
        AF_CHECK(need(ToolEffect::reads, "search"));
        return workspace_.search(query);
    }
    [[nodiscard]] bool exists(std::string_view path) override {
        return need(ToolEffect::reads, "look for a file").ok() && workspace_.exists(path);
    }
    [[nodiscard]] Result<Change> create(std::string_view path, std::string_view content, bool overwrite) override {
        AF_CHECK(need(ToolEffect::writes, "create a file"));
        return workspace_.create(path, content, overwrite);
    }
    [[nodiscard]] Result<Change> edit(std::string_view path, std::string_view search, std::string_view replace) override {
        AF_CHECK(need(ToolEffect::writes, "edit a file"));
        return workspace_.edit(path, search, replace);
    }
    [[nodiscard]] Result<Change> move(std::string_view from, std::string_view to) override {
        AF_CHECK(need(ToolEffect::writes, "move a file"));
        return workspace_.move(from, to);
    }
    [[nodiscard]] Result<Change> remove(std::string_view path) override {
        AF_CHECK(need(ToolEffect::writes, "delete a file"));
        return workspace_.remove(path);
    }

    /// A patch does what several tools do one by one, so it must not bypass a forbidden tool or a tool's own rule.
    [[nodiscard]] Result<std::vector<FileEdited>> apply(const std::vector<FileEdit>& edits) override {
        AF_CHECK(need(ToolEffect::writes, "edit files"));
        for (const FileEdit& edit : edits) {
            if (edit.kind != FileEditKind::change || !edit.hunks.empty()) { AF_CHECK(may(tool_for(edit.kind), edit.path)); }
            if (!edit.move_to.empty()) { AF_CHECK(may("move_file", edit.path)); }
        }
        return workspace_.apply(edits);
    }

    [[nodiscard]] Result<void> may(std::string_view tool, const std::string& path) const {
        const auto& forbidden = agent_.forbidden_tools;
        if (std::find(forbidden.begin(), forbidden.end(), tool) == forbidden.end()) {
            const auto rule = rules_.find(tool);
            if (rule == rules_.end() || !rule->second.ok()) { return {}; }
            AF_TRY(const std::string normal, normalize_path(path));
            return rule->second->allows(normal) ? Result<void>()
                                                : path_not_allowed(normal, agent_.role, rule->second->explained());
        }
        return Error{"AF-TOOL-001",
                     "Tool '" + std::string(tool) + "' is forbidden for " + agent_.role +
                         ", and no other tool may do the same. Nothing was changed.",
                     path, "Leave this file out.", ErrorKind::denied};
    }

    [[nodiscard]] Result<void> need(ToolEffect effect, const char* what) {
        if (declares(spec_.effects, effect)) { return {}; }
        Error error = undeclared_effect(spec_.name, effect, what,
                                        "This is a defect of the plugin: report it to its author; use another tool meanwhile.");
        if (!violation_) { violation_ = error; }
        return error;
    }

    const ToolSpec& spec_;
    const ToolCallInfo& info_;
    const AgentDefinition& agent_;
    const Rules& rules_;
    RoleWorkspace& workspace_;
    ToolServices& services_;
    std::optional<Error> violation_;
};

bool is_required(const json::object& schema, std::string_view name) {
    const auto* required = schema.if_contains("required");
    if (required == nullptr || !required->is_array()) { return false; }
    return std::any_of(required->get_array().begin(), required->get_array().end(),
                       [&](const json::value& one) { return one.is_string() && std::string_view(one.get_string()) == name; });
}

const json::object* properties_of(const json::object& schema) {
    const auto* properties = schema.if_contains("properties");
    return properties != nullptr && properties->is_object() ? &properties->get_object() : nullptr;
}

bool takes_null(const json::object& properties, std::string_view name) {
    const auto* property = properties.if_contains(name);
    if (property == nullptr || !property->is_object()) { return false; }
    const auto* type = property->get_object().if_contains("type");
    if (type == nullptr) { return true; }
    const auto is_null = [](const json::value& one) { return one.is_string() && one.get_string() == "null"; };
    return is_null(*type) || (type->is_array() && std::any_of(type->get_array().begin(), type->get_array().end(), is_null));
}

/// Replaces the plugin's data by a copy in default storage, because the plugin's must not outlive it. Adds the notes.
void take_own_data(ToolResult& result, const json::object& notes) {
    const auto data_bytes = result.data.empty() ? 0 : json::serialize(result.data).size();
    json::object data;
    if (data_bytes > ToolBridge::max_output_bytes) {
        data["left_out_bytes"] = data_bytes;
    } else {
        data = json::object(result.data, {});
    }
    for (const auto& note : notes) { data[note.key()] = note.value(); }
    result.data = std::move(data);
}

}  // namespace

struct ToolBridge::State {
    AgentDefinition agent;
    std::map<std::string, std::shared_ptr<Tool>, std::less<>> tools;
    RoleWorkspace& workspace;
    ToolServices& services;
    std::vector<ToolSpec> offered;
    std::map<std::string, std::size_t, std::less<>> index;  ///< Index into `offered`.
    std::map<std::string, Error, std::less<>> broken;       ///< Tools whose description failed.
    GuardedContext::Rules constraints;
    std::vector<std::string> missing;  ///< Existing tools that the role does not have.

    [[nodiscard]] Result<const ToolSpec*> find(std::string_view tool) const;
    [[nodiscard]] Result<void> prepare(const ToolSpec& spec, json::object& arguments, json::object& notes) const;
    [[nodiscard]] Result<void> check_path(const ToolSpec& spec, std::string_view parameter, json::value& value) const;
    [[nodiscard]] ToolResult refuse(Error error) const;
    [[nodiscard]] ToolResult run(std::string_view tool, const ToolSpec& spec, const json::object& arguments,
                                 GuardedContext& context) const;
    void redact(ToolResult& result) const;
    void limit_texts(const ToolSpec& spec, ToolResult& result) const;
};

Result<const ToolSpec*> ToolBridge::State::find(std::string_view tool) const {
    const auto in = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), tool) != names.end();
    };
    const std::string allowed = "Allowed tools: " + join(agent.allowed_tools);
    const std::string name = ellipsis(sanitize_utf8(tool), 100);
    if (in(agent.forbidden_tools)) {
        return Error{"AF-TOOL-001", "Tool '" + name + "' is forbidden for " + agent.role + ". " + allowed, name,
                     "Use one of the allowed tools.", ErrorKind::denied};
    }
    if (!in(agent.allowed_tools)) {
        const auto near = nearest(tool, agent.allowed_tools);
        return Error{"AF-TOOL-002", "Tool '" + name + "' is not available. " + allowed, name,
                     near.empty() ? "Use one of the allowed tools." : "Did you mean '" + near + "'?", ErrorKind::denied};
    }
    if (const auto found = broken.find(tool); found != broken.end()) { return found->second; }
    if (const auto found = index.find(tool); found != index.end()) { return &offered[found->second]; }
    std::vector<std::string> present;
    for (const auto& spec : offered) { present.push_back(spec.name); }
    return Error{"AF-TOOL-003",
                 "Tool '" + name + "' is allowed for " + agent.role +
                     ", but no loaded plugin provides it. Available tools: " + join(present),
                 name, "Use one of these tools; a person can install the plugin (`agentforge plugins list`).",
                 ErrorKind::unavailable};
}

/// Resolves aliases and absent values, checks schema and paths. Changes the arguments to what the tool gets, or returns why it
/// does not run.
Result<void> ToolBridge::State::prepare(const ToolSpec& spec, json::object& arguments, json::object& notes) const {
    if (has(spec.effects, ToolEffect::completes)) { return {}; }
    if (const auto* properties = properties_of(spec.parameters)) {
        const auto* alias = arguments.if_contains("file_path");
        if (alias != nullptr && properties->contains("path") && !properties->contains("file_path")) {
            const auto* path = arguments.if_contains("path");
            if (path == nullptr || *path == *alias) {
                json::value value = *alias;
                arguments.erase("file_path");
                arguments["path"] = std::move(value);
                notes["alias"] = json::object{{"file_path", "path"}};
            }
        }
        for (const auto& property : *properties) {
            const auto name = property.key();
            const auto* value = arguments.if_contains(name);
            if (value == nullptr || is_required(spec.parameters, name)) { continue; }
            const bool path = std::find(spec.path_parameters.begin(), spec.path_parameters.end(), std::string_view(name)) !=
                              spec.path_parameters.end();
            if ((value->is_null() && !takes_null(*properties, name)) ||
                (path && value->is_string() && value->get_string().empty())) {
                arguments.erase(name);
            }
        }
    }
    AF_CHECK(check_arguments(spec.name, spec.parameters, arguments));
    for (const auto& parameter : spec.path_parameters) {
        auto* value = arguments.if_contains(parameter);
        if (value == nullptr) { continue; }
        if (value->is_array()) {
            for (auto& item : value->get_array()) { AF_CHECK(check_path(spec, parameter, item)); }
        } else {
            AF_CHECK(check_path(spec, parameter, *value));
        }
    }
    return {};
}

Result<void> ToolBridge::State::check_path(const ToolSpec& spec, std::string_view parameter, json::value& value) const {
    const auto named = [&](Error error) {
        error.where = "parameter " + std::string(parameter) + " of " + spec.name;
        return error;
    };
    if (!value.is_string()) {
        return Error{"AF-TOOL-004", "'" + std::string(parameter) + "' of '" + spec.name + "' must be a path.", spec.name,
                     "Give a path as a string.", ErrorKind::invalid};
    }
    auto path = normalize_path(value.get_string());
    if (!path.ok()) { return named(std::move(path).error()); }
    if (const auto rule = constraints.find(spec.name); rule != constraints.end()) {
        if (!rule->second.ok()) { return rule->second.error(); }
        if (!rule->second->allows(*path)) { return named(path_not_allowed(*path, agent.role, rule->second->explained())); }
    }
    if (has(spec.effects, ToolEffect::writes)) {
        if (auto allowed = workspace.check_write(*path); !allowed.ok()) { return named(std::move(allowed).error()); }
    }
    value = std::string_view(*path);
    return {};
}

ToolResult ToolBridge::State::refuse(Error error) const {
    error.remedy = possible_advice(error.remedy, missing);
    return refusal(std::move(error));
}

/// Calls the tool. The result of a failure has an error, whatever the tool answers.
ToolResult ToolBridge::State::run(std::string_view tool, const ToolSpec& spec, const json::object& arguments,
                                  GuardedContext& context) const {
    ToolResult result;
    const auto threw = [&](const std::string& what) {
        result = refuse(
            {"AF-TOOL-006", "Tool '" + spec.name + "' failed with an exception: " + ellipsis(sanitize_utf8(what), 500) + ".",
             spec.name, "This is a defect of the plugin: report it to its author; try other arguments or another tool.",
             ErrorKind::internal});
    };
    try {
        result = tools.find(tool)->second->call(arguments, context);
    } catch (const std::exception& exception) { threw(exception.what()); } catch (...) {
        threw("it is not a std::exception");
    }
    if (context.violation()) { return refuse(*context.violation()); }
    if (result.error) {
        result.success = false;
    } else if (!result.success) {
        result.error = Error{"AF-TOOL-007", "Tool '" + spec.name + "' failed and gave no reason.", spec.name,
                             "Try other arguments or another tool.", ErrorKind::internal};
    }
    return result;
}

/// Hides secrets. Comes before anything is truncated.
void ToolBridge::State::redact(ToolResult& result) const {
    if (result.error && result.output == result.error->to_string()) {
        result.output.clear();  // `limit_texts` writes it, without advice that does not apply to this role.
    }
    const Redactor& redactor = services.redactor();
    result.output = redactor.redact_cut(std::move(result.output));
    result.summary = redactor.redact(std::move(result.summary));
    if (result.error) { result.error = redactor.redact(*std::move(result.error)); }
    if (redactor.finds(result.data)) { redactor.redact(result.data); }
}

void ToolBridge::State::limit_texts(const ToolSpec& spec, ToolResult& result) const {
    if (result.error) {
        result.error->message = head_and_tail(sanitize_utf8(result.error->message), max_output_bytes / 2);
        result.error->where = ellipsis(sanitize_utf8(result.error->where), 500);
        result.error->remedy = ellipsis(sanitize_utf8(possible_advice(result.error->remedy, missing)), 1000);
        if (result.output.empty()) { result.output = result.error->to_string(); }
        if (result.summary.empty()) { result.summary = result.error->message; }
    }
    result.output = head_and_tail(sanitize_utf8(result.output), max_output_bytes);
    if (result.summary.empty()) { result.summary = spec.name; }
    result.summary = ellipsis(sanitize_utf8(first_line(result.summary)), 200);
}

ToolBridge::ToolBridge(AgentDefinition agent, std::map<std::string, std::shared_ptr<Tool>, std::less<>> tools,
                       RoleWorkspace& workspace, ToolServices& services, json::object completion_schema,
                       std::vector<std::string> known_tools)
    : state_(new State{std::move(agent), std::move(tools), workspace, services, {}, {}, {}, {}, std::move(known_tools)}) {
    auto& state = *state_;
    for (const auto& [tool, text] : state.agent.path_constraints) {
        state.constraints.emplace(tool, PathRule::parse(text, workspace.symbols()));
    }
    const std::set<std::string, std::less<>> forbidden(state.agent.forbidden_tools.begin(), state.agent.forbidden_tools.end());
    for (const auto& name : state.agent.allowed_tools) {
        const auto tool = state.tools.find(name);
        if (tool == state.tools.end() || tool->second == nullptr || forbidden.contains(name) || state.index.contains(name)) {
            continue;
        }
        const auto defect = [&](std::string what) {
            state.broken.emplace(
                name, Error{"AF-TOOL-008", "Tool '" + name + "' cannot describe itself: " + sanitize_utf8(what) + ".", name,
                            "This is a defect of the plugin: report it to its author; use another tool meanwhile.",
                            ErrorKind::internal});
        };
        try {
            ToolSpec spec = tool->second->spec();
            if (spec.name != name) {
                defect("it says that its name is '" + spec.name + "'");
                continue;
            }
            if (has(spec.effects, ToolEffect::completes)) { spec.parameters = completion_schema; }
            state.index.emplace(name, state.offered.size());
            state.offered.push_back(std::move(spec));
        } catch (const std::exception& exception) { defect(exception.what()); } catch (...) {
            defect("it threw something that is not a std::exception");
        }
    }
    std::erase_if(state.missing, [&](const std::string& name) { return state.index.contains(name); });
}

ToolBridge::~ToolBridge() = default;

const std::vector<ToolSpec>& ToolBridge::offered() const noexcept { return state_->offered; }

void ToolBridge::expect(std::map<std::string, std::string, std::less<>> seen) { state_->workspace.expect(std::move(seen)); }

ToolResult ToolBridge::call(std::string_view tool, const json::object& arguments, const ToolCallInfo& info) {
    const auto found = state_->find(tool);
    if (!found.ok()) { return state_->refuse(found.error()); }
    const ToolSpec& spec = **found;
    json::object prepared(arguments, {});  // Default storage, because it crosses into a plugin.
    json::object notes;
    if (auto fits = state_->prepare(spec, prepared, notes); !fits.ok()) { return state_->refuse(std::move(fits).error()); }
    GuardedContext context(spec, info, state_->agent, state_->constraints, state_->workspace, state_->services);
    ToolResult result = state_->run(tool, spec, prepared, context);
    state_->redact(result);
    state_->limit_texts(spec, result);
    take_own_data(result, notes);
    return result;
}

}  // namespace agentforge::kernel
