// SPDX-License-Identifier: Apache-2.0
#include "pipeline/delivery/delivery.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/ids.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "pipeline/gate_runs.hpp"
#include "pipeline/people/acting_changes.hpp"
#include "pipeline/tests/changed_tests.hpp"
#include "pipeline/tests/hand_back.hpp"
#include "pipeline/tests/suspicions.hpp"
#include "task/task_set.hpp"
#include "tools/acting_files.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view patch_place = "artifacts/delivery/change.patch";

/// Makes the text one line, because a model's text must not be able to add a trailer.
std::string one_line(std::string_view text) {
    std::string line;
    for (const char character : sanitize_utf8(text)) {
        line += static_cast<unsigned char>(character) < 0x20 || character == 0x7f ? ' ' : character;
    }
    return line;
}

std::string body_of(const DeliveryRequest& request) {
    std::string body = sanitize_utf8(request.body);
    while (!body.empty() && (body.back() == '\n' || body.back() == ' ')) { body.pop_back(); }
    return body;
}

std::string task_trailer(std::string_view task_id) { return "AgentForge-Task: " + std::string(task_id) + "\n"; }

std::string journal_trailer(const JournalHead& head) {
    return "AgentForge-Journal: " + std::to_string(head.seq) + ":" + head.hash + "\n";
}

/// Returns the report of the last gate that tried the tests on altered code: REFACTOR's if it changed the tree, else GREEN's.
Result<std::optional<GateReport>> newest_judgment_of_tests(const TaskSession& session) {
    AF_TRY(auto refactored, newest_report(session, gate_name::refactor));
    if (refactored && refactored->facts.contains("mutants_tried")) { return refactored; }
    return newest_report(session, gate_name::green);
}

/// Returns the findings of gates that do not block, for a person to check. Empty if there are none.
Result<std::string> notes_for_review(const TaskSession& session, TaskTrees& trees) {
    constexpr std::size_t most = 10;
    AF_TRY(std::vector<std::string> lines, hand_back_lines(session, trees));
    AF_TRY(const auto report, newest_judgment_of_tests(session));
    if (report) { std::ranges::move(suspicions(*report, session.state().held_out), std::back_inserter(lines)); }
    AF_TRY(const auto changed, changed_test_notes(session));
    const std::vector<std::string> changed_tests = descriptions(changed);
    lines.insert(lines.begin(), changed_tests.begin(), changed_tests.end());
    AF_TRY(std::vector<std::string> acting, acting_changes(session, trees, delivered_tree(session.state())));
    lines.insert(lines.begin(), acting.begin(), acting.end());
    std::string text;
    for (std::size_t at = 0; at < std::min(most, lines.size()); ++at) { text += "- " + one_line(lines[at]) + "\n"; }
    if (lines.size() > most) { text += "- and " + std::to_string(lines.size() - most) + " more\n"; }
    return text.empty() ? text : "To look at:\n" + text;
}

std::string commit_message(const TaskState& state, const JournalHead& head, const DeliveryRequest& request,
                           const DeliverySettings& settings, const std::string& review_notes) {
    std::string message = delivery_title(settings, one_line(request.title)) + "\n";
    if (const std::string body = body_of(request); !body.empty()) { message += "\n" + body + "\n"; }
    if (!review_notes.empty()) { message += "\n" + review_notes; }
    message += "\n";
    for (const auto& [name, value] : request.trailers) { message += one_line(name) + ": " + one_line(value) + "\n"; }
    message += task_trailer(state.task_id);
    if (!state.set_file.empty()) {
        message += "AgentForge-Set: " + std::filesystem::path(state.set_file).parent_path().filename().string() + "\n";
    }
    message += journal_trailer(head);
    if (!settings.co_author.empty()) { message += "Co-authored-by: " + one_line(settings.co_author) + "\n"; }
    return message;
}

/// One task's delivery, step by step.
class Deliverer {
public:
    Deliverer(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services, const DeliveryRequest& request)
        : session_(session),
          task_workspace_(task_workspace),
          services_(services),
          request_(request),
          stop_{&services.cancel, std::nullopt} {}

