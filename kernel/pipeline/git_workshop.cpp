// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "git/archives.hpp"
#include "pipeline/workshop.hpp"

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

class GitWorkshop final : public Workshop {
public:
    GitWorkshop(std::string task_id, fs::path folder, Repository repository, Worktree work, Worktree verify, ProcessRunner& processes,
                const GateRunner::Options& gate_options)
        : task_id_(std::move(task_id)),
          folder_(std::move(folder)),
          repository_(std::move(repository)),
          work_(std::move(work)),
          verify_(std::move(verify)),
          environment_(gate_options.environment),
          readable_(readable_folders(gate_options.settings)),
          processes_(processes),
          root_(work_.path().string()),
          gates_(repository_, verify_, processes_, gate_options),
          baseline_runs_(gate_options.baseline_runs) {}

    [[nodiscard]] const std::string& root() const noexcept override { return root_; }
    [[nodiscard]] std::string scratch() const override { return (folder_ / "scratch").string(); }

    [[nodiscard]] Result<void> restore(const std::string& tree) override { return work_.reset_to(tree, true); }

    [[nodiscard]] Result<std::string> snapshot(const std::vector<std::string>& paths) override {
        return paths.empty() ? work_.snapshot() : work_.snapshot_paths(paths);
    }

    [[nodiscard]] Result<void> keep(const std::string& name, const std::string& tree) override {
        return repository_.keep_tree(task_id_ + "/" + name, tree);
    }

    [[nodiscard]] Result<std::vector<TreeChange>> diff(const std::string& from, const std::string& to) override {
        return repository_.diff(from, to);
    }

    [[nodiscard]] Result<std::optional<std::string>> file_in_tree(const std::string& tree, const std::string& path) override {
        return repository_.file_in_tree(tree, path);
    }

    [[nodiscard]] Result<std::string> patch(const std::string& from, const std::string& to) override { return repository_.patch(from, to); }

    [[nodiscard]] Result<GateReport> gate(const GateCall& call, const Stop& stop) override { return gates_.run(call, stop); }
    [[nodiscard]] std::int64_t baseline_runs() const override { return baseline_runs_; }

    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(const std::string& tree,
                                                                                   const std::vector<SkeletonInterface>& interfaces,
                                                                                   const Stop& stop) override {
        return gates_.skeleton(tree, interfaces, stop);
    }

    [[nodiscard]] Result<std::shared_ptr<const PathSymbols>> path_symbols(const std::string& tree) override {
        AF_TRY(auto meaning, gates_.path_meaning(tree));
        auto symbols = std::make_shared<PathSymbols>();
        symbols->tests = {meaning.tests, meaning.only_tests, meaning.tests_text};
        symbols->sources = {meaning.sources, meaning.sources, meaning.sources_text};
        return std::shared_ptr<const PathSymbols>(std::move(symbols));
    }

    [[nodiscard]] Result<ProcessOutcome> run(ProcessRequest request, const Stop& stop) override { return processes_.run(request, stop); }

    [[nodiscard]] Result<MadeCommit> commit(const CommitOrder& order, const Stop& stop) override {
        AF_TRY(MadeCommit made, make_commit(repository_, processes_, environment_, order, stop));
        if (order.replaces.empty()) {
            AF_CHECK(repository_.create_branch(order.branch, made.id));
        } else {
            AF_CHECK(move_branch(repository_.work_directory(), order.branch, order.replaces, made.id));
        }
        return made;
    }

    [[nodiscard]] Result<HookReport> hooks(const HookOrder& order, const std::string& author, const Stop& stop) override {
        PersonName person = git_person(repository_, environment_, "AUTHOR");
        if (!author.empty()) { AF_TRY(person, parse_person(author, "delivery.author")); }
        return run_commit_hooks(repository_, scratch(), processes_, environment_, readable_, order, person, stop);
    }

    [[nodiscard]] Result<std::string> edit(const std::string& tree, const std::vector<std::pair<std::string, std::optional<std::string>>>& files) override {
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

    [[nodiscard]] Result<WrittenCommit> look(const std::string& commit) override { return written_commit(repository_.work_directory(), commit); }

    [[nodiscard]] Result<Published> publish(const PublishOrder& order, const Stop& stop) override {
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
        std::error_code ignored;  // Only scratch is left in there; a leftover costs disk and nothing else.
        fs::remove_all(folder_, ignored);
        return {};
    }

private:
    std::string task_id_;
    fs::path folder_;
    Repository repository_;
    Worktree work_;
    Worktree verify_;
    std::map<std::string, std::string> environment_;
    std::vector<std::string> readable_;     ///< By hooks: `gates.readable`.
    ProcessRunner& processes_;
    std::string root_;
    GateRunner gates_;
    std::int64_t baseline_runs_;
};

class GitWorkshops final : public WorkshopFactory {
public:
    GitWorkshops(GitWorkshopOptions options, ProcessRunner& processes) : options_(std::move(options)), processes_(processes) {}

    [[nodiscard]] Result<std::pair<std::string, std::string>> base() override {
        AF_TRY(const Repository repository, Repository::open(options_.repository));
        AF_TRY(std::string commit, repository.head_commit());
        AF_TRY(std::string tree, repository.tree_of(commit));
        return std::pair{std::move(commit), std::move(tree)};
    }

    [[nodiscard]] std::string base_branch() override {
        const auto repository = Repository::open(options_.repository);
        return repository.ok() ? repository->current_branch().value_or("") : std::string();
    }

    [[nodiscard]] Result<std::unique_ptr<Workshop>> open(const TaskState& state) override {
        AF_TRY(Repository repository, Repository::open(options_.repository));
        const fs::path folder = fs::path(options_.state_directory) / "worktrees" /
                                sha256(repository.git_directory().string()).substr(0, 12) / state.task_id;
        AF_CHECK(make_directories(folder / "scratch"));
        AF_TRY(Worktree work, Worktree::ensure(options_.repository, folder / "work", state.task_id, state.base_commit));
        AF_TRY(Worktree verify, Worktree::ensure(options_.repository, folder / "verify", state.task_id + "-verify", state.base_commit));
        GateRunner::Options gates = options_.gates;
        gates.scratch_directory = (folder / "scratch").string();
        std::unique_ptr<Workshop> workshop = std::make_unique<GitWorkshop>(state.task_id, folder, std::move(repository), std::move(work),
                                                                           std::move(verify), processes_, gates);
        return workshop;
    }

    [[nodiscard]] Result<void> archive(const std::string& task_id, const std::string& folder, const std::string& escalations) override {
        return archive_task(options_.repository, task_id, folder, escalations);
    }

private:
    GitWorkshopOptions options_;
    ProcessRunner& processes_;
};

}  // namespace

std::unique_ptr<WorkshopFactory> make_git_workshops(GitWorkshopOptions options, ProcessRunner& processes) {
    return std::make_unique<GitWorkshops>(std::move(options), processes);
}

}  // namespace agentforge::kernel
