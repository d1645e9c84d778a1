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
/// What servers put before native tools: Anthropic counts 313 to 346 tokens for it, chat completions less.
constexpr std::size_t native_tools_frame_tokens = 350;
constexpr std::size_t smallest_file_tokens = 120;   ///< A view that would get less is only named.
constexpr std::size_t shown_hash_digits = 12;
constexpr std::size_t share_step = 32;              ///< Shares of what is cut are multiples of it, so that a cut is often the one of the step before.
constexpr std::size_t most_bytes_a_token = 8;

Error too_small(const std::string& section, std::size_t tokens, std::size_t share, const RunSpec& spec) {
    return {"AF-AGENT-013",
            "the fixed part '" + section + "' of agent '" + spec.agent.role + "' takes " + std::to_string(tokens) + " tokens; its share is " +
                std::to_string(share) + " of " + std::to_string(spec.budget.total),
            spec.agent.source, "Shorten it, or raise " + std::string(section == "system_prompt" && tokens > share ? "context.budget.system_prompt" : "context.max_tokens") + ".",
            ErrorKind::invalid};
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

/// The parts of a run's state that say why the stage runs again; they come before everything else that it holds.
constexpr std::string_view round_keys[] = {"feedback", "resolution", "previous_errors"};

bool is_round_key(std::string_view key) { return std::find(std::begin(round_keys), std::end(round_keys), key) != std::end(round_keys); }

std::string fingerprint(std::string_view text) { return std::to_string(text.size()) + "-" + std::to_string(std::hash<std::string_view>{}(text)); }

/// Writes `current_state`. Every part is written once, as it stands in the text, and costs what it costs there.
class StateSection {
public:
    StateSection(const RunSpec& spec, const Memory& memory, ContextMemo& memo, std::vector<std::string>& truncated)
        : spec_(spec), memory_(memory), memo_(memo), truncated_(truncated) {}

    Piece build(std::size_t max_tokens) {
        Piece section;
        compose(max_tokens > head_tokens ? max_tokens - head_tokens : 0);
        std::size_t cost = head_tokens;
        for (const Part& part : parts_) { cost += part.piece.tokens; }
        // A share of a few tokens cannot hold even the words that say what was left out: then the least needed goes altogether.
        for (const std::string_view name : {"files_seen_but_not_shown", "files", "agents_md", "instructions", "state", "this_round", "last_result", "objective"}) {
            if (cost <= max_tokens) { break; }
            const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) { return part.name == name; });
            if (found == parts_.end()) { continue; }
            cost -= found->piece.tokens;
            parts_.erase(found);
            note(true, "current_state." + std::string(name));
        }
        section.yaml = parts_.empty() ? "current_state: {}\n" : "current_state:\n";
        for (const Part& part : parts_) { section.yaml += part.piece.yaml; }
        section.tokens = std::max(cost, head_tokens);
        return section;
    }

