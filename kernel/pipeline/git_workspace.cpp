// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <filesystem>
#include <utility>

#include "audit/signature.hpp"
#include "audit/statement.hpp"
#include "audit/verify.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "git/archives.hpp"
#include "git/branches.hpp"
#include "git/gc_hold.hpp"
#include "git/git_configuration.hpp"
#include "git/git_stand_in.hpp"
#include "git/objects.hpp"
#include "pipeline/delivery/drift.hpp"
#include "pipeline/gates_without_task.hpp"
#include "pipeline/task_workspace.hpp"
#include "pipeline/task_workspace_factory.hpp"
#include "task/own_journal.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> readable_folders(const json::object& settings) {
    std::vector<std::string> folders;
    const json::value* list = settings.if_contains("readable");
    if (list == nullptr || !list->is_array()) { return folders; }
    for (const json::value& folder : list->get_array()) {
        if (folder.is_string()) { folders.emplace_back(folder.get_string()); }
    }
    return folders;
}

class GitTaskWorkspace final : public TaskWorkspace {
public:
    GitTaskWorkspace(std::string task_id, fs::path folder, Repository repository, Worktree work, const std::string& commit,
                     std::string base_tree, ProcessRunner& processes, const GateRunner::Options& gate_options, bool scratch)
        : task_id_(std::move(task_id)),
          folder_(std::move(folder)),
          in_use_(lock_folder(folder_)),
          repository_(std::move(repository)),
          gc_hold_(repository_.git_directory()),
          work_(std::move(work)),
          base_tree_(std::move(base_tree)),
          untouched_(work_.is_new()),
          environment_(gate_options.environment),
          readable_(readable_folders(gate_options.settings)),
          processes_(processes),
          root_(work_.path().string()),
          gates_(
              make_tree_checkout(repository_, folder_ / "verify",
                                 [place = repository_.work_directory(), verify = folder_ / "verify", name = task_id_ + "-verify",
                                  commit] { return Worktree::ensure(place, verify, name, commit); }),
              processes_, gate_options),
          baseline_runs_(gate_options.baseline_runs),
          held_out_(gate_options.held_out),
          scratch_(scratch) {}

    [[nodiscard]] const std::string& root() const noexcept override { return root_; }
    [[nodiscard]] std::string scratch() const override { return (folder_ / "scratch").string(); }

    [[nodiscard]] Result<void> clear_scratch() override {
        for (const char* name : {"scratch", "gates"}) {
            std::error_code failure;
            fs::remove_all(folder_ / name, failure);
            if (failure) {
                return Error{"AF-GIT-067", "Cannot empty a folder with leftover files of programs: " + failure.message(),
                             (folder_ / name).string(), "Remove it, then resume.", ErrorKind::io};
            }
            AF_CHECK(make_directories(folder_ / name));
        }
        return {};
    }

    [[nodiscard]] Result<void> restore(const std::string& tree) override {
        // The worktree was just written, and no one has its path yet.
        if (const bool untouched = std::exchange(untouched_, false); untouched && tree == base_tree_) { return {}; }
        return work_.reset_to(tree, true);
    }

    [[nodiscard]] Result<std::string> snapshot(const std::vector<std::string>& paths) override {
        gc_hold_.renew();
        return paths.empty() ? work_.snapshot() : work_.snapshot_paths(paths);
    }

    [[nodiscard]] std::vector<std::string> submodules() override { return work_.submodules(); }
    [[nodiscard]] std::vector<std::string> unrecordable() override { return work_.unrecordable(); }

    [[nodiscard]] Result<void> keep(const std::string& name, const std::string& tree) override {
        return scratch_ ? Result<void>() : repository_.keep_tree(task_id_ + "/" + name, tree);
    }

    [[nodiscard]] Result<std::vector<TreeChange>> diff(const std::string& from, const std::string& to) override {
        return repository_.diff(from, to);
    }

    [[nodiscard]] Result<std::optional<std::string>> file_in_tree(const std::string& tree, const std::string& path) override {
        return repository_.file_in_tree(tree, path);
    }

    [[nodiscard]] Result<std::string> patch(const std::string& from, const std::string& to) override {
        return repository_.patch(from, to);
    }

