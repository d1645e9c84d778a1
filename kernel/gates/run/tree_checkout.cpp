// SPDX-License-Identifier: Apache-2.0
#include "gates/run/tree_checkout.hpp"

#include "gates/gate_runner.hpp"

namespace agentforge::kernel {
namespace {

class GitCheckout final : public TreeCheckout {
public:
    GitCheckout(const Repository& repository, std::filesystem::path path, std::function<Result<Worktree>()> open)
        : repository_(repository), path_(std::move(path)), open_(std::move(open)) {}
    GitCheckout(const Repository& repository, Worktree& worktree)
        : repository_(repository), path_(worktree.path()), worktree_(&worktree) {}

    std::filesystem::path path() const override { return path_; }
    Result<void> check_out(std::string_view tree) override {
        if (worktree_ == nullptr) {
            AF_TRY(own_, open_());
            worktree_ = &*own_;
        }
        return worktree_->reset_to(tree, true);
    }
    Result<std::vector<TreeChange>> changes(std::string_view old_tree, std::string_view new_tree) override {
        return repository_.diff(old_tree, new_tree);
    }
    Result<std::vector<std::string>> files(std::string_view tree) override { return repository_.files_in_tree(tree); }
    Result<std::optional<std::string>> file(std::string_view tree, std::string_view path) override {
        return repository_.file_in_tree(tree, path);
    }

private:
    const Repository& repository_;
    std::filesystem::path path_;
    std::function<Result<Worktree>()> open_;
    std::optional<Worktree> own_;
    Worktree* worktree_ = nullptr;
};

}  // namespace

bool is_link(const TreeCheckout& checkout, const std::string& path) {
    std::error_code none;
    return std::filesystem::is_symlink(std::filesystem::symlink_status(checkout.path() / path, none));
}

std::unique_ptr<TreeCheckout> make_tree_checkout(const Repository& repository, Worktree& worktree) {
    return std::make_unique<GitCheckout>(repository, worktree);
}

std::unique_ptr<TreeCheckout> make_tree_checkout(const Repository& repository, std::filesystem::path path,
                                                 std::function<Result<Worktree>()> open) {
    return std::make_unique<GitCheckout>(repository, std::move(path), std::move(open));
}

GateRunner::GateRunner(const Repository& repository, Worktree& verify, ProcessRunner& processes, Options options)
    : GateRunner(make_tree_checkout(repository, verify), processes, std::move(options)) {}

}  // namespace agentforge::kernel
