// SPDX-License-Identifier: Apache-2.0
#include "tools/path_rules.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

#include "base/files.hpp"
#include "tools/path_rule_problems.hpp"

namespace agentforge::kernel {
namespace {

struct GlobCase {
    const char* glob;
    const char* path;
    bool matches;
};

constexpr GlobCase glob_cases[] = {
    {"*.py", "a.py", true},
    {"*.py", "src/deep/a.py", true},
    {"*.py", "a.pyc", false},
    {"/*.py", "a.py", true},
    {"/*.py", "src/a.py", false},
    {"src/*.py", "src/a.py", true},
    {"src/*.py", "src/x/a.py", false},
    {"src/*.py", "lib/src/a.py", false},
    {"src/**/*.py", "src/a.py", true},
    {"src/**/*.py", "src/x/y/a.py", true},
    {"src/**/*.py", "srcx/a.py", false},
    {"tests/**/*", "tests/a.py", true},
    {"tests/**/*", "tests/x/a.py", true},
    {"tests/**/*", "tests2/a.py", false},
    {"tests/**", "tests/a.py", true},
    {"tests/**", "tests", false},
    {"**/tests/*", "a/b/tests/t.py", true},
    {"**/tests/*", "tests/t.py", true},
    {"**/foo", "a/foo", true},
    {"a/**/b", "a/b", true},
    {"a/**/b", "a/x/y/b", true},
    {"a/**/b", "a/x/y/c", false},
    {"**", "a/b", true},
    {"docs", "docs/a.md", true},
    {"docs", "x/docs/a.md", true},
    {"docs/", "docs/a.md", true},
    {"docs/", "docs", false},
    {"/docs/", "x/docs/a.md", false},
    {"a?c", "abc", true},
    {"a?c", "a/c", false},
    {"a*c", "a/c", false},
    {"[a-c].txt", "b.txt", true},
    {"[!a-c].txt", "b.txt", false},
    {"[^a-c].txt", "d.txt", true},
    {"[]x].txt", "].txt", true},
    {"[[:digit:]].txt", "7.txt", true},
    {"[[:digit:]].txt", "x.txt", false},
    {"\\*.txt", "*.txt", true},
    {"\\*.txt", "a.txt", false},
    {"a[*]b", "a*b", true},
    {"A.txt", "a.txt", false},
    {"*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false},
    {"x/*", "x/y/z", true},
    {"*", ".hidden", true},
    {"foo**bar", "fooxbar", true},
    {"foo**bar", "foo/bar", false},
    {"src/**/test_*.py", "src/a/test_b.py", true},
    {"src/**/test_*.py", "src/a/b.py", false},
};

std::string run(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
    std::string text;
    std::array<char, 512> buffer{};
    while (pipe != nullptr && ::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe.get()) != nullptr) {
        text += buffer.data();
    }
    return text;
}

bool allows(std::string_view rule, std::string_view path) {
    const auto parsed = PathRule::parse(rule);
    EXPECT_TRUE(parsed.ok()) << rule;
    return parsed.ok() && parsed->allows(path);
}

std::string code_of(std::string_view path) {
    const auto result = normalize_path(path);
    return result.ok() ? "" : result.error().code;
}

TEST(PathGlobs, match_the_documented_table) {
    for (const auto& one : glob_cases) {
        EXPECT_EQ(glob_matches(one.glob, one.path), one.matches) << one.glob << " on " << one.path;
    }
}

TEST(PathGlobs, match_as_git_check_ignore_does) {
    const TemporaryDirectory folder("globs");
    const std::string git = "cd " + folder.path().string() + " && git -c core.excludesFile=/dev/null ";
    run(git + "init -q . 2>&1");
    for (const auto& one : glob_cases) {
        ASSERT_TRUE(write_file_atomic(folder.path() / ".gitignore", std::string(one.glob) + "\n", Durability::cached).ok());
        const bool ignored = !run(git + "check-ignore --no-index -- '" + one.path + "'").empty();
        EXPECT_EQ(glob_matches(one.glob, one.path), ignored) << one.glob << " on " << one.path;
    }
}

TEST(PathGlobs, take_linear_time_on_many_stars) {
    std::string glob = "x";
    for (int i = 0; i < 200; ++i) { glob += "*a"; }
    EXPECT_FALSE(glob_matches(glob + "b", std::string("x") + std::string(4000, 'a')));
    std::string deep;
    for (int i = 0; i < 100; ++i) { deep += "**/a/"; }
    std::string path = "a";
    for (int i = 0; i < 500; ++i) { path += "/a"; }
    EXPECT_FALSE(glob_matches(deep + "b", path));
}

TEST(PathRule, needs_one_positive_glob_and_no_negative_one) {
    EXPECT_TRUE(allows("docs/**/*,deploy/**/*,*.md", "docs/a/b.txt"));
    EXPECT_TRUE(allows("docs/**/*,deploy/**/*,*.md", "README.md"));
    EXPECT_FALSE(allows("docs/**/*,deploy/**/*,*.md", "src/app.py"));
    EXPECT_FALSE(allows("!tests/**/*", "tests/test_a.py"));
    EXPECT_TRUE(allows("!tests/**/*", "src/a.py"));
    EXPECT_FALSE(allows("!src/vendor/, src/**", "src/vendor/x.py"));
    EXPECT_TRUE(allows("src/**, !src/vendor/", "src/x.py"));
}

TEST(PathRule, wildcard_does_not_match_files_inside_a_matching_folder) {
    EXPECT_FALSE(allows("*.md", "x.md/run.py"));
    EXPECT_TRUE(allows("docs", "docs/run.py"));
    EXPECT_FALSE(allows("!*.md", "x.md/run.py"));
}

std::shared_ptr<const PathSymbols> go_symbols() {
    auto symbols = std::make_shared<PathSymbols>();
    const auto tests = [](std::string_view path) { return path.ends_with("_test.go") || path == "lib.rs"; };
    symbols->tests = {tests, [](std::string_view path) { return path.ends_with("_test.go"); }, "*_test.go"};
    const auto sources = [](std::string_view path) { return path.ends_with(".go"); };
    symbols->sources = {sources, sources, "*.go"};
    return symbols;
}

bool allows_with_symbols(std::string_view rule, std::string_view path) {
    return PathRule::parse(rule, go_symbols())->allows(path);
}

TEST(PathRule, symbol_is_resolved_by_the_repository) {
    EXPECT_TRUE(allows_with_symbols("@tests", "pkg/a_test.go"));
    EXPECT_FALSE(allows_with_symbols("@tests", "pkg/a.go"));
    EXPECT_FALSE(allows_with_symbols("!@tests", "pkg/a_test.go"));
    EXPECT_TRUE(allows_with_symbols("!@tests", "pkg/a.go"));
    EXPECT_FALSE(allows_with_symbols("@sources, !@tests, !vendor/", "vendor/a.go"));
    EXPECT_TRUE(allows_with_symbols("docs/**, @sources", "docs/a.md"));
}

TEST(PathRule, file_that_holds_tests_beside_code_is_open_to_both_sides) {
    EXPECT_TRUE(allows_with_symbols("@tests", "lib.rs"));
    EXPECT_TRUE(allows_with_symbols("!@tests", "lib.rs"));
}

TEST(PathRule, created_cannot_be_combined_and_applies_to_its_own_tool) {
    EXPECT_EQ(PathRule::parse("@created, @tests").error().code, "AF-TOOL-020");
    EXPECT_EQ(PathRule::parse("!@created").error().code, "AF-TOOL-020");
    EXPECT_TRUE(PathRule::parse("@created")->binds_one_tool());
    EXPECT_TRUE(RolePaths::make("tester", {{"delete_file", "@created"}})->check_write("a.py").ok());
    EXPECT_FALSE(RolePaths::make("tester", {{"delete_file", "@created"}})->created("a.py"));
}

TEST(PathRule, unresolved_symbol_denies_access) {
    EXPECT_FALSE(allows("@tests", "tests/a.py"));
    EXPECT_FALSE(allows("!@tests", "src/a.py"));
}

TEST(PathRule, unknown_symbol_is_refused_but_a_path_with_that_sign_is_not) {
    EXPECT_EQ(PathRule::parse("@test").error().code, "AF-TOOL-020");
    EXPECT_TRUE(allows("@types/**", "@types/a.d.ts"));
    EXPECT_TRUE(allows("\\@tests", "@tests"));
}

TEST(PathRule, message_explains_a_symbol) {
    const auto paths = RolePaths::make("software_developer", {{"edit_file", "!@tests"}}, {}, go_symbols());
    EXPECT_EQ(paths->check_write("a_test.go").error().message,
              "Path 'a_test.go' is not allowed for software_developer. Constraint: !@tests (@tests: *_test.go)");
}

TEST(PathRule, refuses_malformed_globs_and_says_why) {
    for (const char* text : {"", "a,,b", "a,", "[ab", "a\\", "*.{py,md}", "!", "../x", "a\nb", "/"}) {
        const auto rule = PathRule::parse(text);
        ASSERT_FALSE(rule.ok()) << text;
        EXPECT_EQ(rule.error().code, "AF-TOOL-020") << text;
        EXPECT_FALSE(rule.error().remedy.empty());
    }
}

TEST(PathRule, refuses_a_second_exclamation_mark_and_quotation_marks) {
    for (const char* text :
         {"**,!!secret/**", "!! secret", "**,!\"sp ace/**\"", "src/\"a b\"/*", "!'sp ace/**'", "src/'a b'/*"}) {
        const auto rule = PathRule::parse(text);
        ASSERT_FALSE(rule.ok()) << text;
        EXPECT_EQ(rule.error().code, "AF-TOOL-020") << text;
    }
    EXPECT_FALSE(allows("**,!sp ace/**", "sp ace/f.md")) << "a space needs no quotation marks";
    EXPECT_FALSE(allows("**,!\\!secret/**", "!secret/f.md"));
    EXPECT_FALSE(allows("**,!\\\"a\\\"/**", "\"a\"/f.md"));
    EXPECT_TRUE(allows("docs/it's.md", "docs/it's.md"));
}

TEST(PathRule, bracketed_or_escaped_comma_is_part_of_the_glob) {
    EXPECT_TRUE(allows("a[,]b", "a,b"));
    EXPECT_TRUE(allows("a\\,b", "a,b"));
}

TEST(PathRuleProblems, name_the_place_and_the_tool_of_each_rule_that_cannot_be_used) {
    AgentDefinition agent;
    agent.role = "writer";
    agent.path_constraints = {{"create_file", "**,![abc"}, {"edit_file", "@test"}, {"delete_file", "docs/**,!@tests"}};
    agent.path_constraint_places = {{"create_file", "writer.yaml:7:20"}, {"edit_file", "writer.yaml:8:20"}};
    const auto problems = path_rule_problems(agent);
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[0].code, "AF-TOOL-020");
    EXPECT_EQ(problems[0].where, "writer.yaml:7:20");
    EXPECT_EQ(problems[0].message,
              "path rule of `create_file`, role writer: The pattern '[abc' cannot be read: its '[' is not closed.");
    EXPECT_EQ(problems[1].where, "writer.yaml:8:20");
    EXPECT_FALSE(problems[1].remedy.empty());
}

TEST(NormalizePath, makes_one_canonical_path) {
    EXPECT_EQ(normalize_path("./a//b/./c/").value(), "a/b/c");
    EXPECT_EQ(normalize_path(".").value(), ".");
    EXPECT_EQ(normalize_path("./").value(), ".");
    EXPECT_EQ(normalize_path("a[1]*.py").value(), "a[1]*.py");
    EXPECT_EQ(normalize_path("$HOME/x").value(), "$HOME/x");
    EXPECT_EQ(normalize_path("é/日本.py").value(), "é/日本.py");
    EXPECT_EQ(normalize_path("a..b/...").value(), "a..b/...");
    EXPECT_EQ(normalize_path("~x").value(), "~x");
}

TEST(NormalizePath, refuses_paths_that_leave_the_workspace) {
    for (const char* path : {"../x", "a/../../x", "a/..", "/etc/passwd", "//x", "..", "~/x", "~"}) {
        EXPECT_EQ(code_of(path), "AF-TOOL-010") << path;
    }
}

TEST(NormalizePath, refuses_protected_names_in_any_spelling_and_depth) {
    for (const char* path :
         {".git", ".git/config", ".GIT/config", "sub/.Git/hooks/x", ".agentforge/agents/a.yaml", "x/.AgentForge", ".git./x",
          ".git /x", "git~1/x", ".git::$INDEX_ALLOCATION/x", ".g\u200cit/config", "./.git"}) {
        EXPECT_EQ(code_of(path), "AF-TOOL-011") << path;
    }
    for (const char* path : {".gitignore", ".github/x", "git/x", "agentforge/x", "x.git"}) {
        EXPECT_EQ(code_of(path), "") << path;
    }
}

TEST(NormalizePath, refuses_text_that_is_not_a_path) {
    for (const auto& path :
         {std::string(), std::string("a\0b", 3), std::string("a\nb"), std::string("a\x7f"), std::string("\xff"),
          std::string("a\\b"), std::string(5000, 'a'), std::string(300, 'a'), std::string("a\xc2\x85")}) {
        EXPECT_EQ(code_of(path), "AF-TOOL-012") << path;
    }
}

TEST(RolePaths, every_rule_applies_to_all_tools) {
    const auto paths = RolePaths::make("developer", {{"create_file", "src/**/*,docs/**"}, {"edit_file", "!src/gen/**"}});
    ASSERT_TRUE(paths.ok());
    EXPECT_TRUE(paths->check_write("src/a.py").ok());
    EXPECT_FALSE(paths->check_write("src/gen/a.py").ok());
    const auto refused = paths->check_write("tests/a.py");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "AF-TOOL-013");
    EXPECT_EQ(refused.error().message, "Path 'tests/a.py' is not allowed for developer. Constraint: src/**/*,docs/**");
}

