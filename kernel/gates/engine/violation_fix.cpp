// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/violation_fix.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gates/conformance/named_violations.hpp"

namespace agentforge::kernel {

namespace {

bool is_same_kind(const NamedViolation& one, const NamedViolation& other) {
    return one.violation.file == other.violation.file && one.violation.check_id == other.violation.check_id &&
           one.text == other.text;
}

/// Returns the lines that replaced a violation's line. Empty if its file is gone or was moved, or the lines are unknown.
Result<std::optional<LineRange>> current_part(TreeCheckout& checkout, const GateCall& call, const NamedViolation& before) {
    AF_TRY(const auto then, checkout.file(call.baseline->base_tree, before.violation.file));
    AF_TRY(const auto now, checkout.file(call.tree, before.violation.file));
    if (!then || !now) { return std::optional<LineRange>(); }
    return part_of_line(*then, *now, before.violation.line);
}

}  // namespace

/// One judgment.
class ViolationFix::Judgment {
public:
    Judgment(ViolationFix& fix, const GateCall& call, GateReport& report, const Stop& stop)
        : fix_(fix), call_(call), report_(report), stop_(stop) {}

    Result<void> judge();

private:
    Result<void> gather_paths();
    Result<void> look_for_target(const std::vector<Finding>& before, const std::vector<Finding>& now);
    void report_remaining(const Violation& violation);
    void report_new(const Finding& finding);
    [[nodiscard]] bool is_target(const NamedViolation& one) const { return !wanted_.empty() && one.id == wanted_.front().id; }
    [[nodiscard]] bool is_reported(const Violation& violation) const;

    ViolationFix& fix_;
    const GateCall& call_;
    GateReport& report_;
    const Stop& stop_;
    std::set<std::string> paths_;         ///< What the task changed, and the violation's file.
    std::vector<NamedViolation> wanted_;  ///< The violation to fix, if the call names one.
    bool gone_ = true;
    bool nothing_new_ = true;
};

Result<void> ViolationFix::judge(const GateCall& call, GateReport& report, const Stop& stop) {
    return Judgment(*this, call, report, stop).judge();
}

Result<void> ViolationFix::Judgment::judge() {
    AF_CHECK(gather_paths());
    if (!paths_.empty()) {
        const std::vector<std::string> files(paths_.begin(), paths_.end());
        AF_TRY(const auto before, fix_.findings_.find(call_.baseline->base_tree, files, stop_));
        AF_TRY(const auto now, fix_.findings_.find(call_.tree, files, stop_));
        AF_CHECK(look_for_target(before, now));
        for (const auto& finding : only_new(now, before)) { report_new(finding); }
    }
    report_.facts["violation_gone"] = gone_;
    report_.facts["no_new_violations"] = nothing_new_;
    return {};
}

Result<void> ViolationFix::Judgment::gather_paths() {
    AF_TRY(const auto changes, fix_.checkout_.changes(call_.baseline->base_tree, call_.tree));
    for (const auto& change : changes) {
        paths_.insert(change.path);
        if (!change.old_path.empty()) { paths_.insert(change.old_path); }
    }
    const auto* target = call_.request.parameters.if_contains("violation");
    if (target == nullptr) { return {}; }
    AF_TRY(auto named, named_violation_from_json(target->as_object(), "the task"));
    paths_.insert(named.violation.file);
    wanted_.push_back(std::move(named));
    return {};
}

Result<void> ViolationFix::Judgment::look_for_target(const std::vector<Finding>& before, const std::vector<Finding>& now) {
    const auto same = [this](const NamedViolation& one) { return is_target(one); };
    // Finds the violation among others with the same text by its neighbours. Names them all, so that none is mistaken for
    // it.
    const auto known = name_violations(before, wanted_);
    std::optional<LineRange> part;
    const auto target_before = std::ranges::find_if(known, same);
    if (target_before != known.end()) { AF_TRY(part, current_part(fix_.checkout_, call_, *target_before)); }
    const auto named_now = name_violations(now, known);
    if (part) {
        const auto alike = [&](const NamedViolation& each) { return is_same_kind(each, *target_before); };
        // If there are as many as before, it only moved within the file.
        if (std::ranges::count_if(named_now, alike) >= std::ranges::count_if(known, alike)) { part.reset(); }
    }
    const bool by_id = !part && std::ranges::any_of(named_now, same);
    for (const auto& each : named_now) {
        // If the same text violates the check several times, the ids may now belong to the remaining ones.
        const bool is_left = by_id ? same(each)
                                   : part && is_same_kind(each, *target_before) && each.violation.line >= part->first &&
                                         each.violation.line <= part->last;
        if (is_left) { report_remaining(each.violation); }
    }
    return {};
}

void ViolationFix::Judgment::report_remaining(const Violation& violation) {
    gone_ = false;
    report_.blocking_issues.push_back(violation.file + ":" + std::to_string(violation.line) +
                                      ": the violation is still there: " + violation.message + " (" + violation.check_id + ")" +
                                      (violation.fix_hint.empty() ? "" : ". " + violation.fix_hint));
}

void ViolationFix::Judgment::report_new(const Finding& finding) {
    nothing_new_ = false;
    const auto& violation = finding.violation;
    const bool known = is_reported(violation);
    if (!known) { report_.violations.push_back(violation); }
    if (known && finding.blocks) { return; }
    report_.blocking_issues.push_back(violation.file + ":" + std::to_string(violation.line) + ": " + violation.message + " (" +
                                      violation.check_id + "). It is new; a fix must not add a violation of any severity" +
                                      (violation.fix_hint.empty() ? "." : ". " + violation.fix_hint));
}

bool ViolationFix::Judgment::is_reported(const Violation& violation) const {
    return std::any_of(report_.violations.begin(), report_.violations.end(), [&](const Violation& each) {
        return each.check_id == violation.check_id && each.file == violation.file && each.line == violation.line;
    });
}

}  // namespace agentforge::kernel
