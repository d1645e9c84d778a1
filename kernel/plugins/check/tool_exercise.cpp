// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "plugins/check/check_host.hpp"
#include "plugins/check/check_inputs.hpp"
#include "plugins/check/exercises.hpp"
#include "plugins/check/host_setup.hpp"
#include "plugins/check/result_checks.hpp"
#include "plugins/check/schema_check.hpp"
#include "plugins/check/schema_sample.hpp"

namespace agentforge::kernel {

namespace {

/// Checks the schema of a tool's parameters.
class ParametersCheck {
public:
    ParametersCheck(const PluginCalls& calls, const CheckHooks& hooks, const ToolSpec& spec)
        : calls_(calls), hooks_(hooks), spec_(spec) {}

    void run() const {
        if (spec_.parameters.empty()) { return; }
        if (auto good = check_schema(calls_.manifest(), spec_.parameters); !good.ok()) {
            return bad_schema(good.error().message);
        }
        if (const auto* type = spec_.parameters.if_contains("type"); type == nullptr || *type != json::value("object")) {
            bad("its `type` is not `object`", type == nullptr ? "no type" : json::serialize(*type), "\"type\": \"object\"");
        }
        apply_to({});
        const json::value whole = schema_sample(spec_.parameters, SampleOf::all_properties);
        apply_to(whole.is_object() ? whole.get_object() : json::object{});
        check_paths();
    }

private:
    /// The host finds some faults only when it applies the schema.
    void apply_to(json::object arguments) const {
        const auto applied = hooks_.arguments(spec_.name, spec_.parameters, arguments);
        if (!applied.ok() && applied.error().code == "AF-TOOL-008") { bad_schema(applied.error().message); }
    }

    void check_paths() const {
        const auto* properties = spec_.parameters.if_contains("properties");
        for (const std::string& parameter : spec_.path_parameters) {
            if (properties == nullptr || !properties->is_object() || !properties->get_object().contains(parameter)) {
                bad("`path_parameters` names `" + parameter + "`, which is not a property", parameter, "names of properties");
            }
        }
    }

    void bad_schema(const std::string& why) const {
        bad(why, ellipsis(json::serialize(spec_.parameters), 300), "a JSON Schema of an object");
    }
    void bad(const std::string& why, const std::string& found, const char* expected) const {
        calls_.finding("describe", CheckStatus::error,
                       {"AF-CHECK-008",
                        "The parameters of " + calls_.object() + " of plugin `" + calls_.manifest().id +
                            "` are not a schema that the host can apply: " + why,
                        calls_.library(), "Correct ToolSpec::parameters; `agentforge help docs/plugins.md` lists the keywords.",
                        ErrorKind::invalid},
                       found, expected);
    }

    const PluginCalls& calls_;
    const CheckHooks& hooks_;
    const ToolSpec& spec_;
};

class ToolExercise {
public:
    ToolExercise(PluginCalls& calls, const CheckHooks& hooks, Tool& tool) : calls_(calls), hooks_(hooks), tool_(tool) {}

    void run(const std::string& name) {
        if (!calls_.make({"describe", "spec"}, [&] { spec_ = tool_.spec(); })) { return; }
        judge_spec(name);
        calls_.pass("describe", "spec() agrees with plugin.json");
        valid_ = schema_sample(spec_.parameters.empty() ? json::object{{"type", "object"}} : spec_.parameters,
                               SampleOf::all_properties);
        for (const CheckInputCase& one : check_inputs) {
            if (!call_with(one)) { return; }
        }
        calls_.pass("calls",
                    "call() returned for " + std::to_string(check_inputs.size()) + " inputs, or what it did is reported");
    }

private:
    void judge_spec(const std::string& name) const {
        judge_name(calls_, "spec", spec_.name, name);
        judge_text(calls_, "describe", "a description", spec_.description);
        if (spec_.description.empty()) {
            calls_.wrong_result("describe", CheckStatus::warning, "has no description", "nothing",
                                "one or two sentences for the model", "Fill `description`: the model chooses by it.");
        }
        if ((static_cast<unsigned>(spec_.effects) & ~31U) != 0) {
            calls_.wrong_result("describe", CheckStatus::error, "declares effects that do not exist",
                                std::to_string(static_cast<unsigned>(spec_.effects)), "flags of ToolEffect",
                                "Use the flags of ToolEffect.");
        }
        if (!completes()) { ParametersCheck(calls_, hooks_, spec_).run(); }
    }