    [[nodiscard]] Result<GateReport> gate(const GateCall& call, const Stop& stop) override {
        gc_hold_.renew();
        return gates_.run(call, stop);
    }
    [[nodiscard]] Result<std::string> gate_inputs() override { return gates_.inputs(); }
    [[nodiscard]] std::vector<GateCommand> take_gate_commands() override { return gates_.take_commands(); }
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string& tree) override {
        return gates_.scaffold(tree);
    }
    [[nodiscard]] std::int64_t baseline_runs() const override { return baseline_runs_; }
    [[nodiscard]] bool holds_out_tests() const override { return held_out_; }

    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop) override {
        return gates_.skeleton(tree, interfaces, stop);
    }

    [[nodiscard]] Result<void> try_specification(const std::string& tree, const json::object& specification,
                                                 const Stop& stop) override {
        return gates_.try_specification(tree, specification, stop);
    }

    [[nodiscard]] Result<ActingLinks> acting_links(const std::string& tree) override {
        if (symbols_ && symbols_of_ == tree) { return symbols_->acting; }
        AF_TRY(const auto links, repository_.links_in_tree(tree));
        return ActingLinks(links);
    }

    [[nodiscard]] Result<std::shared_ptr<const PathSymbols>> path_symbols(const std::string& tree) override {
        // A stage and each of its agents ask for this, and computing it reads every path of the tree.
        if (symbols_ && symbols_of_ == tree) { return symbols_; }
        AF_TRY(auto meaning, gates_.path_meaning(tree));
        auto symbols = std::make_shared<PathSymbols>();
        symbols->tests = {meaning.tests, meaning.only_tests, meaning.tests_text};
        symbols->sources = {meaning.sources, meaning.sources, meaning.sources_text};
        // Every file that is not in `tree`, so a stage sees the same rules before and after it writes.
        const auto created = [this, tree](std::string_view path) {
            const auto before = repository_.file_in_tree(tree, std::string(path));
            return before.ok() && !*before;
        };
        symbols->created = {created, created, "files that this task created"};
        AF_TRY(symbols->acting, acting_links(tree));
        symbols_ = std::move(symbols);
        symbols_of_ = tree;
        ::malloc_trim(0);  // Returns the heap's free memory to the system: the list of all paths leaves small holes.
        return symbols_;
    }

    [[nodiscard]] Result<ProcessOutcome> run(ProcessRequest request, const Stop& stop) override {
        return processes_.run(request, stop);
    }

    [[nodiscard]] Result<MadeCommit> commit(const CommitOrder& order, const Stop& stop) override {
        AF_TRY(MadeCommit made, make_commit(repository_, processes_, environment_, order, stop));
        if (scratch_) { return made; }
        if (order.branch.empty()) {
            AF_CHECK(keep_commit(repository_.work_directory(), task_id_ + "/prepared", made.id));
        } else {
            AF_CHECK(repository_.create_branch(order.branch, made.id));
        }
        return made;
    }

    [[nodiscard]] Result<void> check_branch(const std::string& branch, const std::string& at) override {
        return scratch_ ? Result<void>() : check_branch_is_movable(repository_.work_directory(), branch, at);
    }

    [[nodiscard]] Result<void> move_branch(const std::string& branch, const std::string& from, const std::string& to) override {
        return scratch_ ? Result<void>() : kernel::move_branch(repository_.work_directory(), branch, from, to);
    }

    [[nodiscard]] Result<HookReport> hooks(const HookOrder& order, const std::string& author, const Stop& stop) override {
        PersonName person = git_person(repository_, environment_, "AUTHOR");
        if (!author.empty()) { AF_TRY(person, parse_person(author, "delivery.author")); }
        return run_commit_hooks(repository_, scratch(), processes_, environment_, readable_, order, person, stop);
    }

    [[nodiscard]] Result<std::string> edit(
        const std::string& tree, const std::vector<std::pair<std::string, std::optional<std::string>>>& files) override {
        return repository_.edit_tree(tree, files);
    }

    [[nodiscard]] Result<std::string> whole_patch(const std::string& from, const std::string& to) override {
        return kernel::whole_patch(repository_.work_directory(), from, to);
    }

    [[nodiscard]] Result<BaseDrift> drift(const TaskState& state, const std::string& tree) override {
        const DeliveryBase base = delivery_base(state);
        return measure_drift(repository_, state.base_branch, base.commit, base.tree, tree);
    }

    [[nodiscard]] Result<TreeMerge> merge(const std::string& base, const std::string& ours, const std::string& theirs) override {
        return merge_trees(repository_.work_directory(), base, ours, theirs, files_of_both_sides());
    }

    [[nodiscard]] Result<WrittenCommit> read_commit(const std::string& commit) override {
        return written_commit(repository_.work_directory(), commit);
    }

    [[nodiscard]] Result<Published> publish(const PublishOrder& order, const Stop& stop) override {
        if (scratch_) { return Published(); }
        return publish_branch(repository_, processes_, environment_, order, stop);
    }

    [[nodiscard]] Result<std::optional<std::pair<std::string, std::string>>> branch(const std::string& name) override {
        AF_TRY(auto commit, repository_.branch_commit(name));
        if (!commit) { return std::optional<std::pair<std::string, std::string>>(); }
        AF_TRY(std::string tree, repository_.tree_of(*commit));
        return std::optional(std::pair{std::move(*commit), std::move(tree)});
    }

    [[nodiscard]] Result<void> close() override {
        const fs::path repository = repository_.work_directory();
        AF_CHECK(Worktree::remove(repository, folder_ / "work", task_id_));
        AF_CHECK(Worktree::remove(repository, folder_ / "verify", task_id_ + "-verify"));
        std::error_code ignored;  // The folder holds only scratch; leftovers cost nothing but disk.
        fs::remove_all(folder_, ignored);
        return {};
    }

