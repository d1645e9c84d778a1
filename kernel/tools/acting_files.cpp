// SPDX-License-Identifier: Apache-2.0
#include "tools/acting_files.hpp"

#include <algorithm>
#include <array>
#include <string>

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

}  // namespace agentforge::kernel
