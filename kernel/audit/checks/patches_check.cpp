// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>

#include "audit/checks/audit_part.hpp"
#include "audit/checks/checks.hpp"
#include "base/counted.hpp"
#include "base/files.hpp"
#include "records/records.hpp"
#include "secrets/restore.hpp"

namespace agentforge::kernel {

namespace {

/// Returns a patch with the ids of its `index` lines cut to the shortest length: git's `core.abbrev` decided their length.
std::string with_short_ids(const std::string& patch) {
    static const RE2 ids(R"((?m)^index ([0-9a-f]{7})[0-9a-f]*\.\.([0-9a-f]{7})[0-9a-f]*)");
    std::string text = patch;
    RE2::GlobalReplace(&text, ids, R"(index \1..\2)");
    return text;
}

/// A step's patch, and the trees before and after the step.
struct StepPatch {
    std::uint64_t step = 0;
    std::string name;
    std::string from;
    std::string to;
};

std::vector<StepPatch> recorded_patches(const std::vector<Record>& records) {
    std::vector<StepPatch> patches;
    TaskState state;
    for (const Record& each : records) {
        const std::string from = state.tree;
        if (!fold(state, each.body).ok()) { break; }
        const auto step = records::as<records::Step>(each);
        if (step && step->patch) { patches.push_back({state.steps, *step->patch, from, *step->tree}); }
    }
    return patches;
}

struct PatchCounts {
    std::size_t same = 0;
    std::size_t hidden = 0;     ///< A secret is hidden in them.
    std::size_t elsewhere = 0;  ///< The trees or the file are not here.
};

void compare_patch(const AuditContext& context, const AuditRepository& repository, AuditPart& part, const StepPatch& patch,
                   PatchCounts& counts) {
    const auto text = read_file(context.file(patch.name), largest_file);
    if (!text.ok() && context.is_fork()) {
        ++counts.elsewhere;
        return;
    }
    if (!text.ok()) {
        part.fault(patch.name + " cannot be read");
        return;
    }
    if (may_hold_placeholder(*text)) {
        ++counts.hidden;
        return;
    }
    if (!repository.objects.has(patch.from) || !repository.objects.has(patch.to)) {
        ++counts.elsewhere;
        return;
    }
    const auto made = repository.git.patch(patch.from, patch.to);
    if (!made.ok()) {
        part.fault(patch.name + " cannot be compared: " + made.error().message);
    } else if (with_short_ids(*made) == with_short_ids(*text)) {
        ++counts.same;
    } else {
        part.fault(patch.name + " is not the difference of the trees of step " + std::to_string(patch.step));
    }
}

}  // namespace

void check_patches(AuditContext& context, const AuditRepository& repository) {
    AuditPart part(context.verdict, "patches");
    PatchCounts counts;
    for (const StepPatch& patch : recorded_patches(context.records())) {
        compare_patch(context, repository, part, patch, counts);
    }
    if (counts.hidden != 0) {
        part.unchecked(counted(counts.hidden, "patch has", "patches have") + " a secret hidden, so they differ from the trees");
    }
    if (counts.elsewhere != 0) {
        part.unchecked(counted(counts.elsewhere, "patch", "patches") + ": its trees, or the file, are not here");
    }
    part.passed(counted(counts.same, "patch matches", "patches match") + " the recorded trees");
}

}  // namespace agentforge::kernel