TEST(RolePaths, locked_file_is_read_only_even_if_rules_allow_writes) {
    const auto paths = RolePaths::make("developer", {}, {"tests/test_b.py", "tests/test_a.py"});
    ASSERT_TRUE(paths.ok());
    EXPECT_EQ(paths->check_write("tests/test_a.py").error().code, "AF-TOOL-015");
    EXPECT_TRUE(paths->check_write("tests/test_c.py").ok());
    EXPECT_FALSE(paths->unrestricted());
}

TEST(RolePaths, acting_file_is_read_only_unless_the_specification_names_it) {
    const auto paths = RolePaths::make("developer", {}, {}, nullptr, {".github/workflows/ci.yml"});
    ASSERT_TRUE(paths.ok());
    for (const char* path : {".mcp.json",
                             ".envrc",
                             "sub/.envrc",
                             ".husky/pre-commit",
                             ".vscode/tasks.json",
                             ".github/workflows/other.yml",
                             ".gitattributes",
                             "deep/er/.gitattributes",
                             "AGENTS.md",
                             "CLAUDE.md",
                             ".cursor/rules/x.mdc",
                             ".MCP.JSON",
                             ".Vscode/Tasks.json",
                             ".envrc.",
                             ".npmrc",
                             ".cargo/config.toml",
                             ".pre-commit-config.yaml",
                             "x.code-workspace",
                             ".gitmodules",
                             ".idea/workspace.xml",
                             ".claude/settings.json",
                             ".devcontainer/devcontainer.json",
                             ".gitlab-ci.yml",
                             "Jenkinsfile",
                             ".gitpod.yml",
                             ".replit",
                             "sub/.Rprofile",
                             ".irbrc",
                             ".pdbrc",
                             ".ghci",
                             ".bazelrc",
                             ".bundle/config",
                             ".huskyrc.json",
                             ".simple-git-hooks.json",
                             "vercel.json",
                             ".agents/x.md",
                             ".builds/test.yml",
                             "buildspec.yml",
                             "src/bare/HEAD",
                             ".helix/languages.toml",
                             ".bsp/x.json",
                             ".hg/hgrc",
                             ".jj/repo/config.toml",
                             "lefthook-local.yml",
                             "rust-toolchain.toml",
                             ".crush.json",
                             ".vim/coc-settings.json",
                             ".config/mise/config.toml",
                             ".tekton/x.yaml",
                             ".roomodes",
                             "copilot-instructions.md",
                             ".hus\u212Ay/pre-commit",
                             ".v\u017Fcode/tasks.json",
                             "CLAU\u200DDE.md",
                             "\uFEFF.envrc"}) {
        const auto refused = paths->check_write(path);
        ASSERT_FALSE(refused.ok()) << path;
        EXPECT_EQ(refused.error().code, "AF-TOOL-016") << path;
    }
    for (const char* path : {".github/workflows/ci.yml", "src/app.py", ".gitignore", "README.md", "docs/agents.markdown",
                             "Makefile", "package.json", "conftest.py", "github/x", "components/Head/index.js", "src/HEAD.md"}) {
        EXPECT_TRUE(paths->check_write(path).ok()) << path;
    }
}