private:
    std::string task_id_;
    fs::path folder_;
    FileDescriptor in_use_;  ///< Keeps `agentforge gc` from removing the folder of a replay, whose task has no lock.
    Repository repository_;
    GcHold gc_hold_;
    Worktree work_;
    std::string base_tree_;
    bool untouched_;
    std::shared_ptr<const PathSymbols> symbols_;  ///< For the tree of the last call.
    std::string symbols_of_;
    std::map<std::string, std::string> environment_;
    std::vector<std::string> readable_;  ///< Readable for hooks: `gates.readable`.
    ProcessRunner& processes_;
    std::string root_;
    GateRunner gates_;
    std::int64_t baseline_runs_;
    bool held_out_;
    bool scratch_;
};

class GitTaskWorkspaces final : public TaskWorkspaceFactory {
public:
    GitTaskWorkspaces(GitTaskWorkspaceOptions options, ProcessRunner& processes)
        : options_(std::move(options)), processes_(processes) {}

    [[nodiscard]] Result<std::pair<std::string, std::string>> base() override {
        AF_TRY(const Repository repository, Repository::open(options_.repository));
        AF_TRY(std::string commit, repository.head_commit());
        AF_TRY(std::string tree, repository.tree_of(commit));
        return std::pair{std::move(commit), std::move(tree)};
    }

