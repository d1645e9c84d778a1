// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "audit/checks/audit_part.hpp"
#include "audit/checks/checks.hpp"
#include "base/counted.hpp"
#include "base/json_fields.hpp"
#include "git/objects.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

struct NamedTree {
    Sequence seq = 0;           ///< The first record that names it.
    bool is_only_gates = true;  ///< Only gates name it: the process ended after the gate, before the step's record.
};

bool is_object_id(const std::string& text) {
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Returns all trees named in records.
std::map<std::string, NamedTree> trees_of(const std::vector<Record>& records) {
    std::map<std::string, NamedTree> trees;
    for (const Record& record : records) {
        const bool is_gate = record.type() == records::Gate::type;
        for (const char* key : {"tree", "base_tree", "red_tree", "workspace_tree", "work_tree"}) {
            const std::string tree = text_of(record.body, key);
            if (!is_object_id(tree)) { continue; }
            NamedTree& named = trees.try_emplace(tree, NamedTree{record.seq}).first->second;
            named.is_only_gates = named.is_only_gates && is_gate;
        }
    }
    return trees;
}

/// The trees that records name, by their condition in the repository.
struct RecordedTrees {
    std::size_t named = 0;
    std::size_t missing = 0;
    std::string first_missing;
    Sequence first_missing_seq = 0;  ///< The first record that names a missing one.
    std::size_t only_gates = 0;      ///< Missing, and only gates name them.
    std::size_t shared = 0;          ///< Missing, but recorded by the task that this one continues from.
    std::size_t unfetched = 0;       ///< Files of them that a partial clone left on the server.
};

RecordedTrees check_recorded_trees(const AuditContext& context, AuditRepository& repository, AuditPart& part) {
    RecordedTrees trees;
    const bool partial = is_partial_clone(repository.path);
    const auto named = trees_of(context.records());
    trees.named = named.size();
    for (const auto& [tree, first] : named) {
        const bool is_here = repository.objects.has(tree);
        if (!is_here && first.seq <= context.shared_records()) {
            ++trees.shared;
        } else if (!is_here && first.is_only_gates) {
            ++trees.only_gates;
        } else if (!is_here) {
            ++trees.missing;
            if (trees.first_missing_seq != 0 && trees.first_missing_seq < first.seq) { continue; }
            trees.first_missing_seq = first.seq;
            trees.first_missing = tree + " of record " + std::to_string(first.seq);
        } else {
            for (const std::string& fault : repository.objects.faults_of_tree(tree)) {
                if (partial && fault.ends_with(" is missing")) {
                    ++trees.unfetched;
                } else {
                    part.fault("record " + std::to_string(first.seq) + ": " + fault);
                }
            }
        }
    }
    return trees;
}

std::string last_name(const RefTarget& ref) { return ref.name.substr(ref.name.rfind('/') + 1); }

/// Checks that the ref of each step points to the step's tree in the journal. Returns the last record with such a ref.
Sequence check_step_refs(const AuditContext& context, AuditPart& part, const std::vector<RefTarget>& refs) {
    std::map<std::string, std::pair<Sequence, std::string>> steps;  // By number: the record and the tree after it.
    for (const Record& each : context.records()) {
        if (const auto step = records::as<records::Step>(each)) {
            steps.emplace(std::to_string(records::envelope_in(each).step), std::pair(each.seq, *step->tree));
        }
    }
    const TaskState& state = context.state();
    Sequence vouched = 0;
    for (const RefTarget& ref : refs) {
        const std::string name = last_name(ref);
        if (!name.starts_with("step-")) { continue; }
        const std::string number = name.substr(5);
        const auto step = steps.find(number);
        if (step == steps.end()) {
            // The ref is written before the record: one step ahead means that a process ended between the two.
            if (number == std::to_string(state.steps + 1) && !is_terminal(state.status)) { continue; }
            part.fault("the ref " + ref.name + " is of a step that the journal does not have: its end was cut off");
        } else if (step->second.second != ref.id) {
            part.fault("the ref " + ref.name + " points to " + ref.id + ", but the journal says " + step->second.second);
        } else {
            vouched = std::max(vouched, step->second.first);
        }
    }
    context.add_voucher("refs", vouched);
    return vouched;
}

/// True if the ref shows that `gc` has not removed the task's trees: it leaves only the tests' tree.
bool is_before_gc(const TaskState& state, const RefTarget& ref) {
    const std::string name = last_name(ref);
    const bool is_recorded = name.starts_with("step-") || name.starts_with("seq-") || name.starts_with("answer-");
    return is_recorded && ref.id != state.red_tree && ref.id != delivery_base(state).red_tree;
}

/// `kept`: refs of the task keep the trees of its records up to this one in the repository. A later one may be only where a
/// command such as `rebase` ran. 0: they keep none.
void report_missing_trees(const AuditContext& context, AuditPart& part, const RecordedTrees& trees, Sequence kept) {
    if (trees.missing == 0) { return; }
    const std::string missing = counted(trees.missing, "recorded tree is", "recorded trees are");
    if (trees.first_missing_seq <= kept && !context.place.is_archive) {
        part.fault(missing + " not in the repository: " + trees.first_missing);
        return;
    }
    part.unchecked(missing + " not in this repository: " + trees.first_missing +
                   ". Either `agentforge gc` freed them, or they are only where the task ran, under refs/agentforge/" +
                   context.verdict.task_id);
}

void report_trees(AuditPart& part, const RecordedTrees& trees, std::uint64_t objects) {
    if (trees.only_gates != 0) {
        part.unchecked(counted(trees.only_gates, "tree that a gate measured is", "trees that gates measured are") +
                       " not in this repository: no step recorded it, because the process was killed, so git may free it");
    }
    if (trees.unfetched != 0) {
        part.unchecked(counted(trees.unfetched, "file is", "files are") +
                       " missing: this is a partial clone. Clone without --filter to check everything");
    }
    if (trees.shared != 0) {
        part.unchecked(counted(trees.shared, "recorded tree", "recorded trees") +
                       " of the task that this one continues from: freed there");
    }
    part.passed(counted(trees.named - trees.missing - trees.shared - trees.only_gates, "tree", "trees") + " whole, " +
                std::to_string(objects) + " objects");
}

}  // namespace

Result<void> check_trees(AuditContext& context, AuditRepository& repository) {
    AuditPart part(context.verdict, "trees");
    const RecordedTrees trees = check_recorded_trees(context, repository, part);
    AF_TRY(const auto refs, refs_below(repository.path, "refs/agentforge/" + context.verdict.task_id + "/"));
    const Sequence vouched = check_step_refs(context, part, refs);
    const bool has_refs = std::ranges::any_of(refs, [&](const RefTarget& ref) { return is_before_gc(context.state(), ref); });
    report_missing_trees(context, part, trees, has_refs ? vouched : 0);
    report_trees(part, trees, repository.objects.objects());
    return {};
}

}  // namespace agentforge::kernel