    Result<Delivery> run() {
        AF_TRY(const bool before, delivered_before());
        std::optional<TaskSet> set;
        if (!before) { AF_TRY(set, set_of_part()); }
        if (set) {
            AF_CHECK(deliver_in_set(*set));
        } else if (!before) {
            AF_CHECK(pass_gate_with_changes());
            if (settings().type == DeliveryType::files) {
                AF_CHECK(write_patch());
            } else {
                AF_CHECK(commit());
            }
        }
        if (state().delivery.is(DeliveryType::pr) && !state().delivery.pr_url) { AF_CHECK(publish()); }
        Delivery delivery{state().branch, state().commit, delivered_tree(state()), {}};
        AF_TRY(const auto delivered, task_workspace_.diff(state().base_tree, delivery.tree));
        for (const TreeChange& change : delivered) { delivery.files.push_back(change.path); }
        return delivery;
    }

private:
    [[nodiscard]] const TaskState& state() const { return session_.state(); }
    [[nodiscard]] const DeliverySettings& settings() const { return services_.delivery; }

    /// Handles a commit that was already delivered, but whose call's result was lost. Does not measure or commit again.
    Result<bool> delivered_before() {
        if (state().delivery.workspace_tree != state().tree) { return false; }
        if (!state().commit.empty()) {
            AF_TRY(const auto there, task_workspace_.branch(state().branch));
            return there && there->first == state().commit && there->second == delivered_tree(state());
        }
        const std::string patch = state().delivery.patch_file.value_or("");
        if (patch.empty()) { return false; }
        const auto text = read_file(session_.paths().root / patch);
        return text.ok() && sha256(*text) == state().delivery.patch_sha256;
    }

    Result<void> pass_gate_with_changes() {
        tree_ = state().tree;
        AF_CHECK(pass_gate());
        AF_TRY(const auto changes, task_workspace_.diff(state().base_tree, tree_));
        if (!changes.empty()) { return {}; }
        return Error{"AF-ORCH-031", "nothing was committed: the task changed no file", "tree " + tree_,
                     "if the request needs no change, abort the task", ErrorKind::invalid};
    }

    /// Returns the set that the task is a part of. The task that wrote the set's specification is not a part: it delivers by
    /// itself.
    Result<std::optional<TaskSet>> set_of_part() {
        if (state().set_file.empty()) { return std::optional<TaskSet>(); }
        AF_TRY(TaskSet set, load_set(state().set_file));
        if (set.specification_task == state().task_id) { return std::optional<TaskSet>(); }
        return std::optional(std::move(set));
    }

    /// Waits until the commits of all parts are ready. Then the set makes the branches, and each task takes over its own.
    Result<void> deliver_in_set(const TaskSet& set) {
        if (set.phase == SetPhase::delivering || set.phase == SetPhase::done) { return take_branch_of_set(); }
        if (!state().prepared || state().prepared->workspace_tree != state().tree) { AF_CHECK(prepare_commit()); }
        return Error{"AF-SET-001",
                     "the commit is ready; its branch is created together with those of the other parts of set " + set.id,
                     "task " + state().task_id, "agentforge resume " + set.id, ErrorKind::unavailable};
    }

    Result<void> prepare_commit() {
        AF_CHECK(check_leaves_branch(settings(), "delivery.type", ", then agentforge resume " + short_id(state().task_id)));
        AF_CHECK(pass_gate_with_changes());
        const std::string branch = delivery_branch(settings(), state().task_id, request_.title);
        AF_TRY(HookOrder hooks, hook_order(branch));
        AF_CHECK(pass_hooks(hooks));
        AF_TRY(const MadeCommit made, task_workspace_.commit(commit_order("", std::move(hooks.message)), stop_));
        AF_CHECK(task_workspace_.keep("delivered", tree_));
        return session_.record(records::DeliveryPrepared{state().stage().name, branch, made.id, tree_, state().tree,
                                                         hooks_.empty() ? "none" : hooks_});
    }

    Result<void> take_branch_of_set() {
        const PreparedCommit made = state().prepared.value_or(PreparedCommit());
        AF_TRY(const auto there, task_workspace_.branch(made.branch));
        if (!there || there->first != made.commit) {
            return Error{"AF-SET-013", "the branch " + made.branch + " is not at the commit of its set", "commit " + made.commit,
                         "move it there (git branch -f " + made.branch + " " + made.commit + "), then agentforge resume " +
                             short_id(state().task_id),
                         ErrorKind::unavailable};
        }
        tree_ = made.tree;
        hooks_ = made.commit_hooks;
        AF_TRY(const WrittenCommit written, task_workspace_.read_commit(made.commit));
        return record_commit(made.branch, MadeCommit{made.commit, written.is_signed()});
    }

