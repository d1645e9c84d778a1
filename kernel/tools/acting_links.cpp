// SPDX-License-Identifier: Apache-2.0
#include "tools/acting_links.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <ranges>
#include <string>
#include <vector>

#include "tools/path_rules.hpp"

namespace agentforge::kernel {
namespace {

/// Folders in lower case. Everything in one of them acts.
constexpr auto acting_folders = std::to_array<std::string_view>({
    // CI servers
    ".buildkite",
    ".builds",
    ".circleci",
    ".drone",
    ".forgejo",
    ".gitea",
    ".github",
    ".gitlab",
    ".semaphore",
    ".teamcity",
    ".tekton",
    ".woodpecker",
    // editors, and what they start
    ".bsp",
    ".devcontainer",
    ".fleet",
    ".helix",
    ".idea",
    ".idx",
    ".nvim",
    ".theia",
    ".vim",
    ".vscode",
    ".vs",
    ".zed",
    // agents
    ".agent",
    ".agents",
    ".aider",
    ".amazonq",
    ".amp",
    ".augment",
    ".claude",
    ".claude-plugin",
    ".clinerules",
    ".codex",
    ".continue",
    ".copilot",
    ".crush",
    ".cursor",
    ".factory",
    ".gemini",
    ".goose",
    ".junie",
    ".kilocode",
    ".kiro",
    ".opencode",
    ".openhands",
    ".qwen",
    ".roo",
    ".rovodev",
    ".trae",
    ".windsurf",
    // other version control, git hooks and package managers
    ".hg",
    ".jj",
    ".bundle",
    ".cargo",
    ".config",
    ".direnv",
    ".githooks",
    ".husky",
    ".lefthook",
    ".mise",
    ".mvn",
    ".yarn",
});

/// Files in lower case.
constexpr auto acting_files = std::to_array<std::string_view>({
    // CI servers
    ".appveyor.yml",
    ".build.yml",
    ".cirrus.yml",
    ".drone.yml",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".woodpecker.yml",
    ".woodpecker.yaml",
    "appveyor.yml",
    "azure-pipelines.yml",
    "azure-pipelines.yaml",
    "bitbucket-pipelines.yml",
    "bitrise.yml",
    "buildspec.yaml",
    "buildspec.yml",
    "cloudbuild.yaml",
    "cloudbuild.yml",
    "codemagic.yaml",
    "jenkinsfile",
    // services that run their contents when a user opens the project or pushes
    ".gitpod.dockerfile",
    ".gitpod.yml",
    ".replit",
    "devfile.yaml",
    "netlify.toml",
    "vercel.json",
    // editors and debuggers
    ".devcontainer.json",
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".exrc",
    ".gdbinit",
    ".lldbinit",
    ".lvimrc",
    ".nvim.lua",
    ".nvimrc",
    ".vimrc",
    ".vimspector.json",
    ".ycm_extra_conf.py",
    // interpreters and build tools that read the folder they start in
    ".bazelrc",
    ".ghci",
    ".irbrc",
    ".pdbrc",
    ".pryrc",
    ".renviron",
    ".rprofile",
    "rust-toolchain",
    "rust-toolchain.toml",
    // agents
    ".aider.conf.yml",
    ".augment-guidelines",
    ".clinerules",
    ".continuerules",
    ".crush.json",
    ".cursorrules",
    ".goosehints",
    ".mcp.json",
    ".roomodes",
    ".roorules",
    ".rules",
    ".windsurfrules",
    "agent.md",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "copilot-instructions.md",
    "crush.json",
    "crush.md",
    "gemini.md",
    "mcp.json",
    "opencode.json",
    "opencode.jsonc",
    "qwen.md",
    "replit.md",
    "warp.md",
    // shells that read each folder
    ".autoenv",
    ".autoenv.zsh",
    ".envrc",
    ".mise.local.toml",
    ".mise.toml",
    ".tool-versions",
    "mise.local.toml",
    "mise.toml",
    // git and its hooks
    ".gitattributes",
    ".gitconfig",
    ".gitmodules",
    ".huskyrc",
    ".huskyrc.js",
    ".huskyrc.json",
    ".lefthook.toml",
    ".lefthook.yaml",
    ".lefthook.yml",
    ".lfsconfig",
    ".overcommit.yml",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".pre-commit-hooks.yaml",
    ".simple-git-hooks.cjs",
    ".simple-git-hooks.js",
    ".simple-git-hooks.json",
    "lefthook-local.json",
    "lefthook-local.toml",
    "lefthook-local.yaml",
    "lefthook-local.yml",
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yaml",
    "lefthook.yml",
    // package managers
    ".bowerrc",
    ".npmrc",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    ".yarnrc",
    ".yarnrc.yml",
    "bunfig.toml",
    "nuget.config",
});

bool is_acting_file(const std::string& name) {
    return std::ranges::find(acting_files, name) != acting_files.end() || name.ends_with(".code-workspace");
}

constexpr unsigned most_links = 40;  ///< Same limit as in Linux.

std::deque<std::string> components(std::string_view path) {
    std::deque<std::string> parts;
    for (const auto part : std::views::split(path, '/')) {
        if (!part.empty()) { parts.emplace_back(part.begin(), part.end()); }
    }
    return parts;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string path;
    for (const std::string& part : parts) { path += (path.empty() ? "" : "/") + part; }
    return path;
}

/// Returns each link on the way from `path` with its final target; only the links if the target is outside the tree or its root.
std::vector<std::string> way_from(const std::string& path, const std::map<std::string, std::string>& links) {
    std::vector<std::string> way;
    std::vector<std::string> at;
    std::deque<std::string> left = components(path);
    while (!left.empty()) {
        const std::string part = std::move(left.front());
        left.pop_front();
        if (part == ".") { continue; }
        if (part == "..") {
            if (at.empty()) { return way; }
            at.pop_back();
            continue;
        }
        at.push_back(part);
        const auto link = links.find(joined(at));
        if (link == links.end()) { continue; }
        way.push_back(link->first);
        if (way.size() > most_links || link->second.starts_with('/')) { return way; }
        at.pop_back();
        std::deque<std::string> target = components(link->second);
        left.insert(left.begin(), target.begin(), target.end());
    }
    if (!at.empty()) { way.push_back(joined(at)); }
    return way;
}

}  // namespace

bool acts_later(std::string_view path) {
    std::size_t begin = 0;
    while (begin < path.size()) {
        const auto end = std::min(path.find('/', begin), path.size());
        // A folder that contains `HEAD` is a bare repository, whatever its name: git runs what its `config` says.
        if (path.substr(begin) == "HEAD") { return true; }
        const std::string name = plain_component(path.substr(begin, end - begin));
        if (std::ranges::find(acting_folders, name) != acting_folders.end()) { return true; }
        // Whatever its kind: tools also read a link or a folder with such a name.
        if (is_acting_file(name)) { return true; }
        begin = end + 1;
    }
    return false;
}

ActingLinks::ActingLinks(const std::map<std::string, std::string>& links) {
    for (const auto& [path, target] : links) {
        if (!acts_later(path)) { continue; }
        for (std::string& place : way_from(path, links)) {
            if (!acts_later(place)) { targets_.try_emplace(std::move(place), path); }
        }
    }
}

std::string_view ActingLinks::leading_to(std::string_view path) const {
    for (std::size_t end = path.size(); end != std::string_view::npos;
         end = end == 0 ? std::string_view::npos : path.rfind('/', end - 1)) {
        if (const auto found = targets_.find(path.substr(0, end)); found != targets_.end()) { return found->second; }
    }
    return {};
}

}  // namespace agentforge::kernel
