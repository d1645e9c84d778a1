// SPDX-License-Identifier: Apache-2.0
#include "pipeline/process_stage.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "gates/gate_runner.hpp"
#include "pipeline/agent_run/agent_tools.hpp"
#include "pipeline/codec.hpp"

namespace agentforge::kernel {
namespace {

// Long, because the context's deadline moves while gates run. The calls check the context instead.
constexpr std::chrono::hours no_deadline_of_its_own{24 * 365};

/// Parameters of one request, read by name and type. A parameter that is not read is an error.
class Params {
public:
    explicit Params(const json::object& values) : values_(values) {}

    std::string text(const char* name, bool required = false) {
        const json::value* value = take(name, required);
        if (value == nullptr) { return {}; }
        if (!value->is_string()) {
            wrong(name, "a string");
            return {};
        }
        return std::string(value->get_string());
    }
    bool flag(const char* name, bool otherwise = false) {
        const json::value* value = take(name, false);
        if (value == nullptr) { return otherwise; }
        if (!value->is_bool()) {
            wrong(name, "true or false");
            return otherwise;
        }
        return value->get_bool();
    }
    std::uint64_t number(const char* name, std::uint64_t otherwise) {
        const json::value* value = take(name, false);
        if (value == nullptr) { return otherwise; }
        if (value->is_int64() && value->get_int64() >= 0) { return static_cast<std::uint64_t>(value->get_int64()); }
        wrong(name, "a whole number from 0");
        return otherwise;
    }
    std::vector<std::string> texts(const char* name, bool required = false) {
        std::vector<std::string> list;
        const json::value* value = take(name, required);
        if (value == nullptr) { return list; }
        if (!value->is_array()) {
            wrong(name, "a list of strings");
            return list;
        }
        for (const json::value& one : value->get_array()) {
            if (!one.is_string()) {
                wrong(name, "a list of strings");
                return list;
            }
            list.emplace_back(one.get_string());
        }
        return list;
    }
    json::object object(const char* name, bool required = false) {
        const json::value* value = take(name, required);
        if (value == nullptr) { return {}; }
        if (!value->is_object()) {
            wrong(name, "an object");
            return {};
        }
        return value->get_object();
    }
    std::map<std::string, std::string> map(const char* name) {
        std::map<std::string, std::string> made;
        for (const auto& [key, value] : object(name)) {
            if (!value.is_string()) {
                wrong(name, "an object of texts");
                return {};
            }
            made.emplace(key, std::string(value.get_string()));
        }
        return made;
    }
    const json::array* list(const char* name) {
        const json::value* value = take(name, true);
        if (value != nullptr && !value->is_array()) { wrong(name, "a list"); }
        return value == nullptr ? nullptr : value->if_array();
    }
    /// Succeeds if all parameters were valid and read.
    [[nodiscard]] Result<void> good() const {
        if (error_) { return *error_; }
        for (const auto& [key, value] : values_) {
            if (std::find(asked_.begin(), asked_.end(), std::string_view(key)) != asked_.end()) { continue; }
            const std::string near = nearest(key, asked_);
            return Error{
                "AF-MCP-024", "`" + ellipsis(sanitize_utf8(key), 80) + "` is not a parameter", std::string(key),
                near.empty() ? "`agentforge help docs/servers.md` lists the parameters." : "Did you mean `" + near + "`?",
                ErrorKind::invalid};
        }
        return {};
    }

private:
    const json::value* take(const char* name, bool required) {
        asked_.emplace_back(name);
        const json::value* value = values_.if_contains(name);
        if (value == nullptr && required && !error_) {
            error_ = Error{"AF-MCP-024", "the parameter `" + std::string(name) + "` is missing", name,
                           "`agentforge help docs/servers.md` lists the parameters.", ErrorKind::invalid};
        }
        return value;
    }
    void wrong(const char* name, const std::string& expected) {
        if (!error_) {
            error_ = Error{"AF-MCP-024", "the parameter `" + std::string(name) + "` must be " + expected, name,
                           "`agentforge help docs/servers.md` lists the parameters.", ErrorKind::invalid};
        }
    }