    Result<void> pass_gate() {
        GateRequest gate;
        gate.gate = gate_name::deliver;
        AF_TRY(const GateReport report,
               run_and_record_gate(session_, task_workspace_, services_.events, gate, tree_, nullptr, stop_));
        if (report.passed) { return {}; }
        std::string issues;
        for (const std::string& issue : report.blocking_issues) { issues += (issues.empty() ? "" : "; ") + issue; }
        return Error{"AF-ORCH-030", "nothing was committed: the deliver gate does not pass: " + issues, "tree " + report.tree,
                     "fix what the gate reports; the measured tree is kept", ErrorKind::denied};
    }

    Result<void> pass_hooks(HookOrder& order) {
        if (settings().hooks == "skip") {
            hooks_ = "not run: delivery.hooks is skip";
            return {};
        }
        for (unsigned round = 0; round < 2; ++round) {
            AF_TRY(const HookVerdict verdict, judge_hooks(task_workspace_, services_, order, stop_));
            if (hooks_.empty()) { hooks_ = verdict.report.summary; }  // The first run reports what the hooks changed.
            if (!verdict.ran) { return {}; }
            AF_CHECK(record_gate(verdict.report));
            if (!verdict.report.passed) { return hook_refusal(verdict, "nothing was committed"); }
            if (!verdict.changed_tree) { return {}; }
            // A hook staged files, for example a formatter. Git would commit these, so they are measured, too.
            tree_ = order.tree;
            AF_CHECK(task_workspace_.keep("hooks", tree_));
            AF_CHECK(pass_gate());
        }
        return Error{"AF-GIT-048", "nothing was committed: the commit hooks change the files each time they run", "tree " + tree_,
                     "fix the hook so that a second run changes nothing, or set delivery.hooks: skip", ErrorKind::denied};
    }

    Result<void> record_gate(const GateReport& report) {
        records::Gate gate = gate_record(session_, report, report.gate);
        AF_TRY(gate.report, session_.keep(to_json(report)));
        return session_.record(gate);
    }

    Result<HookOrder> hook_order(const std::string& branch) {
        AF_TRY(const std::string review_notes, notes_for_review(session_, task_workspace_));
        return HookOrder{tree_, state().base_commit, branch,
                         commit_message(state(), session_.head(), request_, settings(), review_notes), settings().hook_timeout};
    }

    [[nodiscard]] CommitOrder commit_order(const std::string& branch, std::string message) const {
        CommitOrder order;
        order.tree = tree_;
        order.parent = state().base_commit;
        order.branch = branch;
        order.message = with_trailers(message, state().task_id, session_.head());
        order.time = services_.clock.now();
        order.author = settings().author;
        order.sign = settings().sign;
        order.may_sign = session_.may_sign();
        return order;
    }

    Result<void> commit() {
        const std::string branch = delivery_branch(settings(), state().task_id, request_.title);
        AF_TRY(const auto made, commit_before_crash(branch));
        if (made) { return record_commit(branch, *made); }
        AF_TRY(HookOrder hooks, hook_order(branch));
        AF_CHECK(pass_hooks(hooks));
        AF_TRY(const auto formatted, commit_before_crash(branch));  // Its tree is this one as changed by the hooks.
        if (formatted) { return record_commit(branch, *formatted); }
        auto commit = task_workspace_.commit(commit_order(branch, std::move(hooks.message)), stop_);
        if (!commit.ok()) {
            Error error = commit.error();
            // If a branch of that name exists, the user must move it; a model cannot.
            if (error.kind == ErrorKind::conflict) { error.kind = ErrorKind::unavailable; }
            return error;
        }
        return record_commit(branch, *commit);
    }

