// SPDX-License-Identifier: Apache-2.0
// Rebases a delivered change onto a base that has moved: merges, measures, commits. Also archives ended tasks.
#include <filesystem>

#include "base/advice.hpp"
#include "base/ids.hpp"
#include "config/gate_names.hpp"
#include "contracts/names.hpp"
#include "gates/engine/baseline.hpp"
#include "pipeline/delivery/delivery.hpp"
#include "pipeline/gate_runs.hpp"
#include "pipeline/pipeline_controller.hpp"
#include "pipeline/task_run.hpp"

namespace agentforge::kernel {

namespace {

std::string listed_paths(const std::vector<std::string>& paths) {
    std::string text;
    for (std::size_t index = 0; index < paths.size() && index < 8; ++index) { text += (index == 0 ? "" : ", ") + paths[index]; }
    return text + (paths.size() > 8 ? " and " + std::to_string(paths.size() - 8) + " more" : "");
}

/// Runs a gate, and tells the events that it begins and how it ended.
Result<GateReport> announced_gate(const TaskSession& session, TaskGates& gates, EventSink& events, std::string_view shown_as,
                                  const GateCall& call, const Stop& stop) {
    const std::string& stage = session.state().stage().name;
    events.event(event::GateStarted{std::string(shown_as), stage});
    AF_TRY(GateReport report, gates.gate(call, stop));
    events.event(event::GateTried{std::string(shown_as), stage, report.passed, report.summary,
                                  static_cast<std::uint64_t>(report.duration.count())});
    return report;
}

/// One rebase of one task; the session holds its lock.
class Rebaser {
public:
    Rebaser(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services)
        : session_(session),
          task_workspace_(task_workspace),
          services_(services),
          base_(delivery_base(session.state())),
          stop_{&services.cancel, std::nullopt} {}

    /// Finishes an earlier rebase: a killed process may have moved the branch without recording it.
    Result<void> finish_earlier() {
        if (!state().rebase) { return {}; }
        const records::RebasePrepared prepared = *state().rebase;
        AF_TRY(const auto there, task_workspace_.branch(prepared.branch));
        if (!there || there->first != prepared.commit) { return {}; }  // The branch was not moved: starts again.
        AF_CHECK(record(prepared));
        base_ = delivery_base(state());
        return {};
    }

    Result<RebaseResult> run(bool dry_run, bool renews) {
        AF_TRY(result_.drift, task_workspace_.drift(state(), delivered_tree(state())));
        if (!result_.done) { result_.replaced = state().commit; }
        result_.branch = state().branch;
        result_.since_rebase = base_.commit != state().base_commit;
        if (!result_.drift.moved() && !renews) { return result_; }
        AF_CHECK(check_branch());
        if (dry_run && result_.drift.conflicts.empty()) { return result_; }
        result_.replaced = state().commit;
        AF_TRY(const WrittenCommit head, task_workspace_.read_commit(result_.drift.head));
        AF_TRY(tree_, merged(head.tree, delivered_tree(state())));
        if (dry_run) { return result_; }
        if (!base_.red_tree.empty()) { AF_TRY(red_tree_, merged(head.tree, base_.red_tree)); }
        AF_CHECK(task_workspace_.keep("rebased", tree_));
        if (!red_tree_.empty()) { AF_CHECK(task_workspace_.keep("rebased-tests", red_tree_)); }
        AF_TRY(baseline_, baseline_on_new_base(session_, task_workspace_, services_.events, {head.tree, red_tree_}, stop_));
        AF_CHECK(pass_deliver_gate());
        AF_TRY(const records::RebasePrepared prepared, prepare(head.tree));
        AF_CHECK(session_.record(prepared));
        AF_CHECK(task_workspace_.move_branch(prepared.branch, prepared.replaces, prepared.commit));
        AF_CHECK(record(prepared));
        return result_;
    }

private:
    [[nodiscard]] const TaskState& state() const { return session_.state(); }

    /// Measuring takes minutes, so a branch that cannot be moved afterwards is refused before it.
    Result<void> check_branch() {
        if (state().rebase) {
            AF_TRY(const auto there, task_workspace_.branch(state().rebase->branch));
            if (there && there->first == state().rebase->commit) { return {}; }  // `finish_earlier` records it.
        }
        return task_workspace_.check_branch(state().branch, state().commit);
    }