    /// Returns false if the call has no folder.
    bool call_with(const CheckInputCase& one) {
        const json::object arguments = arguments_for(one.input);
        const bool fits = fits_schema(arguments, one);
        auto folder = make_call_folder(calls_, hooks_);
        if (!folder) { return false; }
        CheckToolContext host(*folder);
        prepare_host(calls_, host, one.input);
        host.files.limit_effects(spec_.effects, spec_.name);
        host.process = program_that_prints(text_for(one.input, "done\n"));
        std::optional<ToolResult> result;  // Constructed, not assigned: an assignment would copy into our memory.
        host.open();
        calls_.make({"calls", "call", one.name, !fits}, [&] { result.emplace(tool_.call(arguments, host)); });
        host.close();
        if (result) { judge_result(*result); }
        if (const auto undeclared = host.files.undeclared(); undeclared && fits) {
            calls_.finding("calls", CheckStatus::error, *undeclared);
        }
        judge_context(calls_, host);
        return true;
    }

    [[nodiscard]] json::object arguments_for(CheckInput input) const {
        json::value made = valid_.is_object() ? valid_ : json::value(json::object{});
        if (input == CheckInput::required) { made = schema_sample(spec_.parameters, SampleOf::required_properties); }
        if (input == CheckInput::empty) { made = json::object{}; }
        if (!made.is_object()) { made = json::object{}; }
        if (input == CheckInput::valid || input == CheckInput::required || input == CheckInput::host_fails ||
            input == CheckInput::cancelled) {
            for (const std::string& parameter : spec_.path_parameters) {
                if (auto* value = made.get_object().if_contains(parameter); value != nullptr && value->is_string()) {
                    *value = "src/app.py";
                }
            }
        } else {
            spoil(made, input);
        }
        return std::move(made.get_object());
    }

    /// True if the host would pass these arguments on to the tool.
    [[nodiscard]] bool fits_schema(json::object arguments, const CheckInputCase& one) const {
        return completes() ? !one.broken : hooks_.arguments(spec_.name, spec_.parameters, arguments).ok();
    }

    /// The schema of such a tool is an output contract, which the check does not know.
    [[nodiscard]] bool completes() const { return has(spec_.effects, ToolEffect::completes); }

    void judge_result(const ToolResult& result) const {
        judge_text(calls_, "calls", "an output", result.output);
        judge_text(calls_, "calls", "a summary", result.summary);
        judge_memory(calls_, result.data);
        if (result.error) { judge_error(calls_, *result.error); }
        if (result.success && result.error) {
            calls_.wrong_result("calls", CheckStatus::warning, "says that it succeeded and gives an error",
                                "success and an error", "one of the two", "Use ToolResult::done or ToolResult::failed.");
        }
        if (!result.success && !result.error) {
            calls_.wrong_result("calls", CheckStatus::warning, "failed without an error", "no error",
                                "ToolResult::failed with a reason", "Say why: the model acts on it.");
        }
    }

    PluginCalls& calls_;
    const CheckHooks& hooks_;
    Tool& tool_;
    ToolSpec spec_;
    json::value valid_;  ///< Arguments that satisfy the schema, as well as they can be made up.
};

}  // namespace

void exercise_tool(PluginCalls& calls, const CheckHooks& hooks, Tool& tool, const std::string& name) {
    ToolExercise(calls, hooks, tool).run(name);
}

}  // namespace agentforge::kernel
