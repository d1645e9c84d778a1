// SPDX-License-Identifier: Apache-2.0
// A project whose trees are in memory, measured by real Python in the real sandbox.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "config/gate_names.hpp"
#include "gates/gate_runner.hpp"
#include "gates/run/tree_checkout.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel::testing {

using Files = std::map<std::string, std::string>;

/// Trees by name. `changes` compares contents, without renames.
class MemoryTrees final : public TreeCheckout {
public:
    explicit MemoryTrees(std::filesystem::path folder) : folder_(std::move(folder)) {}

    std::filesystem::path path() const override { return folder_; }
    Result<void> check_out(std::string_view tree) override {
        ++checkouts;
        AF_TRY(const auto* content, find(tree));
        // As in a worktree, unchanged files keep their time.
        const auto same = [](const std::filesystem::path& path, const std::string& bytes) {
            std::ifstream stream(path, std::ios::binary);
            return std::filesystem::is_regular_file(std::filesystem::symlink_status(path)) &&
                   std::string(std::istreambuf_iterator<char>(stream), {}) == bytes;
        };
        std::filesystem::create_directories(folder_);
        std::vector<std::filesystem::path> others;
        std::vector<std::filesystem::path> folders;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
            const auto known = content->find(entry.path().lexically_relative(folder_).generic_string());
            if (entry.is_directory() && !entry.is_symlink()) {
                folders.push_back(entry.path());
                continue;
            }
            if (known == content->end() || !same(entry.path(), known->second)) { others.push_back(entry.path()); }
        }
        for (const auto& each : others) { std::filesystem::remove(each); }
        std::reverse(folders.begin(), folders.end());
        for (const auto& each : folders) {
            if (std::filesystem::is_empty(each)) { std::filesystem::remove(each); }
        }
        for (const auto& [file, bytes] : *content) {
            std::filesystem::create_directories((folder_ / file).parent_path());
            if (!std::filesystem::exists(folder_ / file)) { std::ofstream(folder_ / file, std::ios::binary) << bytes; }
        }
        for (const auto& [file, target] : links) {
            std::filesystem::remove(folder_ / file);
            std::filesystem::create_directories((folder_ / file).parent_path());
            std::filesystem::create_symlink(target, folder_ / file);
        }
        return {};
    }
    Result<std::vector<TreeChange>> changes(std::string_view old_tree, std::string_view new_tree) override {
        AF_TRY(const auto* before, find(old_tree));
        AF_TRY(const auto* after, find(new_tree));
        std::vector<TreeChange> result;
        for (const auto& [file, bytes] : *after) {
            const auto old = before->find(file);
            if (old == before->end()) {
                result.push_back({file, "", 'A', 0, 0});
            } else if (old->second != bytes) {
                result.push_back({file, "", 'M', 0, 0});
            }
        }
        for (const auto& [file, bytes] : *before) {
            if (after->count(file) == 0) { result.push_back({file, "", 'D', 0, 0}); }
        }
        return result;
    }
    Result<std::vector<std::string>> files(std::string_view tree) override {
        AF_TRY(const auto* content, find(tree));
        std::vector<std::string> result;
        for (const auto& [file, bytes] : *content) { result.push_back(file); }
        return result;
    }
    Result<std::optional<std::string>> file(std::string_view tree, std::string_view path) override {
        AF_TRY(const auto* content, find(tree));
        const auto found = content->find(std::string(path));
        return found == content->end() ? std::optional<std::string>{} : std::optional<std::string>{found->second};
    }

    std::map<std::string, Files, std::less<>> trees;
    Files links;  ///< Files that are links in every tree, whatever the tree contains.
    int checkouts = 0;

private:
    Result<const Files*> find(std::string_view tree) {
        const auto found = trees.find(tree);
        if (found == trees.end()) {
            return Error{"AF-GIT-099", "no such tree " + std::string(tree), "", "", ErrorKind::not_found};
        }
        return &found->second;
    }
    std::filesystem::path folder_;
};

/// Trees `base`, `red` and `green`, a gate runner over them, and the baseline between them.
class Project {
public:
    explicit Project(json::object settings = {}, std::vector<std::string> more_languages = {}, std::string language = {})
        : folder_("gates"), processes_(make_process_runner(std::string(AGENTFORGE_BINARY_DIR) + "/libexec/agentforge-exec")) {
        auto trees = std::make_unique<MemoryTrees>(folder_.path() / "verify");
        trees_ = trees.get();
        GateRunner::Options& options = options_;
        const std::string source = AGENTFORGE_SOURCE_DIR;
        options.languages_directory = source + "/config/languages";
        options.conformance_directories = {source + "/config/conformance", (folder_.path() / "conformance").string()};
        options.scratch_directory = (folder_.path() / "scratch").string();
        options.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"}};
        options.settings = std::move(settings);
        options.language = std::move(language);
        options.more_languages = std::move(more_languages);
        runner_ = std::make_unique<GateRunner>(std::move(trees), *processes_, options);
        baseline.base_tree = "base";
        baseline.red_tree = "red";
        baseline.intent = "create";
    }

    /// Applies these settings (`gates:`) from now on.
    void configure(json::object settings) {
        auto trees = std::make_unique<MemoryTrees>(folder_.path() / "verify");
        trees->trees = trees_->trees;
        trees_ = trees.get();
        options_.settings = std::move(settings);
        runner_ = std::make_unique<GateRunner>(std::move(trees), *processes_, options_);
    }
    /// Options for the next `configure`.
    GateRunner::Options& options() { return options_; }
    Files& tree(const std::string& name) { return trees_->trees[name]; }
    MemoryTrees& trees() { return *trees_; }
    GateRunner& runner() { return *runner_; }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

    GateReport gate(const std::string& name, const std::string& tree, std::vector<std::string> paths = {},
                    json::object parameters = {}) {
        auto report = try_gate(name, tree, std::move(paths), std::move(parameters));
        EXPECT_TRUE(report.ok()) << report.error().to_string();
        return report.ok() ? std::move(report).value() : GateReport{};
    }
    Result<GateReport> try_gate(const std::string& name, const std::string& tree, std::vector<std::string> paths = {},
                                json::object parameters = {}) {
        trees_->trees.try_emplace(baseline.base_tree);  // A case that sets no base commit has an empty one.
        GateBaseline compared = baseline;
        if (gate_facts(name).compares_with == ComparedTree::base) { compared.red_tree.clear(); }
        GateCall call{{name, std::move(paths), std::move(parameters)}, tree, use_baseline ? &compared : nullptr};
        return runner_->run(call, Stop{});
    }

    GateBaseline baseline;
    bool use_baseline = true;

private:
    TemporaryDirectory folder_;
    std::unique_ptr<ProcessRunner> processes_;
    MemoryTrees* trees_ = nullptr;
    GateRunner::Options options_;
    std::unique_ptr<GateRunner> runner_;
};

inline const TestOutcome* find_test(const GateReport& report, const std::string& id) {
    for (const auto& test : report.tests) {
        if (test.id == id) { return &test; }
    }
    return nullptr;
}

inline TestStatus status_of(const GateReport& report, const std::string& id) {
    const auto* found = find_test(report, id);
    EXPECT_NE(found, nullptr) << id << " is not in the report";
    return found == nullptr ? TestStatus::not_collected : found->status;
}

inline std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const auto& text : texts) { all += text + "\n"; }
    return all;
}

}  // namespace agentforge::kernel::testing