    Result<std::string> merged(const std::string& head_tree, const std::string& tree) {
        AF_TRY(const TreeMerge merge, task_workspace_.merge(base_.tree, head_tree, tree));
        if (merge.conflicts.empty()) { return merge.tree; }
        return Error{
            "AF-GIT-051",
            "the change does not merge with newer commits; nothing was changed. Conflicts: " + listed_paths(merge.conflicts),
            "branch " + state().branch,
            "rebase it yourself: git rebase --onto " +
                (result_.drift.branch.empty() ? result_.drift.head : result_.drift.branch) + " " + base_.commit + " " +
                state().branch + "; or start the request again on the new base",
            ErrorKind::conflict};
    }

    /// Records the failed measurement, so that the task's history shows the attempt.
    Result<void> refuse(const std::string& message, const GateReport& report) {
        AF_TRY(const records::Kept kept, session_.keep(to_json(report)));
        return session_.record(records::Note{message, tree_, kept});
    }

    Result<void> pass_deliver_gate() {
        GateCall call;
        call.request.gate = gate_name::deliver;
        call.tree = tree_;
        call.baseline = &baseline_;
        AF_TRY(report_, announced_gate(session_, task_workspace_, services_.events, gate_name::deliver, call, stop_));
        result_.summary = report_.summary;
        if (report_.passed) { return {}; }
        const std::string message = "the merged change does not pass the deliver gate on the new base; nothing was changed: " +
                                    listed_paths(report_.blocking_issues);
        AF_CHECK(refuse(message, report_));
        return Error{"AF-GIT-052", message, "tree " + tree_,
                     "see it with `git diff " + result_.drift.head + " refs/agentforge/" + state().task_id +
                         "/rebased`; start the request again on the new base, or fix the branch by hand",
                     ErrorKind::denied};
    }

    /// Makes the commit. No branch points to it yet.
    Result<records::RebasePrepared> prepare(const std::string& head_tree) {
        AF_TRY(const MadeCommit made, commit());
        AF_TRY(records::Kept report, session_.keep(to_json(report_)));
        return records::RebasePrepared{made.id,          result_.branch,   tree_,           result_.drift.head, head_tree,
                                       red_tree_,        result_.replaced, result_.summary, result_.hooks,      made.is_signed,
                                       std::move(report)};
    }

    Result<void> record(const records::RebasePrepared& prepared) {
        AF_CHECK(session_.record(records::Rebased{.commit = prepared.commit,
                                                  .branch = prepared.branch,
                                                  .tree = prepared.tree,
                                                  .base_commit = prepared.base_commit,
                                                  .base_tree = prepared.base_tree,
                                                  .red_tree = prepared.red_tree,
                                                  .replaces = prepared.replaces,
                                                  .gate_passed = true,
                                                  .summary = prepared.summary,
                                                  .commit_hooks = prepared.commit_hooks,
                                                  .signed_ = prepared.signed_,
                                                  .drift = json::value(nullptr),
                                                  .report = prepared.report}));
        result_.commit = prepared.commit;
        result_.replaced = prepared.replaces;
        result_.pushed_before = state().delivery.pr_url.has_value();
        result_.done = true;
        return {};
    }

    Result<MadeCommit> commit() {
        AF_TRY(const WrittenCommit before, task_workspace_.read_commit(result_.replaced));
        HookOrder hooks{tree_, result_.drift.head, result_.branch, before.message, services_.delivery.hook_timeout};
        result_.hooks = "not run: delivery.hooks is skip";
        for (unsigned round = 0; services_.delivery.hooks == "run"; ++round) {
            AF_TRY(const HookVerdict verdict, judge_hooks(task_workspace_, services_, hooks, stop_));
            result_.hooks = verdict.report.summary.empty() ? "none" : verdict.report.summary;
            if (verdict.ran && !verdict.report.passed) {
                AF_CHECK(refuse(verdict.report.blocking_issues.front(), verdict.report));
                return hook_refusal(verdict, "nothing was changed");
            }
            if (!verdict.changed_tree) { break; }
            if (round > 0) {
                return Error{"AF-GIT-048", "nothing was changed: the commit hooks change the files each time they run",
                             "tree " + tree_, "fix the hook so that a second run changes nothing", ErrorKind::denied};
            }
            tree_ = hooks.tree;
            AF_CHECK(task_workspace_.keep("rebased", tree_));
            AF_CHECK(pass_deliver_gate());
        }
        CommitOrder order;
        order.tree = tree_;
        order.parent = result_.drift.head;
        order.message = with_trailers(hooks.message, session_.state().task_id, session_.head());
        order.time = services_.clock.now();
        order.author = services_.delivery.author;
        order.sign = services_.delivery.sign;
        order.may_sign = session_.may_sign();
        return task_workspace_.commit(order, stop_);
    }

