// SPDX-License-Identifier: Apache-2.0
#include "agent/context.hpp"

#include "agent/protocol.hpp"
#include "agent/shorten.hpp"
#include "backends/tokens.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t message_frame_tokens = 24;    ///< Roles and separators around the two messages.
constexpr std::size_t smallest_file_tokens = 120;   ///< A view that would get less is only named.
constexpr std::size_t shown_hash_digits = 12;

Error too_small(std::string section, std::size_t tokens, std::size_t share, const RunSpec& spec) {
    return {"AF-AGENT-013",
            "the fixed part '" + section + "' of agent '" + spec.agent.role + "' takes " + std::to_string(tokens) + " tokens; its share is " +
                std::to_string(share) + " of " + std::to_string(spec.budget.total),
            spec.agent.source, "Shorten it, or raise the budget of the section and of the whole.", ErrorKind::invalid};
}

/// Cuts text to the tokens that `{name: text}` may cost.
json::value fit_text(std::string_view name, std::string_view text, std::size_t max_tokens, std::uint64_t first_line, bool& cut) {
    std::size_t bytes = max_tokens * 5;
    for (unsigned attempt = 0; attempt < 12 && bytes > 20; ++attempt) {
        bool cut_now = false;
        json::value value(shorten_lines(text, bytes, first_line, cut_now));
        const std::size_t cost = tokens_of(name, value);
        if (cost <= max_tokens) {
            cut = cut || cut_now;
            return value;
        }
        bytes = std::min(bytes, text.size()) * max_tokens / cost * 19 / 20;
    }
    cut = true;
    return json::value("… " + std::to_string(text.size()) + " bytes left out …");
}

/// Without the `description` of every schema inside: they help, and go first where tokens are short.
json::value without_descriptions(const json::value& schema, bool is_property_map = false) {
    if (schema.is_array()) {
        json::array result;
        for (const json::value& item : schema.get_array()) { result.push_back(without_descriptions(item)); }
        return result;
    }
    if (!schema.is_object()) { return schema; }
    json::object result;
    for (const auto& [key, value] : schema.get_object()) {
        if (!is_property_map && (key == "description" || key == "title" || key == "examples")) { continue; }
        result[key] = without_descriptions(value, !is_property_map && key == "properties");
    }
    return result;
}

std::string range_of(const FileMemory& file) {
    if (file.first_line == 0) { return "a part, position not known"; }
    const auto ends = static_cast<std::uint64_t>(std::count(file.content.begin(), file.content.end(), '\n'));
    const std::uint64_t lines = ends + (file.content.empty() || file.content.back() == '\n' ? 0U : 1U);
    std::string text = std::to_string(file.first_line) + "–" + std::to_string(file.first_line + (lines == 0 ? 0 : lines - 1));
    if (file.total_lines > 0) { text += " of " + std::to_string(file.total_lines); }
    return text;
}

/// The step that is about to be answered must see what the last one brought.
json::object last_result_of(const StepRecord& last) {
    json::object result{{"step", last.step}, {"action", last.tool.empty() ? std::string_view("(unreadable answer)") : std::string_view(last.tool)}};
    result["result"] = last.success ? "success" : "failure";
    if (!last.error.empty() && !last.output.starts_with(first_line(last.error))) { result["error"] = last.error; }   // Not twice.
    if (last.tool.empty() && !last.completion.text.empty()) { result["your_answer_began"] = ellipsis(last.completion.text, 300); }
    if (!last.summary.empty() && last.summary != last.output && last.output.empty()) { result["summary"] = last.summary; }
    return result;
}

class StateSection {
public:
    StateSection(const RunSpec& spec, const Memory& memory, std::vector<std::string>& truncated)
        : spec_(spec), memory_(memory), truncated_(truncated) {}