    const json::object& values_;
    std::vector<std::string> asked_;
    std::optional<Error> error_;
};

template <class T>
Result<json::value> as_json(Result<T> result) {
    if (!result.ok()) { return std::move(result).error(); }
    return json::value(to_json(*result));
}

using Handler = Result<json::value> (*)(StageContext&, Params&);

Result<json::value> read_file(StageContext& context, Params& params) {
    const std::string path = params.text("path", true);
    ReadOptions options;
    options.first_line = params.number("first_line", options.first_line);
    options.last_line = params.number("last_line", options.last_line);
    options.max_bytes = params.number("max_bytes", options.max_bytes);
    AF_CHECK(params.good());
    return as_json(context.workspace().read(path, options));
}

Result<json::value> list_files(StageContext& context, Params& params) {
    std::string directory = params.text("directory");
    if (directory.empty()) { directory = "."; }
    ListOptions options;
    options.recursive = params.flag("recursive", true);
    options.glob = params.text("glob");
    options.limit = params.number("limit", options.limit);
    AF_CHECK(params.good());
    return as_json(context.workspace().list(directory, options));
}

Result<json::value> search(StageContext& context, Params& params) {
    SearchQuery query;
    query.pattern = params.text("pattern", true);
    query.literal = params.flag("literal");
    query.ignore_case = params.flag("ignore_case");
    query.glob = params.text("glob");
    query.limit = params.number("limit", query.limit);
    AF_CHECK(params.good());
    return as_json(context.workspace().search(query));
}

Result<json::value> exists(StageContext& context, Params& params) {
    const std::string path = params.text("path", true);
    AF_CHECK(params.good());
    return json::value(json::object{{"exists", context.workspace().exists(path)}});
}

Result<json::value> create_file(StageContext& context, Params& params) {
    const std::string path = params.text("path", true);
    const std::string content = params.text("content", true);
    const bool overwrite = params.flag("overwrite");
    AF_CHECK(params.good());
    return as_json(context.workspace().create(path, content, overwrite));
}

Result<json::value> edit_file(StageContext& context, Params& params) {
    const std::string path = params.text("path", true);
    const std::string before = params.text("search", true);
    const std::string after = params.text("replace", true);
    AF_CHECK(params.good());
    return as_json(context.workspace().edit(path, before, after));
}

Result<json::value> move_file(StageContext& context, Params& params) {
    const std::string from = params.text("from", true);
    const std::string to = params.text("to", true);
    AF_CHECK(params.good());
    return as_json(context.workspace().move(from, to));
}

Result<json::value> remove_file(StageContext& context, Params& params) {
    const std::string path = params.text("path", true);
    AF_CHECK(params.good());
    return as_json(context.workspace().remove(path));
}

Result<json::value> run_process(StageContext& context, Params& params) {
    ProcessSpec spec;
    spec.argv = params.texts("argv", true);
    spec.directory = params.text("directory");
    spec.environment = params.map("environment");
    spec.input = params.text("input");
    spec.timeout = std::chrono::milliseconds(std::min<std::uint64_t>(params.number("timeout_ms", 60'000), 86'400'000));
    spec.max_output_bytes = std::min<std::uint64_t>(params.number("max_output_bytes", spec.max_output_bytes), 64UL << 20U);
    AF_CHECK(params.good());
    return as_json(context.run_process(spec));
}

Result<json::value> run_gate(StageContext& context, Params& params) {
    GateRequest request;
    request.gate = params.text("gate", true);
    request.paths = params.texts("paths");
    request.parameters = params.object("parameters");
    AF_CHECK(params.good());
    return as_json(context.run_gate(request));
}

Result<json::value> run_agent(StageContext& context, Params& params) {
    AgentRun run;
    run.role = params.text("role");
    run.objective = params.text("objective", true);
    run.instructions = params.text("instructions");
    run.state = params.object("state");
    run.output_contract = params.text("output_contract");
    run.exit_gate = params.text("exit_gate");
    run.system_prompt = params.text("system_prompt");
    run.max_steps = static_cast<unsigned>(std::min<std::uint64_t>(params.number("max_steps", 0), 10'000));
    run.text_answer = params.flag("text_answer");
    AF_CHECK(params.good());
    return as_json(context.run_agent(run));
}

/// Asks one question and returns one text: an agent run that ends with a plain answer.
Result<json::value> ask_model(StageContext& context, Params& params) {
    AgentRun run;
    run.role = params.text("role");
    run.objective = params.text("prompt", true);
    run.system_prompt = params.text("system");
    run.text_answer = true;
    AF_CHECK(params.good());
    AF_TRY(const AgentOutcome outcome, context.run_agent(run));
    return json::value(json::object{{"text", outcome.text}});
}

Result<json::value> run_contract(StageContext& context, Params& params) {
    const std::string contract = params.text("contract", true);
    const json::object inputs = params.object("inputs");
    AF_CHECK(params.good());
    AF_TRY(json::object artifact, context.run_contract(contract, inputs));
    return json::value(json::object{{"artifact", std::move(artifact)}});
}

Result<json::value> write_skeleton(StageContext& context, Params& params) {
    std::vector<SkeletonInterface> interfaces;
    if (const json::array* list = params.list("interfaces"); list != nullptr) {
        for (const json::value& one : *list) {
            if (!one.is_object()) {
                return Error{"AF-MCP-024", "`interfaces` must be a list of objects", "interfaces",
                             "Give name, file and signature of each.", ErrorKind::invalid};
            }
            Params fields(one.get_object());
            SkeletonInterface made;
            made.name = fields.text("name", true);
            made.file = fields.text("file", true);
            made.signature = fields.text("signature", true);
            AF_CHECK(fields.good());
            interfaces.push_back(std::move(made));
        }
    }
    AF_CHECK(params.good());
    AF_TRY(const auto changes, context.write_skeleton(interfaces));
    return json::value(json::object{{"changes", to_json(changes)}});
}

Result<json::value> deliver(StageContext& context, Params& params) {
    DeliveryRequest request;
    request.title = params.text("title", true);
    request.body = params.text("body");
    request.trailers = params.map("trailers");
    AF_CHECK(params.good());
    return as_json(context.deliver(request));
}

Result<json::value> read_yaml(StageContext& context, Params& params) {
    const std::string text = params.text("text", true);
    AF_CHECK(params.good());
    AF_TRY(json::value value, context.parse_yaml(text));
    return json::value(json::object{{"value", std::move(value)}});
}

Result<json::value> now(StageContext& context, Params& params) {
    AF_CHECK(params.good());
    return json::value(json::object{{"time", format_time(context.now())}});
}

Result<json::value> cancelled(StageContext& context, Params& params) {
    AF_CHECK(params.good());
    return json::value(json::object{{"cancelled", context.cancelled()}});
}

LogLevel level_named(std::string_view name) {
    if (name == "debug") { return LogLevel::debug; }
    if (name == "warning") { return LogLevel::warning; }
    return name == "error" ? LogLevel::error : LogLevel::info;
}

Result<json::value> log(StageContext& context, Params& params) {
    const std::string level = params.text("level");
    const std::string message = params.text("message", true);
    const json::object fields = params.object("fields");
    AF_CHECK(params.good());
    context.log(level_named(level), ellipsis(sanitize_utf8(message), 2000), fields);
    return json::value(json::object());
}

Result<json::value> progress(StageContext& context, Params& params) {
    const std::string text = params.text("text", true);
    AF_CHECK(params.good());
    context.progress(ellipsis(first_line(sanitize_utf8(text)), 200));
    return json::value(json::object());
}

const std::map<std::string_view, Handler>& handlers() {
    static const std::map<std::string_view, Handler> all{{"host/read_file", read_file},
                                                         {"host/list_files", list_files},
                                                         {"host/search", search},
                                                         {"host/exists", exists},
                                                         {"host/create_file", create_file},
                                                         {"host/edit_file", edit_file},
                                                         {"host/move_file", move_file},
                                                         {"host/remove_file", remove_file},
                                                         {"host/run_process", run_process},
                                                         {"host/run_gate", run_gate},
                                                         {"host/run_agent", run_agent},
                                                         {"host/ask_model", ask_model},
                                                         {"host/run_contract", run_contract},
                                                         {"host/deliver", deliver},
                                                         {"host/parse_yaml", read_yaml},
                                                         {"host/write_skeleton", write_skeleton},
                                                         {"host/now", now},
                                                         {"host/cancelled", cancelled},
                                                         {"host/log", log},
                                                         {"host/progress", progress}};
    return all;
}

json::object input_json(const StageInput& input) {
    json::object artifacts;
    for (const auto& [stage, artifact] : input.artifacts) { artifacts[stage] = artifact; }
    json::array completed, errors;
    for (const std::string& stage : input.completed_stages) { completed.emplace_back(stage); }
    for (const std::string& error : input.previous_errors) { errors.emplace_back(error); }
    json::object made{{"task_id", input.task_id},
                      {"pipeline", input.pipeline},
                      {"stage", input.stage},
                      {"stage_index", input.stage_index},
                      {"attempt", input.attempt},
                      {"iteration", input.iteration},
                      {"cycle", input.cycle},
                      {"request", input.request},
                      {"goal_type", input.goal_type},
                      {"input_artifact", input.input_artifact},
                      {"artifacts", std::move(artifacts)},
                      {"completed_stages", std::move(completed)},
                      {"previous_errors", std::move(errors)},
                      {"config", input.config},
                      {"agent", input.agent},
                      {"output_contract", input.output_contract},
                      {"timeout_ms", input.timeout.count()}};
    if (input.feedback) { made["feedback"] = *input.feedback; }
    if (input.resolution) { made["resolution"] = *input.resolution; }
    if (input.previous_attempt) { made["previous_attempt"] = *input.previous_attempt; }
    return made;
}

class ProcessStage final : public Stage {
public:
    ProcessStage(std::string plugin, std::string where, std::string name, json::object config,
                 std::unique_ptr<ServerClient> client)
        : plugin_(std::move(plugin)),
          where_(std::move(where)),
          name_(std::move(name)),
          config_(std::move(config)),
          client_(std::move(client)) {}

    Result<void> ask_info(const std::function<bool()>& cancelled) {
        AF_TRY(const json::value answer,
               client_->connection().request("stage/info", {{"name", name_}}, {std::chrono::seconds(30), cancelled}));
        if (!answer.is_object()) { return wrong("the answer to `stage/info` is not an object"); }
        Params fields(answer.get_object());
        info_.name = name_;
        const std::string version = fields.text("version");
        if (!version.empty()) { info_.version = version; }
        info_.description = fields.text("description");
        info_.required_input_fields = fields.texts("required_input_fields");
        info_.output_contract = fields.text("output_contract");
        info_.output_fields = fields.texts("output_fields");
        if (const auto good = fields.good(); !good.ok()) { return wrong("the answer to `stage/info`: " + good.error().message); }
        return {};
    }

    [[nodiscard]] StageInfo info() const override { return info_; }

    [[nodiscard]] StageResult execute(StageContext& context) override {
        client_->serve(
            [&context](std::string_view method, const json::object& params) { return serve_stage(context, method, params); });
        auto answer = client_->connection().request(
            "stage/run", {{"name", name_}, {"input", input_json(context.input())}, {"config", config_}},
            {no_deadline_of_its_own, [&context] { return context.cancelled(); }});
        client_->serve({});
        if (!answer.ok()) {
            const auto& refusal = client_->connection().refusal();
            return StageResult::failed(refusal ? failed(*refusal) : std::move(answer).error());
        }
        return read_result(*answer);
    }

private:
    [[nodiscard]] Error wrong(const std::string& what) const {
        return {"AF-MCP-023", "the process of plugin `" + plugin_ + "` does not follow the protocol of stages: " + what, where_,
                "Report this to the plugin's author; `agentforge help docs/servers.md` has the protocol.", ErrorKind::invalid};
    }

    /// Returns the error that the process reported.
    [[nodiscard]] Error failed(const std::string& why) const {
        return {"AF-MCP-025",
                "the stage `" + name_ + "` of plugin `" + plugin_ + "` failed: " + ellipsis(sanitize_utf8(why), 2000), where_,
                "Its process gave this reason; report it to the plugin's author unless the project is at fault.",
                ErrorKind::invalid};
    }

    [[nodiscard]] StageResult read_result(const json::value& answer) const {
        if (!answer.is_object()) { return StageResult::failed(wrong("the answer to `stage/run` is not an object")); }
        const json::object& values = answer.get_object();
        Params fields(values);
        const bool has_artifact = values.contains("artifact");
        json::object artifact = fields.object("artifact");
        const json::object asked = fields.object("escalation");
        const std::string cycle_to = fields.text("cycle_to");
        const std::string cycle_reason = fields.text("cycle_reason");
        const json::object metrics = fields.object("metrics");
        const std::string why = fields.text("failed");
        if (const auto good = fields.good(); !good.ok()) {
            return StageResult::failed(wrong("the answer to `stage/run`: " + good.error().message));
        }
        StageResult result;
        if (!why.empty()) {
            result = StageResult::failed(failed(why));
        } else if (!asked.empty()) {
            Params question(asked);
            EscalationRequest request;
            request.reason = question.text("reason", true);
            request.question = question.text("question", true);
            request.options = question.texts("options");
            request.context = question.object("context");
            if (const auto good = question.good(); !good.ok()) {
                return StageResult::failed(wrong("its escalation: " + good.error().message));
            }
            result = StageResult::escalate(std::move(request), has_artifact ? std::optional(std::move(artifact)) : std::nullopt);
        } else if (!cycle_to.empty()) {
            result = StageResult::cycle(cycle_to, cycle_reason);
        } else if (has_artifact) {
            result = StageResult::completed(std::move(artifact));
        } else {
            return StageResult::failed(
                wrong("the answer to `stage/run` has none of `artifact`, `escalation`, `cycle_to` and `failed`"));
        }
        result.metrics = metrics;
        return result;
    }

    std::string plugin_, where_, name_;
    json::object config_;
    std::unique_ptr<ServerClient> client_;
    StageInfo info_;
};

}  // namespace

Result<std::shared_ptr<Stage>> start_process_stage(const PluginManifest& manifest, const std::string& name, json::object config,
                                                   const ServerPlace& place, ServerClient::Log log,
                                                   const std::function<bool()>& cancelled) {
    AF_CHECK(check_pinned_files(manifest));
    ServerDefinition server = plugin_process(manifest);
    server.writes = false;  // A stage writes through its host, which records the writes.
    AF_TRY(auto client, ServerClient::start(server, place, std::move(log), cancelled));
    auto stage = std::make_shared<ProcessStage>(manifest.id, server.where, name, std::move(config), std::move(client));
    AF_CHECK(stage->ask_info(cancelled));
    return std::shared_ptr<Stage>(std::move(stage));
}

std::optional<Result<json::value>> serve_stage(StageContext& context, std::string_view method, const json::object& values) {
    const auto found = handlers().find(method);
    if (found == handlers().end()) { return std::nullopt; }
    Params params(values);
    return found->second(context, params);
}

}  // namespace agentforge::kernel