std::string leading(const std::map<std::string, std::string>& links, std::string_view path) {
    return std::string(ActingLinks(links).leading_to(path));
}

TEST(ActingLinks, target_of_an_acting_link_is_acting) {
    EXPECT_EQ(leading({{"CLAUDE.md", "docs/handbook.md"}}, "docs/handbook.md"), "CLAUDE.md");
    EXPECT_EQ(leading({{"CLAUDE.md", "docs/handbook.md"}}, "docs/other.md"), "");
    EXPECT_EQ(leading({{"notes.md", "docs/handbook.md"}}, "docs/handbook.md"), "");
}

TEST(ActingLinks, target_is_relative_to_the_folder_of_the_link) {
    EXPECT_EQ(leading({{"sub/AGENTS.md", "../docs/./x.md"}}, "docs/x.md"), "sub/AGENTS.md");
    EXPECT_EQ(leading({{".claude/commands/go.md", "../../prompts/go.md"}}, "prompts/go.md"), ".claude/commands/go.md");
}

TEST(ActingLinks, linked_folder_is_acting_as_a_whole) {
    EXPECT_EQ(leading({{".github", "ci"}}, "ci/workflows/test.yml"), ".github");
    EXPECT_EQ(leading({{".github", "ci"}}, "cider/x"), "");
}