    json::object build(std::size_t max_tokens) {
        // Parts are measured alone; inside the section they are indented deeper. Until the whole fits, give out less.
        std::size_t allowed = max_tokens;
        for (unsigned attempt = 0; attempt < 6; ++attempt) {
            cut_.clear();
            json::object state = compose(allowed);
            const std::size_t cost = tokens_of("current_state", json::value(state));
            if (cost <= max_tokens) {
                truncated_.insert(truncated_.end(), cut_.begin(), cut_.end());
                return state;
            }
            const std::size_t over = cost - max_tokens;
            allowed = allowed > over + over / 4 + 8 ? allowed - over - over / 4 - 8 : max_tokens / 4;
        }
        bool cut = false;
        json::value state = shorten_to("current_state", json::value(compose(max_tokens / 2)), max_tokens, cut);
        truncated_.insert(truncated_.end(), cut_.begin(), cut_.end());
        if (cut) { truncated_.emplace_back("current_state"); }
        return state.is_object() ? state.get_object() : json::object{};
    }

private:
    void note(bool cut, std::string name) {
        if (cut) { cut_.push_back(std::move(name)); }
    }

    json::object compose(std::size_t max_tokens) {
        json::object state;
        const std::size_t words = max_tokens / 8;
        if (!spec_.run.objective.empty()) {
            bool cut = false;
            state["objective"] = fit_text("objective", spec_.run.objective, words, 1, cut);
            note(cut, "current_state.objective");
        }
        if (!spec_.run.instructions.empty()) {
            bool cut = false;
            state["instructions"] = fit_text("instructions", spec_.run.instructions, words * 2, 1, cut);
            note(cut, "current_state.instructions");
        }
        std::size_t used = 2;
        for (const auto& [key, value] : state) { used += tokens_of(key, value); }
        const std::size_t rest = max_tokens > used ? max_tokens - used : 0;

        // What each part wants, at the most; then shares of 40, 40 and 20 %, and what one leaves goes to the others.
        const std::size_t state_need = spec_.run.state.empty() ? 0 : need("state", json::value(spec_.run.state), rest);
        const std::size_t result_need = last_need(rest);
        const std::size_t files_need = files_want(rest);
        std::size_t for_state = std::min(state_need, rest * 2 / 5);
        std::size_t for_result = std::min(result_need, rest * 2 / 5);
        std::size_t for_files = std::min(files_need, rest / 5);
        std::size_t slack = rest - for_state - for_result - for_files;
        const auto top_up = [&slack](std::size_t& share, std::size_t want) {
            const std::size_t more = std::min(slack, want - share);
            share += more;
            slack -= more;
        };
        top_up(for_result, result_need);
        top_up(for_state, state_need);
        top_up(for_files, files_need);

        if (!spec_.run.state.empty()) {
            bool cut = false;
            state["state"] = shorten_to("state", json::value(spec_.run.state), for_state, cut);
            note(cut, "current_state.state");
        }
        if (memory_.last()) { state["last_result"] = last_result(for_result); }
        if (json::object files = views(for_files); !files.empty()) {
            for (auto& [key, value] : files) { state[key] = std::move(value); }
        }
        return state;
    }

    static std::size_t need(std::string_view name, const json::value& value, std::size_t most) {
        if (json::serialize(value).size() > most * 8) { return most; }
        return std::min(most, tokens_of(name, value));
    }

    std::size_t last_need(std::size_t most) const {
        if (!memory_.last()) { return 0; }
        json::object result = last_result_of(*memory_.last());
        const std::size_t head = tokens_of("last_result", json::value(result));
        if (memory_.last()->output.empty()) { return std::min(most, head); }
        return std::min(most, head + need("output", json::value(memory_.last()->output), most) + 8 + memory_.last()->output.size() / 60);
    }

    json::value last_result(std::size_t max_tokens) {
        const StepRecord& last = *memory_.last();
        json::object result = last_result_of(last);
        if (!last.output.empty()) {
            const std::size_t head = tokens_of("last_result", json::value(result));
            std::uint64_t first_line = 1;
            if (last.tool == "read_file" && !memory_.files().empty() && memory_.files().front().step == last.step) {
                first_line = std::max<std::uint64_t>(1, memory_.files().front().first_line);
            }
            bool cut = false;
            result["output"] = fit_text("output", last.output, max_tokens > head ? max_tokens - head : 0, first_line, cut);
            note(cut, "current_state.last_result");
        }
        bool cut = false;
        json::value fitted = shorten_to("last_result", json::value(std::move(result)), max_tokens, cut);
        note(cut, "current_state.last_result");
        return fitted;
    }