    /// Returns the branch's commit if this task made it and crashed before recording it, so that no second commit is made.
    Result<std::optional<MadeCommit>> commit_before_crash(const std::string& branch) {
        AF_TRY(const auto there, task_workspace_.branch(branch));
        if (!there || there->second != tree_) { return std::optional<MadeCommit>(); }
        AF_TRY(const WrittenCommit commit, task_workspace_.read_commit(there->first));
        const bool ours =
            commit.parent == state().base_commit && commit.message.find(task_trailer(state().task_id)) != std::string::npos;
        return ours ? std::optional(MadeCommit{there->first, commit.is_signed()}) : std::optional<MadeCommit>();
    }

    Result<void> record_commit(const std::string& branch, const MadeCommit& commit) {
        AF_CHECK(task_workspace_.keep("delivered", tree_));
        records::Delivered delivered = delivered_record(hooks_.empty() ? "none" : hooks_);
        delivered.branch = branch;
        delivered.commit = commit.id;
        delivered.signed_ = commit.is_signed;
        return record_with_drift(std::move(delivered));
    }

    Result<void> write_patch() {
        AF_TRY(const std::string patch, task_workspace_.whole_patch(state().base_tree, tree_));
        const std::filesystem::path file = session_.paths().root / patch_place;
        AF_CHECK(make_directories(file.parent_path()));
        AF_CHECK(write_file_atomic(file, patch, Durability::synced));
        AF_CHECK(task_workspace_.keep("delivered", tree_));
        records::Delivered delivered = delivered_record("not run: no commit is made");
        delivered.patch_file = patch_place;
        delivered.patch_sha256 = sha256(patch);
        return record_with_drift(std::move(delivered));
    }

    /// Returns the record without branch and commit.
    [[nodiscard]] records::Delivered delivered_record(const std::string& hooks) const {
        return {.stage = state().stage().name,
                .deliverable_type = std::string(to_string(settings().type)),
                .tree = tree_,
                .workspace_tree = state().tree,
                .base_commit = state().base_commit,
                .base_tree = state().base_tree,
                .branch = "",
                .commit = "",
                .commit_hooks = hooks};
    }

    Result<void> record_with_drift(records::Delivered delivered) {
        AF_TRY(const BaseDrift drift, task_workspace_.drift(state(), tree_));
        if (drift.moved()) { delivered.drift = recorded(drift); }
        return session_.record(delivered);
    }

    Result<void> publish() {
        PublishOrder order;
        order.branch = state().branch;
        order.commit = state().commit;
        order.remote = settings().remote;
        order.base = settings().base.empty() ? state().base_branch : settings().base;
        order.title = delivery_title(settings(), one_line(request_.title));
        AF_TRY(const std::string review_notes, notes_for_review(session_, task_workspace_));
        order.body =
            body_of(request_) + (review_notes.empty() ? "" : "\n\n" + review_notes) + "\n\nAgentForge-Task: " + state().task_id;
        services_.events.event(event::Message{state().stage().name, "pushing " + order.branch + " to " + order.remote});
        AF_TRY(const Published published, task_workspace_.publish(order, stop_));
        return session_.record(records::Published{.stage = state().stage().name,
                                                  .remote = published.remote,
                                                  .pr_url = published.url,
                                                  .published_by = published.by,
                                                  .publish_note = published.note});
    }

    TaskSession& session_;
    TaskWorkspace& task_workspace_;
    TaskServices& services_;
    const DeliveryRequest& request_;
    Stop stop_;
    std::string tree_;
    std::string hooks_;
};

}  // namespace

Error hook_refusal(const HookVerdict& verdict, const std::string& consequence) {
    const std::string message = consequence + ": " + verdict.report.blocking_issues.front();
    if (verdict.refuses_message && !verdict.could_not_run) {
        return Error{"AF-GIT-059", message, "tree " + verdict.report.tree,
                     "set delivery.title to a form that the hook accepts, such as \"feat: {title}\", then `agentforge resume`",
                     ErrorKind::unavailable};
    }
    if (!verdict.could_not_run) {
        return Error{
            "AF-GIT-047", message, "tree " + verdict.report.tree,
            "fix what the hook reports, then `agentforge resume`; or skip hooks with delivery.hooks: skip (the report says so)",
            ErrorKind::denied};
    }
    return Error{
        "AF-GIT-058", message, "tree " + verdict.report.tree,
        "hooks run in the sandbox, without network or home folder: allow what the hook needs with gates.readable, or set delivery.hooks: skip; then `agentforge resume`",
        ErrorKind::unavailable};
}