    TaskSession& session_;
    TaskWorkspace& task_workspace_;
    TaskServices& services_;
    DeliveryBase base_;
    Stop stop_;
    RebaseResult result_;
    GateBaseline baseline_;
    GateReport report_;
    std::string tree_;
    std::string red_tree_;
};

}  // namespace

Result<GateBaseline> baseline_on_new_base(const TaskSession& session, TaskGates& gates, EventSink& events, const NewBase& base,
                                          const Stop& stop) {
    GateBaseline baseline;
    baseline.base_tree = base.tree;
    GateCall suite;
    suite.request.gate = gate_name::tests;
    suite.tree = base.tree;
    AF_TRY(GateReport before, announced_gate(session, gates, events, gate_name::baseline, suite, stop));
    baseline.base_tests = std::move(before.tests);
    // Results of tests that were flaky before the task do not count here either.
    AF_TRY(const auto known, newest_report(session, gate_name::baseline));
    if (known) { baseline.flaky = fact_texts(known->facts, "flaky"); }
    const std::vector<StageTemplate>& stages = session.state().pipeline.stages;
    const auto delivering = std::ranges::find_if(stages, makes_delivery);
    const bool against_tests =
        delivering == stages.end() || compared_tree(*delivering, gate_name::deliver) == ComparedTree::locked_tests;
    if (against_tests) { baseline.red_tree = base.red_tree; }
    AF_TRY(const auto specification, session.artifact_of(contract_name::specification));
    AF_TRY(const auto test_suite, session.test_suite());
    baseline.specification = specification.value_or(json::object());
    baseline.test_suite = test_suite.value_or(json::object());
    AF_TRY(baseline.test_files, locked_tests(session));
    if (!base.red_tree.empty()) {
        AF_TRY(auto red, newest_report(session, gate_name::red));
        if (red) { baseline.red_tests = std::move(red->tests); }
    }
    return baseline;
}

Result<RebaseResult> PipelineController::rebase(std::string_view task_id, bool dry_run) {
    AF_TRY(auto session,
           TaskSession::open(setup_.store, task_id, setup_.services.clock, setup_.command, setup_.services.redactor));
    const TaskState& state = session->state();
    if (state.status != TaskStatus::completed || state.commit.empty()) {
        const bool patch = state.delivery.is(DeliveryType::files);
        return Error{
            "AF-GIT-050",
            "task " + state.task_id +
                (patch ? " delivered a patch, not a commit"
                       : " has delivered no commit (it is " + std::string(to_string(state.status)) + ")"),
            "", patch ? "`agentforge apply " + short_id(state.task_id) + "` applies the change to your checkout" : see_status,
            ErrorKind::invalid};
    }
    if (std::error_code error; !std::filesystem::exists(session->paths().blobs() / "blobs.yaml", error)) {
        return Error{
            "AF-JRNL-011", "the blobs of task " + state.task_id + " were freed (`agentforge gc --blobs`); a rebase needs them",
            session->paths().blobs().string(),
            "`agentforge archive restore " + short_id(state.task_id) + "`, then repeat the command", ErrorKind::not_found};
    }
    bool renews = false;  // A commit without its statement gets a new one, even on the same base.
    if (!dry_run) { AF_TRY(renews, check_proof(setup_, *session)); }
    AF_TRY(const auto task_workspace, setup_.task_workspaces.open(state));
    Rebaser rebaser(*session, *task_workspace, setup_.services);
    if (!dry_run) { AF_CHECK(rebaser.finish_earlier()); }
    auto result = rebaser.run(dry_run, renews);
    const Result<void> closed = task_workspace->close();  // The task has ended: removes its worktree, whatever the outcome.
    if (!dry_run) { prove_and_archive(setup_, *session); }
    if (result.ok() && !closed.ok()) { return closed.error(); }
    return result;
}

}  // namespace agentforge::kernel