    /// The file that the last result shows in full needs no view of its own.
    [[nodiscard]] bool shown_by_last(const FileMemory& file) const {
        return memory_.last() && memory_.last()->tool == "read_file" && file.step == memory_.last()->step;
    }

    [[nodiscard]] std::size_t files_want(std::size_t most) const {
        std::size_t want = 0;
        for (const FileMemory& file : memory_.files()) {
            if (shown_by_last(file)) { continue; }
            want += 40 + file.content.size() * 2 / 5 + static_cast<std::size_t>(std::count(file.content.begin(), file.content.end(), '\n')) * 2;
            if (want >= most) { return most; }
        }
        return want;
    }

    json::object views(std::size_t max_tokens) {
        json::array shown;
        json::array named;
        std::size_t used = 4;
        for (const FileMemory& file : memory_.files()) {
            if (shown_by_last(file)) { continue; }
            json::object view{{"path", file.path}, {"lines", range_of(file)}};
            if (!file.sha256.empty()) { view["sha256"] = file.sha256.substr(0, shown_hash_digits); }
            const std::size_t head = tokens_of("files", json::array{view}) + 4;
            if (used + head + smallest_file_tokens > max_tokens) {
                // A short file may still fit where a long one would be cut to nothing.
                if (used + head + estimate_tokens(file.content) + 8 > max_tokens) {
                    named.emplace_back(file.path + " " + range_of(file));
                    continue;
                }
            }
            bool cut = false;
            const std::size_t share = max_tokens > used + head ? max_tokens - used - head : 0;
            view["content"] = fit_text("content", file.content, share, std::max<std::uint64_t>(1, file.first_line), cut);
            note(cut, "current_state.files." + file.path);
            used += tokens_of("files", json::array{view});
            shown.push_back(std::move(view));
        }
        json::object result;
        if (!shown.empty()) { result["files"] = std::move(shown); }
        if (!named.empty()) {
            note(true, "current_state.files");
            if (named.size() > 4) { named.resize(4); }
            if (used + tokens_of("files_seen_but_not_shown", json::value(named)) <= max_tokens) { result["files_seen_but_not_shown"] = std::move(named); }
        }
        return result;
    }

    const RunSpec& spec_;
    const Memory& memory_;
    std::vector<std::string>& truncated_;
    std::vector<std::string> cut_;
};

json::object task_frame(const RunSpec& spec) {
    json::object frame{{"id", spec.place.task_id}, {"goal", spec.goal}};
    json::array criteria;
    for (const std::string& criterion : spec.success_criteria) { criteria.emplace_back(criterion); }
    frame["success_criteria"] = std::move(criteria);
    frame["phase"] = spec.stage;
    json::array constraints;
    for (const std::string& constraint : spec.agent.constraints) { constraints.emplace_back(constraint); }
    frame["constraints"] = std::move(constraints);
    return frame;
}

json::array recent_actions(const Memory& memory) {
    json::array result;
    for (const RecentAction& recent : memory.recent()) {
        result.push_back(json::object{{"step", recent.step}, {"action", recent.action}, {"result", recent.result}, {"summary", recent.summary}});
    }
    return result;
}

}  // namespace

Result<FixedParts> fix_parts(const RunSpec& spec, const std::vector<ToolSpec>& offered, bool native_tool_calls) {
    FixedParts fixed;
    fixed.system = spec.run.system_prompt.empty() ? build_system_prompt(spec, offered, native_tool_calls) : spec.run.system_prompt;
    fixed.system_tokens = estimate_tokens(fixed.system);
    const TokenBudget& budget = spec.budget;
    if (fixed.system_tokens > budget.system_prompt) { return too_small("system_prompt", fixed.system_tokens, budget.system_prompt, spec); }
    if (!spec.run.text_answer && native_tool_calls) {
        for (const ToolSpec& tool : offered) { fixed.tools.push_back({tool.name, tool.description, tool.parameters}); }
        const auto count = [&fixed] {
            fixed.tools_tokens = 0;
            for (const ToolDescription& tool : fixed.tools) { fixed.tools_tokens += estimate_tokens(tool); }
        };
        count();
        if (fixed.tools_tokens > budget.available_actions) {
            for (ToolDescription& tool : fixed.tools) { tool.parameters = without_descriptions(json::value(tool.parameters)).get_object(); }
            fixed.shortened = true;
            count();
        }
    } else if (!spec.run.text_answer) {
        fixed.actions = describe_actions(offered);
        fixed.actions_tokens = tokens_of("available_actions", json::value(fixed.actions));
    }
    const std::size_t actions = fixed.tools_tokens + fixed.actions_tokens;
    const std::size_t others = message_frame_tokens + fixed.system_tokens + std::min<std::size_t>(budget.task_frame, 60) + budget.verification_status / 2;
    const std::size_t wanted = budget.current_state / 4;
    if (others + actions + wanted > budget.total) {
        return actions > budget.available_actions ? too_small("available_actions", actions, budget.available_actions, spec)
                                                  : too_small("system_prompt", fixed.system_tokens, budget.system_prompt, spec);
    }
    return fixed;
}

