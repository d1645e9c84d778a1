// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "pipeline/workshop.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

class GitWorkshop final : public Workshop {
public:
    GitWorkshop(std::string task_id, fs::path folder, Repository repository, Worktree work, Worktree verify, ProcessRunner& processes,
                const GateRunner::Options& gate_options)
        : task_id_(std::move(task_id)),
          folder_(std::move(folder)),
          repository_(std::move(repository)),
          work_(std::move(work)),
          verify_(std::move(verify)),
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

    [[nodiscard]] Result<std::string> commit(const std::string& tree, const std::string& parent, const std::string& branch,
                                             const std::string& message, std::chrono::system_clock::time_point time) override {
        CommitRequest request;
        request.tree = tree;
        request.parent = parent;
        request.message = message;
        request.time = time;
        const auto identity = repository_.identity();
        request.author_name = identity ? identity->first : "AgentForge";
        request.author_email = identity ? identity->second : "agentforge@localhost";
        AF_TRY(const std::string id, repository_.commit(request));
        AF_CHECK(repository_.create_branch(branch, id));
        return id;
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

private:
    GitWorkshopOptions options_;
    ProcessRunner& processes_;
};

}  // namespace

std::unique_ptr<WorkshopFactory> make_git_workshops(GitWorkshopOptions options, ProcessRunner& processes) {
    return std::make_unique<GitWorkshops>(std::move(options), processes);
}

}  // namespace agentforge::kernel