std::string with_trailers(std::string_view message, std::string_view task_id, const JournalHead& head) {
    constexpr std::string_view task_key = "AgentForge-Task:";
    constexpr std::string_view journal_key = "AgentForge-Journal:";
    bool has_task = false;
    bool has_journal = false;
    std::vector<std::string> lines;  // The last one first.
    const auto replace = [&](bool& is_there, std::string trailer) {
        if (!std::exchange(is_there, true)) { lines.push_back(std::move(trailer)); }
    };
    message = message.substr(0, message.find_last_not_of(" \t\r\n") + 1);
    while (!message.empty()) {
        const std::size_t begin = message.rfind('\n') + 1;  // 0 in the first line.
        const std::string_view line = message.substr(begin);
        if (line.starts_with(task_key)) {
            replace(has_task, task_trailer(task_id));
        } else if (line.starts_with(journal_key)) {
            replace(has_journal, journal_trailer(head));
        } else {
            lines.push_back(std::string(line.substr(0, line.find_last_not_of('\r') + 1)) + "\n");
        }
        message = message.substr(0, begin == 0 ? 0 : begin - 1);
    }
    std::ranges::reverse(lines);
    if (!has_task && !has_journal) { lines.emplace_back("\n"); }
    if (!has_task) { lines.push_back(task_trailer(task_id)); }
    if (!has_journal) { lines.push_back(journal_trailer(head)); }
    std::string text;
    for (const std::string& line : lines) { text += line; }
    return text;
}

json::object delivered_facts(const TaskState& state) {
    const DeliveryFacts& delivery = state.delivery;
    json::object facts{{"deliverable_type", delivery.deliverable_type.value_or(std::string(to_string(DeliveryType::commit)))}};
    records::write_field(facts, "base_commit", delivery.base_commit);
    records::write_field(facts, "patch_file", delivery.patch_file);
    records::write_field(facts, "signed", delivery.signed_);
    records::write_field(facts, "commit_hooks", delivery.commit_hooks);
    records::write_field(facts, "drift", delivery.drift);
    if (delivery.pr_url) { facts["pr_url"] = text_or_null(*delivery.pr_url); }
    if (delivery.replaces && !delivery.drift) { facts["drift"] = nullptr; }
    if (!state.commit.empty()) {
        facts["commit_sha"] = state.commit;
        facts["branch"] = state.branch;
    }
    return facts;
}

namespace {

/// Checks the files that a hook changed: the hook is the user's, but it may run programs of the task, which could add files.
bool hook_may_change(const std::string& path, const ActingLinks& links) {
    return normalize_path(path).ok() && !acts_later(path) && links.leading_to(path).empty();
}

/// One run of the commit hooks, and its verdict on the change.
class HookJudgment {
public:
    HookJudgment(TaskWorkspace& task_workspace, TaskServices& services, HookOrder& order, const Stop& stop)
        : task_workspace_(task_workspace), services_(services), order_(order), stop_(stop) {}

    Result<HookVerdict> judge();

private:
    void report_runs();
    Result<void> judge_refusal();
    Result<void> compare_with_parent();
    Result<void> judge_changed_files();
    Result<void> take_changes();