Result<BuiltContext> build_context(const RunSpec& spec, const FixedParts& fixed, const Memory& memory, const json::object& verification) {
    const TokenBudget& budget = spec.budget;
    const std::size_t limit = budget.total * 1000 / memory.calibration_permille();
    std::vector<std::string> truncated;
    const std::size_t fixed_tokens = message_frame_tokens + fixed.system_tokens + fixed.tools_tokens + fixed.actions_tokens;
    if (fixed.shortened) { truncated.emplace_back("tools"); }
    if (fixed_tokens + 100 > limit) {
        const bool actions = fixed.tools_tokens + fixed.actions_tokens > budget.available_actions;
        return actions ? too_small("available_actions", fixed.tools_tokens + fixed.actions_tokens, budget.available_actions, spec)
                       : too_small("system_prompt", fixed.system_tokens, budget.system_prompt, spec);
    }
    std::size_t left = limit - fixed_tokens;
    json::object sections;
    BuiltContext built;
    std::size_t total = fixed_tokens;
    built.section_tokens = json::object{{"system_prompt", fixed.system_tokens}, {"tools", fixed.tools_tokens}};

    const auto take = [&](std::string_view name, json::value value, std::size_t share) {
        bool cut = false;
        value = shorten_to(name, std::move(value), std::min(share, left), cut);
        if (cut) { truncated.emplace_back(name); }
        const std::size_t cost = tokens_of(name, value);
        left -= std::min(left, cost);
        total += cost;
        sections[name] = std::move(value);
        built.section_tokens[name] = cost;
    };
    // Room is given out by weight, the text keeps the order of North Star 3.4.
    take("task_frame", json::value(task_frame(spec)), std::min(budget.task_frame, left / 4));
    take("verification_status", json::value(verification), std::min(budget.verification_status, left / 4));
    take("recent_actions", json::value(recent_actions(memory)), std::min(budget.recent_actions, left / 3));

    StateSection state(spec, memory, truncated);
    json::object current = state.build(std::min(budget.current_state, left));
    const std::size_t cost = tokens_of("current_state", json::value(current));
    total += cost;
    built.section_tokens["current_state"] = cost;
    sections["current_state"] = std::move(current);
    if (!fixed.actions.empty()) {
        sections["available_actions"] = fixed.actions;
        built.section_tokens["available_actions"] = fixed.actions_tokens;
    }
    for (const std::string_view name : {"task_frame", "current_state", "recent_actions", "verification_status", "available_actions"}) {
        if (json::value* section = sections.if_contains(name)) {
            json::object one;
            one[name] = std::move(*section);
            built.text += to_yaml(one);
        }
    }
    if (total > limit) {
        return Error{"AF-AGENT-017", "the context of step " + std::to_string(memory.steps() + 1) + " costs " + std::to_string(total) + " tokens; the budget is " +
                     std::to_string(limit), "", "This is a defect of the context builder: report it with the task's journal.", ErrorKind::internal};
    }
    built.section_tokens["total"] = total;
    built.section_tokens["calibration_permille"] = memory.calibration_permille();
    json::array cut;
    for (const std::string& name : truncated) { cut.emplace_back(name); }
    built.section_tokens["truncated"] = std::move(cut);
    return built;
}

}  // namespace agentforge::kernel