private:
    static constexpr std::size_t head_tokens = 8;
    struct Part {
        std::string_view name;
        Piece piece;
    };

    void note(bool cut, std::string name) {
        if (cut && std::find(truncated_.begin(), truncated_.end(), name) == truncated_.end()) { truncated_.push_back(std::move(name)); }
    }

    void put(std::string_view name, Piece piece) {
        note(piece.cut, "current_state." + std::string(name));
        used_ += piece.tokens;
        parts_.push_back({name, std::move(piece)});
    }

    /// What does not change over a run, cut to its share; written once a run.
    void put_text(std::string_view name, const std::string& text, std::size_t max_tokens) {
        if (text.empty()) { return; }
        put(name, memo_.piece(std::string(name) + "/" + std::to_string(max_tokens), [&] { return shorten_text_to(name, text, max_tokens, 1, 1); }));
    }

    void compose(std::size_t max_tokens) {
        put_text("objective", spec_.run.objective, max_tokens / 8);
        put_text("instructions", spec_.run.instructions, max_tokens / 4);
        put_round(max_tokens / 4);
        put_text("agents_md", spec_.agents_md, max_tokens / 5);
        const std::size_t rest = max_tokens > used_ ? max_tokens - used_ : 0;

        // What each part wants, at the most; then shares of 40, 40 and 20 %, and what one leaves goes to the others.
        const Piece& whole_state = state_whole();
        const std::size_t state_need = std::min(rest, whole_state.tokens);
        const Piece whole_result = result_whole(rest);
        const std::size_t result_need = std::min(rest, whole_result.tokens);
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

        if (whole_state.tokens > 0) { put("state", whole_state.tokens <= for_state ? whole_state : state_cut(for_state)); }
        if (memory_.last()) { put("last_result", whole_result.tokens <= for_result ? whole_result : result_cut(for_result)); }
        put_views(for_files);
    }

    // ------------------------------------------------------------------------------------ state --

    void put_round(std::size_t max_tokens) {
        if (std::none_of(std::begin(round_keys), std::end(round_keys), [&](std::string_view key) { return spec_.run.state.contains(key); })) { return; }
        put("this_round", memo_.piece("this_round/" + std::to_string(max_tokens), [&] {
            json::object round;
            for (const std::string_view key : round_keys) {
                if (const json::value* value = spec_.run.state.if_contains(key)) { round[key] = *value; }
            }
            return shorten_to("this_round", json::value(std::move(round)), max_tokens, 1);
        }));
    }

    [[nodiscard]] json::value state_value() const {
        json::object others;
        for (const auto& [key, value] : spec_.run.state) {
            if (!is_round_key(key)) { others[key] = value; }
        }
        return json::value(std::move(others));
    }

    /// Tokens 0: there is none. What no budget can hold is not written out.
    const Piece& state_whole() {
        return memo_.piece("state", [&] {
            json::value value = state_value();
            if (value.get_object().empty()) { return Piece{}; }
            return json::serialize(value).size() > spec_.budget.total * most_bytes_a_token ? Piece{"", spec_.budget.total * 4, true} : piece_of("state", std::move(value), 1);
        });
    }

    const Piece& state_cut(std::size_t max_tokens) {
        max_tokens -= max_tokens % share_step;
        return memo_.piece("state/" + std::to_string(max_tokens), [&] { return shorten_to("state", state_value(), max_tokens, 1); });
    }

    // ------------------------------------------------------------------------------ last result --

    [[nodiscard]] Piece result_head() const { return piece_of("last_result", json::value(last_result_of(*memory_.last())), 1); }

    /// Tokens 0: there is none.
    [[nodiscard]] Piece result_whole(std::size_t most) const {
        if (!memory_.last()) { return {}; }
        Piece whole = result_head();
        const std::string& output = memory_.last()->output;
        if (output.empty()) { return whole; }
        if (output.size() > most * most_bytes_a_token) { return {"", most + 1, true}; }
        const Piece shown = piece_of("output", json::value(output), 2);
        whole.yaml += shown.yaml;
        whole.tokens += shown.tokens;
        return whole;
    }

    [[nodiscard]] Piece result_cut(std::size_t max_tokens) const {
        const StepRecord& last = *memory_.last();
        Piece head = result_head();
        if (last.output.empty() || head.tokens + 40 > max_tokens) {
            json::object result = last_result_of(last);
            if (!last.output.empty()) { result["output"] = last.output; }
            return shorten_to("last_result", json::value(std::move(result)), max_tokens, 1);
        }
        std::uint64_t first_line = 1;
        if (last.tool == "read_file" && !memory_.files().empty() && memory_.files().front().step == last.step) {
            first_line = std::max<std::uint64_t>(1, memory_.files().front().first_line);
        }
        const Piece shown = shorten_text_to("output", last.output, max_tokens - head.tokens, first_line, 2);
        head.yaml += shown.yaml;
        head.tokens += shown.tokens;
        head.cut = shown.cut;
        return head;
    }

    // ------------------------------------------------------------------------------------ views --

    /// The file that the last result shows in full needs no view of its own.
    [[nodiscard]] bool shown_by_last(const FileMemory& file) const {
        return memory_.last() && memory_.last()->tool == "read_file" && file.step == memory_.last()->step;
    }

    static std::string key_of(const FileMemory& file) {
        return "file/" + file.path + "/" + std::to_string(file.first_line) + "/" + std::to_string(file.total_lines) + "/" + file.sha256 + "/" + fingerprint(file.content);
    }

    [[nodiscard]] static Piece view_head(const FileMemory& file) {
        json::object view{{"path", file.path}, {"lines", range_of(file)}};
        if (!file.sha256.empty()) { view["sha256"] = file.sha256.substr(0, shown_hash_digits); }
        return item_piece_of(json::value(std::move(view)), 1);
    }

    /// The view in at most so many tokens.
    [[nodiscard]] static Piece view(const FileMemory& file, std::size_t max_tokens) {
        Piece head = view_head(file);
        const Piece content = shorten_text_to("content", file.content, max_tokens > head.tokens ? max_tokens - head.tokens : 0, std::max<std::uint64_t>(1, file.first_line), 3);
        head.yaml += content.yaml;
        head.tokens += content.tokens;
        head.cut = content.cut;
        return head;
    }

    const Piece& view_whole(const FileMemory& file, const std::string& key) {
        return memo_.piece(key, [&] {
            const std::size_t most = spec_.budget.total;
            return file.content.size() > most * most_bytes_a_token ? Piece{"", most * 4, true} : view(file, most * 4);
        });
    }

    [[nodiscard]] std::size_t files_want(std::size_t most) {
        std::size_t want = 0;
        for (const FileMemory& file : memory_.files()) {
            if (shown_by_last(file)) { continue; }
            want += view_whole(file, key_of(file)).tokens + (want == 0 ? head_tokens : 0);
            if (want >= most) { return most; }
        }
        return want;
    }

    void put_views(std::size_t max_tokens) {
        Piece files{"  files:\n", head_tokens, false};
        json::array named;
        bool any = false;
        for (const FileMemory& file : memory_.files()) {
            if (shown_by_last(file)) { continue; }
            const std::string key = key_of(file);
            const Piece& whole = view_whole(file, key);
            const std::size_t left = max_tokens > files.tokens ? max_tokens - files.tokens : 0;
            const Piece* shown = &whole;
            // A short file may still fit where a long one would be cut to nothing.
            if (whole.tokens > left) {
                const std::size_t share = left - left % share_step;
                if (share < smallest_file_tokens + view_head(file).tokens) {
                    named.emplace_back(file.path + " " + range_of(file));
                    continue;
                }
                shown = &memo_.piece(key + "/" + std::to_string(share), [&] { return view(file, share); });
            }
            note(shown->cut, "current_state.files." + file.path);
            files.yaml += shown->yaml;
            files.tokens += shown->tokens;
            any = true;
        }
        const std::size_t left = max_tokens > files.tokens ? max_tokens - files.tokens : 0;
        if (any) { put("files", std::move(files)); }
        if (named.empty()) { return; }
        note(true, "current_state.files");
        if (named.size() > 4) { named.resize(4); }
        Piece names = piece_of("files_seen_but_not_shown", json::value(std::move(named)), 1);
        if (names.tokens <= left) { put("files_seen_but_not_shown", std::move(names)); }
    }

    const RunSpec& spec_;
    const Memory& memory_;
    ContextMemo& memo_;
    std::vector<std::string>& truncated_;
    std::vector<Part> parts_;
    std::size_t used_ = 0;
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
    fixed.frame_tokens = message_frame_tokens;
    const TokenBudget& budget = spec.budget;
    if (fixed.system_tokens > budget.system_prompt) { return too_small("system_prompt", fixed.system_tokens, budget.system_prompt, spec); }
    if (!spec.run.text_answer && native_tool_calls) {
        for (const ToolSpec& tool : offered) { fixed.tools.push_back({tool.name, tool.description, tool.parameters}); }
        const auto count = [&fixed] {
            fixed.tools_tokens = 0;
            for (const ToolDescription& tool : fixed.tools) { fixed.tools_tokens += estimate_tokens(tool); }
        };
        fixed.frame_tokens += native_tools_frame_tokens;
        count();
        if (fixed.tools_tokens > budget.available_actions) {
            for (ToolDescription& tool : fixed.tools) { tool.parameters = without_descriptions(json::value(tool.parameters)).get_object(); }
            fixed.shortened = true;
            count();
        }
    } else if (!spec.run.text_answer) {
        Piece actions = piece_of("available_actions", json::value(describe_actions(offered)));
        fixed.actions = std::move(actions.yaml);
        fixed.actions_tokens = actions.tokens;
    }
    const std::size_t actions = fixed.tools_tokens + fixed.actions_tokens;
    const std::size_t others = fixed.frame_tokens + fixed.system_tokens + std::min<std::size_t>(budget.task_frame, 60) + budget.verification_status / 2;
    const std::size_t wanted = budget.current_state / 4;
    if (others + actions + wanted > budget.total) {
        return actions > budget.available_actions ? too_small("available_actions", actions, budget.available_actions, spec)
                                                  : too_small("system_prompt", fixed.system_tokens, budget.system_prompt, spec);
    }
    return fixed;
}

