// SPDX-License-Identifier: Apache-2.0
#include "pipeline/gates_without_task.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>

#include "base/files.hpp"
#include "gates/engine/baseline.hpp"
#include "pipeline/gate_runs.hpp"

namespace agentforge::kernel {

namespace {

class ReadOnlyCheckout : public TreeCheckout {
public:
    [[nodiscard]] Result<void> check_out(std::string_view) final {
        return Error{"AF-GATE-103", "A command tried to check out a tree although it may only read trees.", "",
                     "This is a defect: report it.", ErrorKind::internal};
    }
};

/// Gives access to trees without checking them out.
class ReadOnlyTrees final : public ReadOnlyCheckout {
public:
    explicit ReadOnlyTrees(const Repository& repository) : repository_(repository) {}
    [[nodiscard]] std::filesystem::path path() const override { return repository_.work_directory(); }
    [[nodiscard]] Result<std::vector<TreeChange>> changes(std::string_view from, std::string_view to) override {
        return repository_.diff(from, to);
    }
    [[nodiscard]] Result<std::vector<std::string>> files(std::string_view tree) override {
        return repository_.files_in_tree(tree);
    }
    [[nodiscard]] Result<std::optional<std::string>> file(std::string_view tree, std::string_view path) override {
        return repository_.file_in_tree(tree, path);
    }

private:
    const Repository& repository_;
};

/// Presents the user's checkout as the only tree.
class UncommittedCheckout final : public ReadOnlyCheckout {
public:
    UncommittedCheckout(std::filesystem::path root, std::vector<std::string> files)
        : root_(std::move(root)), files_(std::move(files)) {}
    [[nodiscard]] std::filesystem::path path() const override { return root_; }
    [[nodiscard]] Result<std::vector<TreeChange>> changes(std::string_view, std::string_view) override {
        return std::vector<TreeChange>();
    }
    [[nodiscard]] Result<std::vector<std::string>> files(std::string_view) override { return files_; }
    [[nodiscard]] Result<std::optional<std::string>> file(std::string_view, std::string_view path) override {
        constexpr std::size_t most = 4UL << 20U;
        return read_run_file(root_ / path, most);
    }

private:
    std::filesystem::path root_;
    std::vector<std::string> files_;
};

}  // namespace

std::string dependencies_directory(const GitTaskWorkspaceOptions& options) {
    return (std::filesystem::path(options.state_directory) / "dependencies").string();
}

namespace {

GateRunner::Options gate_options(const GitTaskWorkspaceOptions& options) {
    GateRunner::Options gates = options.gates;
    gates.dependencies_directory = dependencies_directory(options);
    gates.scratch_directory = gates.dependencies_directory + "/scratch";
    return gates;
}

struct GateReader {
    Repository repository;
    std::string tree;
    GateRunner::Options gates;
};

/// `tree` empty: HEAD's tree.
Result<GateReader> gate_reader_of(const GitTaskWorkspaceOptions& options, const std::string& tree) {
    AF_TRY(Repository repository, Repository::open(options.repository));
    GateReader reader{std::move(repository), tree, gate_options(options)};
    if (reader.tree.empty()) {
        AF_TRY(const std::string commit, reader.repository.head_commit());
        AF_TRY(reader.tree, reader.repository.tree_of(commit));
    }
    return reader;
}

}  // namespace

Result<Setup> setup_dependencies(const GitTaskWorkspaceOptions& options, ProcessRunner& processes, const std::string& tree,
                                 bool run, const Stop& stop) {
    AF_TRY(const GateReader reader, gate_reader_of(options, tree));
    Setup setup;
    setup.tree = reader.tree;
    GateRunner runner(std::make_unique<ReadOnlyTrees>(reader.repository), processes, reader.gates);
    if (run) { AF_CHECK(runner.set_up(setup.tree, stop)); }
    AF_TRY(setup.steps, runner.setup_steps(setup.tree));
    return setup;
}

Result<GateReadiness> readiness_of_checkout(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                            const std::vector<std::string>& files) {
    GateRunner runner(std::make_unique<UncommittedCheckout>(options.repository, files), processes, gate_options(options));
    return runner.readiness("checkout");
}

Result<GateReadiness> readiness_of_gates(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                         const std::string& tree) {
    AF_TRY(const GateReader reader, gate_reader_of(options, tree));
    GateRunner runner(std::make_unique<ReadOnlyTrees>(reader.repository), processes, reader.gates);
    return runner.readiness(reader.tree);
}

Result<GateReport> measure_head(const GitTaskWorkspaceOptions& options, ProcessRunner& processes, const Stop& stop) {
    AF_CHECK(make_directories(options.state_directory));
    const std::string place = (std::filesystem::path(options.state_directory) / "measured-head.lock").string();
    const FileDescriptor lock(::open(place.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.valid() || ::flock(lock.get(), LOCK_EX) != 0) {
        return Error{"AF-GATE-108", "Cannot lock the folder where HEAD is measured: " + errno_text(errno), place,
                     "Check the folder's permissions.", ErrorKind::io};
    }
    const auto task_workspaces = make_git_task_workspaces(options, processes);
    AF_TRY(const auto base, task_workspaces->base());
    TaskState state;
    state.task_id = "measured-head";
    state.base_commit = base.first;
    state.base_tree = base.second;
    AF_TRY(const std::unique_ptr<TaskWorkspace> task_workspace, task_workspaces->open(state));
    auto measured = run_suite(*task_workspace, base.second, 1, stop);
    AF_CHECK(task_workspace->close());
    AF_TRY(GateReport report, std::move(measured));
    report = baseline_report({std::move(report)});
    AF_CHECK(check_suite_was_measured(report));
    return report;
}

}  // namespace agentforge::kernel