    [[nodiscard]] Result<std::pair<std::string, std::string>> base_with_uncommitted(
        std::chrono::system_clock::time_point now) override {
        AF_TRY(const Repository repository, Repository::open(options_.repository));
        AF_TRY(auto head, base());
        // Uses a separate index and git itself, so added files go through the filters that the user set up, as in a normal
        // commit.
        AF_TRY(const auto temporary, TemporaryDirectory::make("index"));
        AF_TRY(const GitStandIn git, GitStandIn::make(repository));
        AF_TRY(const std::vector<std::string> changed, repository.uncommitted());
        AF_CHECK(git.check_filters(changed));
        const fs::path own = temporary->path() / "index";
        std::error_code error;
        if (fs::exists(git.index(), error) && !fs::copy_file(git.index(), own, error)) {
            return Error{"AF-GIT-027", "cannot copy git's index: " + error.message(), git.index().string(),
                         "Check for free disk space", ErrorKind::io};
        }
        AF_TRY(const std::string unmerged, run_git(git, {"ls-files", "--unmerged"}, own));
        if (!unmerged.empty()) {
            return Error{"AF-GIT-026", "The checkout has unmerged files", git.work_directory().string(),
                         "Resolve them and commit, or start without --include-uncommitted", ErrorKind::conflict};
        }
        AF_TRY(const std::vector<std::string> submodules, git.submodules());
        std::vector<std::string> add{"add", "--all", "--", ".", ":(exclude,top).agentforge"};
        std::vector<std::string> update{"update-index", "--remove", "--"};
        for (const std::string& path : submodules) {
            add.push_back(":(exclude,top,literal)" + path);
            update.push_back(path);
        }
        const auto begin = std::chrono::system_clock::now();
        AF_CHECK(run_git(git, add, own));
        AF_CHECK(run_git(git, update, own));
        AF_TRY(std::string tree, run_git(git, {"write-tree"}, own));
        while (tree.ends_with('\n')) { tree.pop_back(); }
        if (tree == head.second) { return head; }
        AF_CHECK(repository.sync_objects_since(begin));
        CommitRequest request;
        request.tree = tree;
        request.parent = head.first;
        request.message = std::string(uncommitted_title) +
                          "\n\nThey were in the checkout when the task was started with --include-uncommitted.\n";
        request.time = now;
        const auto identity = repository.identity();
        request.author_name = identity ? identity->first : "AgentForge";
        request.author_email = identity ? identity->second : "agentforge@localhost";
        AF_TRY(std::string commit, repository.commit(request));
        return std::pair{std::move(commit), std::move(tree)};
    }

    [[nodiscard]] std::string base_branch() override {
        const auto repository = Repository::open(options_.repository);
        return repository.ok() ? repository->current_branch().value_or("") : std::string();
    }

    [[nodiscard]] Result<Staleness> staleness(const TaskState& state,
                                              const std::map<std::string, json::object, std::less<>>& artifacts) override {
        AF_TRY(const Repository repository, Repository::open(options_.repository));
        std::optional<std::string> head;
        if (!state.base_branch.empty()) { AF_TRY(head, repository.branch_commit(state.base_branch)); }
        if (!head) { AF_TRY(head, repository.head_commit()); }
        return measure_staleness(repository, artifacts, state.base_commit, *head);
    }

    [[nodiscard]] Result<std::unique_ptr<TaskWorkspace>> open(const TaskState& state) override {
        AF_TRY(Repository repository, Repository::open(options_.repository));
        fs::path folder = fs::path(options_.state_directory) / "worktrees" /
                          sha256(repository.git_directory().string()).substr(0, 12) / state.task_id;
        AF_CHECK(make_directories(folder / "scratch"));
        AF_CHECK(make_directories(folder / "gates"));
        std::error_code error;
        // git stores the real path of a worktree.
        if (const fs::path real = fs::canonical(folder, error); !error) { folder = real; }
        AF_TRY(Worktree work, Worktree::ensure(options_.repository, folder / "work", state.task_id, state.base_commit));
        if (options_.notice && !work.unfilled().empty()) {
            const std::vector<std::string>& missing = work.unfilled();
            options_.notice(std::to_string(missing.size()) +
                            (missing.size() == 1 ? " submodule or LFS file is" : " submodules or LFS files are") +
                            " not in this repository, so the task runs without: " + missing.front() +
                            (missing.size() > 1 ? ", …" : "") +
                            ". To get them: git submodule update --init --recursive; git lfs pull");
        }
        if (!options_.scratch) { AF_CHECK(keep_uncommitted_base(repository, state.task_id, state.base_commit)); }
        AF_TRY(std::string base_tree, repository.tree_of(state.base_commit));
        GateRunner::Options gates = options_.gates;
        gates.dependencies_directory = dependencies_directory(options_);
        // Not shared with agents: builds of gates contain tests that agents must not see.
        gates.scratch_directory = (folder / "gates" / "scratch").string();
        std::unique_ptr<TaskWorkspace> task_workspace =
            std::make_unique<GitTaskWorkspace>(state.task_id, folder, std::move(repository), std::move(work), state.base_commit,
                                               std::move(base_tree), processes_, gates, options_.scratch);
        return task_workspace;
    }