const Piece& ContextMemo::piece(std::string key, const std::function<Piece()>& make) {
    if (const auto known = now_.find(key); known != now_.end()) { return known->second; }
    if (auto old = before_.extract(key)) { return now_.insert(std::move(old)).position->second; }
    Piece made = make();
    return now_.emplace(std::move(key), std::move(made)).first->second;
}

void ContextMemo::next() {
    before_ = std::move(now_);
    now_.clear();
}

Result<BuiltContext> build_context(const RunSpec& spec, const FixedParts& fixed, const Memory& memory, const json::object& verification, ContextMemo& memo) {
    memo.next();
    const TokenBudget& budget = spec.budget;
    const std::size_t limit = budget.total * 1000 / memory.calibration_permille();
    std::vector<std::string> truncated;
    const std::size_t fixed_tokens = fixed.frame_tokens + fixed.system_tokens + fixed.tools_tokens + fixed.actions_tokens;
    if (fixed.shortened) { truncated.emplace_back("tools"); }
    if (fixed_tokens + 100 > limit) {
        const bool actions = fixed.tools_tokens + fixed.actions_tokens > budget.available_actions;
        return actions ? too_small("available_actions", fixed.tools_tokens + fixed.actions_tokens, budget.available_actions, spec)
                       : too_small("system_prompt", fixed.system_tokens, budget.system_prompt, spec);
    }
    std::size_t left = limit - fixed_tokens;
    BuiltContext built;
    built.section_tokens = json::object{{"frame", fixed.frame_tokens}, {"system_prompt", fixed.system_tokens}, {"tools", fixed.tools_tokens}};
    std::size_t total = fixed_tokens;
    const auto take = [&](std::string_view name, const Piece& piece) {
        if (piece.cut) { truncated.emplace_back(name); }
        left -= std::min(left, piece.tokens);
        total += piece.tokens;
        built.section_tokens[name] = piece.tokens;
    };
    // Room is given out by weight, the text keeps the order of North Star 3.4.
    const std::size_t for_frame = std::min(budget.task_frame, left / 4);
    const Piece& frame = memo.piece("task_frame/" + std::to_string(for_frame), [&] { return shorten_to("task_frame", json::value(task_frame(spec)), for_frame); });
    take("task_frame", frame);
    const std::size_t for_status = std::min(budget.verification_status, left / 4);
    const json::value status(verification);
    const Piece& verified = memo.piece("verification_status/" + std::to_string(for_status) + "/" + json::serialize(status),
                                       [&] { return shorten_to("verification_status", status, for_status); });
    take("verification_status", verified);
    const Piece recent = shorten_to("recent_actions", json::value(recent_actions(memory)), std::min(budget.recent_actions, left / 3));
    take("recent_actions", recent);
    const Piece current = StateSection(spec, memory, memo, truncated).build(std::min(budget.current_state, left));
    take("current_state", current);
    if (!fixed.actions.empty()) { built.section_tokens["available_actions"] = fixed.actions_tokens; }
    built.text = frame.yaml + current.yaml + recent.yaml + verified.yaml + fixed.actions;
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

Result<BuiltContext> build_context(const RunSpec& spec, const FixedParts& fixed, const Memory& memory, const json::object& verification) {
    ContextMemo memo;
    return build_context(spec, fixed, memory, verification, memo);
}

}  // namespace agentforge::kernel