TEST(ActingLinks, intermediate_links_are_acting_too) {
    const std::map<std::string, std::string> links{
        {"CLAUDE.md", "current/rules.md"}, {"current", "rules/v2"}, {"rules/v2/rules.md", "../all.md"}};
    for (const char* path : {"current", "rules/v2/rules.md", "rules/all.md"}) {
        EXPECT_EQ(leading(links, path), "CLAUDE.md") << path;
    }
    EXPECT_EQ(leading(links, "rules/v2"), "");
}

TEST(ActingLinks, external_or_dangling_link_is_ignored) {
    for (const char* target : {"../elsewhere", "/etc/passwd", ".", "", "CLAUDE.md"}) {
        EXPECT_EQ(leading({{"CLAUDE.md", target}}, "src/app.py"), "") << target;
    }
    EXPECT_EQ(leading({{"CLAUDE.md", "a"}, {"a", "b"}, {"b", "a"}}, "src/app.py"), "");
}

TEST(RolePaths, target_of_an_acting_link_is_read_only) {
    auto symbols = std::make_shared<PathSymbols>();
    symbols->acting = ActingLinks(std::map<std::string, std::string>{{"CLAUDE.md", "docs/handbook.md"}});
    const auto paths = RolePaths::make("developer", {}, {}, symbols);
    ASSERT_TRUE(paths.ok());
    const auto refused = paths->check_write("docs/handbook.md");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "AF-TOOL-016");
    EXPECT_NE(refused.error().message.find("'CLAUDE.md' is a link to it"), std::string::npos);
    EXPECT_TRUE(paths->check_write("docs/other.md").ok());
}

TEST(RolePaths, malformed_constraint_names_role_and_tool) {
    const auto paths = RolePaths::make("developer", {{"edit_file", "[x"}});
    ASSERT_FALSE(paths.ok());
    EXPECT_EQ(paths.error().code, "AF-TOOL-020");
    EXPECT_NE(paths.error().where.find("edit_file, role developer"), std::string::npos);
}

}  // namespace
}  // namespace agentforge::kernel