    [[nodiscard]] Result<void> state_proof(const std::string& folder, const std::string& escalations, const std::string& sign,
                                           std::chrono::system_clock::time_point now) override {
        if (options_.scratch) { return {}; }
        AF_TRY(const TaskEvidence evidence, TaskEvidence::read(folder, escalations));
        const OwnJournal own = own_journal(evidence);
        if (!has_statement(evidence.state)) { return {}; }
        AF_CHECK(check_continues_archive(options_.repository, evidence.state.task_id, folder));
        AF_TRY(const bool is_own, own.has_written(evidence.head().hash));
        const fs::path file = fs::path(folder) / statement_file;
        const fs::path sealed = fs::path(folder) / signature_file;
        const auto stated = read_file(file, largest_file);
        const bool is_signed = evidence.state.delivery.signed_.value_or(false);
        AF_TRY(const Repository repository, Repository::open(options_.repository));
        AF_TRY(const std::string statement, make_statement(evidence, repository));
        if (!is_own && is_signed) {
            return stated.ok() && *stated == statement ? Result<void>() : foreign_journal(evidence.state.task_id);
        }
        const auto environment = own_program({}, "", options_.gates.environment).environment;
        const PersonName committer = git_person(repository, environment, "COMMITTER");
        std::error_code none;
        if (fs::is_symlink(file.parent_path(), none)) { fs::remove(file.parent_path(), none); }  // It may lead anywhere.
        AF_CHECK(make_directories(file.parent_path()));
        auto signature = read_file(sealed, largest_file);
        // A signature of this very statement stays: the folder may come from someone else.
        if (!stated.ok() || *stated != statement || !signature.ok() || signature->empty()) {
            AF_CHECK(check_files(evidence, {processes_, options_.repository, environment}));
            signature = sign_statement({processes_, options_.repository, environment}, is_own ? sign : "never",
                                       committer.name + " <" + committer.email + ">", statement, Stop{});
            fs::remove(sealed, none);  // The signature of the previous statement.
            AF_CHECK(write_file_atomic(file, statement, Durability::synced));
            if (signature.ok() && !signature->empty()) { AF_CHECK(write_file_atomic(sealed, *signature, Durability::synced)); }
        }
        if (is_own && GitConfiguration(options_.repository).flag("agentforge.statementNote") && !evidence.state.commit.empty()) {
            AF_CHECK(
                write_note(options_.repository, {evidence.state.commit, statement + (signature.ok() ? *signature : std::string()),
                                                 committer.name, committer.email, now}));
        }
        return signature.ok() ? Result<void>() : Result<void>(signature.error());
    }

    [[nodiscard]] Result<Proof> check_proof(const std::string& folder, const std::string& escalations,
                                            const std::string& sign) override {
        if (options_.scratch) { return Proof{}; }
        AF_TRY(const TaskEvidence evidence, TaskEvidence::read(folder, escalations));
        const OwnJournal own = own_journal(evidence);
        AF_TRY(const bool is_own, own.has_written(evidence.head().hash));
        const auto environment = own_program({}, "", options_.gates.environment).environment;
        const AuditPlace place{evidence.state.task_id, folder, escalations, options_.repository, {}, false, {}};
        AF_TRY(const AuditVerdict verdict, verify_task(place, {processes_, options_.repository, environment}, Stop{}));
        const bool signs = signs_commits(sign, options_.repository);
        Proof proof;
        std::error_code none;
        bool signature_holds = fs::exists(fs::path(folder) / signature_file, none);
        for (const AuditFinding& finding : verdict.findings) {
            if (finding.part == "signature") {
                signature_holds = signature_holds && finding.answer == AuditAnswer::holds;
                continue;
            }
            // A killed process of this machine owes the statement about its last records.
            const bool is_owed = is_own && finding.part == "statement" && finding.detail.starts_with(grown_since);
            if (finding.answer != AuditAnswer::fails || is_owed) { continue; }
            if (!is_own && !signs && finding.part == "statement" && finding.detail.starts_with(no_statement)) {
                proof.is_lost = true;
                continue;
            }
            return no_proof(evidence.state.task_id, "the proof of task " + evidence.state.task_id + " does not hold", finding);
        }
        proof.is_known = is_own || signature_holds;
        if (proof.is_known || !signs) { return proof; }
        Error unknown = foreign_journal(evidence.state.task_id);
        unknown.remedy = "rebase on the machine that began the task, or without a signature: `--set delivery.sign=never`";
        return unknown;
    }