    TaskWorkspace& task_workspace_;
    TaskServices& services_;
    HookOrder& order_;
    const Stop& stop_;
    HookReport hooks_;
    HookVerdict verdict_;
    GateReport& report_ = verdict_.report;
};

Result<HookVerdict> HookJudgment::judge() {
    AF_TRY(hooks_, task_workspace_.hooks(order_, services_.delivery.author, stop_));
    report_runs();
    if (hooks_.runs.empty()) { return std::move(verdict_); }
    verdict_.ran = true;
    AF_CHECK(report_.passed ? judge_changed_files() : judge_refusal());
    if (!report_.passed) {
        report_.summary = ellipsis(one_line(report_.blocking_issues.front()), 300);
        return std::move(verdict_);
    }
    AF_CHECK(take_changes());
    return std::move(verdict_);
}

void HookJudgment::report_runs() {
    report_.gate = gate_name::hooks;
    report_.tree = order_.tree;
    report_.passed = hooks_.passed();
    json::array runs;
    for (const HookRun& run : hooks_.runs) {
        runs.push_back(json::object{{"name", run.name},
                                    {"exit_code", run.exit_code},
                                    {"timed_out", run.timed_out},
                                    {"output", run.output},
                                    {"duration_ms", run.duration.count()}});
        report_.duration += run.duration;
    }
    json::array changed;
    for (const auto& [path, content] : hooks_.changed) { changed.emplace_back(sanitize_utf8(path)); }
    report_.facts = {
        {"hooks", std::move(runs)}, {"notes", json::array(hooks_.notes.begin(), hooks_.notes.end())}, {"changed", changed}};
    if (!hooks_.confinement.empty()) { report_.facts["confinement"] = hooks_.confinement; }
    for (const std::string& note : hooks_.notes) { report_.summary += (report_.summary.empty() ? "" : "; ") + note; }
}

Result<void> HookJudgment::judge_refusal() {
    const HookRun& last = hooks_.runs.back();
    verdict_.refuses_message = last.name != "pre-commit";
    verdict_.could_not_run = last.timed_out || last.exit_code == 126 ||
                             last.exit_code == 127;  // A shell's exit codes for a program that it cannot run.
    report_.blocking_issues.push_back("the hook " + last.name +
                                      (last.timed_out ? " did not finish within " + std::to_string(order_.timeout.count()) + " s"
                                                      : " refuses it (exit code " + std::to_string(last.exit_code) + ")") +
                                      (last.output.empty() ? "" : ": " + ellipsis(last.output, 1500)));
    return verdict_.refuses_message || verdict_.could_not_run ? Result<void>() : compare_with_parent();
}

/// Control run: if the hooks also refuse the commit before the task, with nothing staged, their refusal says nothing about the
/// change.
Result<void> HookJudgment::compare_with_parent() {
    AF_TRY(const WrittenCommit parent, task_workspace_.read_commit(order_.parent));
    HookOrder nothing = order_;
    nothing.tree = parent.tree;
    AF_TRY(const HookReport control, task_workspace_.hooks(nothing, services_.delivery.author, stop_));
    verdict_.could_not_run = !control.passed();
    if (verdict_.could_not_run) { report_.blocking_issues.front() += "\n(it also refuses the commit from before the task)"; }
    return {};
}

Result<void> HookJudgment::judge_changed_files() {
    AF_TRY(const ActingLinks links, task_workspace_.acting_links(report_.tree));
    for (const auto& [path, content] : hooks_.changed) {
        if (hook_may_change(path, links)) { continue; }
        report_.passed = false;
        report_.blocking_issues.push_back("the hooks changed " + sanitize_utf8(path) +
                                          ", which is protected or is run later; a program of the task may have caused this");
    }
    return {};
}

/// Adds the hooks' changes to the order.
Result<void> HookJudgment::take_changes() {
    order_.message = hooks_.message;
    if (!hooks_.changed.empty()) {
        AF_TRY(order_.tree, task_workspace_.edit(order_.tree, hooks_.changed));
        verdict_.changed_tree = order_.tree != report_.tree;
    }
    std::string names;
    for (const HookRun& run : hooks_.runs) { names += (names.empty() ? "" : ", ") + run.name; }
    report_.summary = names + " passed" +
                      (verdict_.changed_tree ? " and changed " + std::to_string(hooks_.changed.size()) +
                                                   (hooks_.changed.size() == 1 ? " file" : " files")
                                             : "") +
                      (report_.summary.empty() ? "" : "; " + report_.summary);
    return {};
}

}  // namespace

Result<HookVerdict> judge_hooks(TaskWorkspace& task_workspace, TaskServices& services, HookOrder& order, const Stop& stop) {
    return HookJudgment(task_workspace, services, order, stop).judge();
}

Result<void> check_leaves_branch(const DeliverySettings& settings, const std::string& where, const std::string& then) {
    if (settings.type != DeliveryType::files) { return {}; }
    return Error{"AF-SET-012", "a part of a set is delivered as a branch, but delivery.type is `files`", where,
                 "set it to commit, branch or pr" + then, ErrorKind::unavailable};
}

Result<Delivery> deliver_task(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services, StageClock& clock,
                              const DeliveryRequest& request) {
    const StageClock::Pause measuring(clock);  // Time for gates, hooks, a passphrase and a push does not count as agent time.
    return Deliverer(session, task_workspace, services, request).run();
}

}  // namespace agentforge::kernel