    [[nodiscard]] Result<void> archive(const std::string& task_id, const std::string& folder,
                                       const std::string& escalations) override {
        if (options_.scratch) { return {}; }
        return archive_task(options_.repository, task_id, folder, escalations);
    }

    [[nodiscard]] Result<bool> is_archived(const std::string& task_id, const std::string& folder) override {
        std::error_code error;
        const auto bytes = fs::file_size(TaskPaths{folder}.journal(), error);
        if (error) { return false; }
        AF_TRY(const auto missing, without_archive(options_.repository, {{task_id, bytes}}));
        return missing.empty();
    }

private:
    [[nodiscard]] OwnJournal own_journal(const TaskEvidence& evidence) const {
        return OwnJournal(own_journals(options_.state_directory), evidence.paths.root);
    }

    /// A statement names only files that say what the journal says. Errors: AF-AUDT-011.
    [[nodiscard]] Result<void> check_files(const TaskEvidence& evidence, const SignatureTools& tools) const {
        AF_TRY(const AuditVerdict verdict, verify_files(evidence, options_.repository, tools, Stop{}));
        for (const AuditFinding& finding : verdict.findings) {
            if (finding.answer == AuditAnswer::fails) {
                return no_proof(evidence.state.task_id, "a file of task " + evidence.state.task_id + " was changed", finding);
            }
        }
        return {};
    }

    [[nodiscard]] static Error no_proof(const std::string& task_id, const std::string& what, const AuditFinding& finding) {
        return Error{
            "AF-AUDT-011", what + ": " + finding.detail, "",
            "`agentforge audit verify " + short_id(task_id) +
                "` lists all faults; restore the files (from a backup, or with `agentforge archive restore`), remove those that no "
                "record accounts for, then `agentforge resume " +
                short_id(task_id) + "`",
            ErrorKind::conflict};
    }

    [[nodiscard]] static Error foreign_journal(const std::string& task_id) {
        return Error{"AF-AUDT-013",
                     "nothing shows that this machine wrote the whole journal of task " + task_id +
                         ", so it does not sign a statement about the delivery",
                     "",
                     "if another machine began the task, sign there: `agentforge resume " + short_id(task_id) +
                         "`; else `agentforge rebase " + short_id(task_id) +
                         " --set delivery.sign=never` makes an unsigned commit with a statement",
                     ErrorKind::denied};
    }

    /// Returns git's output.
    [[nodiscard]] Result<std::string> run_git(const GitStandIn& git, const std::vector<std::string>& words,
                                              const fs::path& index) {
        ProcessRequest request = own_git(git, base_environment(options_.gates.environment), words);
        request.environment["GIT_OPTIONAL_LOCKS"] = "0";
        request.environment["GIT_INDEX_FILE"] = index.string();
        request.timeout = std::chrono::minutes(10);
        AF_TRY(const ProcessOutcome outcome, processes_.run(request, Stop{}));
        if (outcome.exit_code == 0) { return outcome.out; }
        return Error{
            "AF-GIT-027",
            "`git " + words.front() + "` ended with " + std::to_string(outcome.exit_code) + ": " + sanitize_utf8(outcome.err),
            git.work_directory().string(), "Run `git status` there to see the problem, or start without --include-uncommitted",
            ErrorKind::io};
    }

    GitTaskWorkspaceOptions options_;
    ProcessRunner& processes_;
};

}  // namespace

fs::path own_journals(const std::string& state_directory) { return fs::path(state_directory) / "proofs"; }

std::unique_ptr<TaskWorkspaceFactory> make_git_task_workspaces(GitTaskWorkspaceOptions options, ProcessRunner& processes) {
    return std::make_unique<GitTaskWorkspaces>(std::move(options), processes);
}

}  // namespace agentforge::kernel
