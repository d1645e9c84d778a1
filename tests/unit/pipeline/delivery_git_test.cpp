// SPDX-License-Identifier: Apache-2.0
// Delivery into a real repository: commits as the user's git makes them, sandboxed hooks, merges, pushes, the archive.
#include <fstream>

#include <gmock/gmock.h>
#include "git/archives.hpp"
#include "git/merges.hpp"
#include "pipeline/delivery/commit_hooks.hpp"
#include "pipeline/delivery/commits.hpp"
#include "pipeline/delivery/drift.hpp"
#include "pipeline/delivery/publish.hpp"
#include "unit/git/git_fixture.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CommitTest : public GitTest {
protected:
    CommitTest() {
        commit = first_commit();
        tree = id_of("HEAD^{tree}");
        change("src/app.py", "def main():\n    return 1\n");
        changed = tree_of_checkout();
        git("reset -q --hard");
        environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin:" + (base() / "bin").string()},
                       {"HOME", base().string()},
                       {"GIT_CONFIG_GLOBAL", (base() / "gitconfig").string()},
                       {"GIT_CONFIG_NOSYSTEM", "1"}};
    }
    void change(const std::string& file, const std::string& text) { write(user() / file, text); }
    std::string tree_of_checkout() {
        git("add -A");
        std::string id = git("write-tree");
        id.pop_back();
        return id;
    }
    static void script(const std::filesystem::path& file, const std::string& text) {
        write(file, "#!/bin/sh\n" + text);
        ::chmod(file.c_str(), 0755);
    }
    /// Sets a key of the user's own configuration.
    void of_the_user(const std::string& key, const std::string& value) const {
        run("git config -f '" + (base() / "gitconfig").string() + "' " + key + " '" + value + "'");
    }
    /// Returns a program that creates a file, for the repository's configuration to name.
    [[nodiscard]] std::string planted() const {
        script(base() / "planted", "touch '" + (base() / "ran").string() + "'\nexit 1\n");
        return (base() / "planted").string();
    }
    [[nodiscard]] bool ran_what_was_planted() const { return std::filesystem::remove(base() / "ran"); }
    void hook(const std::string& name, const std::string& text) const { script(user() / ".git/hooks" / name, text); }

    Result<MadeCommit> make(CommitOrder order = {}) {
        order.tree = changed;
        order.parent = commit;
        order.message = "Return one\n\nAgentForge-Task: t\n";
        order.time = std::chrono::sys_days{std::chrono::year{2026} / 1 / 2};
        return make_commit(open(), *processes, environment, order, Stop{&cancel, std::nullopt});
    }
    Result<HookReport> hooks(const std::vector<std::string>& readable = {}) {
        return run_commit_hooks(
            open(), (base() / "scratch").string(), *processes, environment, readable,
            HookOrder{changed, commit, "agentforge/t", "Return one\n\nAgentForge-Task: t\n", std::chrono::seconds(20)},
            PersonName{"Ada Example", "ada@example.org"}, Stop{&cancel, std::nullopt});
    }
    HookReport ran(const std::vector<std::string>& readable = {}) {
        auto report = hooks(readable);
        if (!report.ok()) {
            ADD_FAILURE() << report.error().to_string();
            return {};
        }
        return std::move(*report);
    }

    std::unique_ptr<ProcessRunner> processes = make_process_runner(AGENTFORGE_EXEC);
    CancelToken cancel;
    std::string commit;
    std::string tree;
    std::string changed;
    std::map<std::string, std::string> environment;
};

// ----------------------------------------------------------------------------------------------- commits --

TEST_F(CommitTest, has_the_user_as_author_and_committer) {
    const auto made = make();
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_FALSE(made->is_signed);
    EXPECT_EQ(git("log -1 --format='%an <%ae> %cn %ct' " + made->id), "Ada Example <ada@example.org> Ada Example 1767312000\n");
}

TEST_F(CommitTest, a_configured_author_keeps_the_user_as_committer) {
    CommitOrder order;
    order.author = "Grace Hopper <grace@example.org>";
    const auto made = make(order);
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_EQ(git("log -1 --format='%an <%ae> %cn' " + made->id), "Grace Hopper <grace@example.org> Ada Example\n");
    EXPECT_EQ(git("log -1 --format=%B " + made->id), "Return one\n\nAgentForge-Task: t\n\n");
}

TEST_F(CommitTest, the_author_from_the_environment_is_used_as_by_git) {
    environment["GIT_AUTHOR_NAME"] = "Env Author";
    const auto made = make();
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_EQ(git("log -1 --format='%an %cn' " + made->id), "Env Author Ada Example\n");
}

/// Signs as gpg does, with the protocol that git reads.
constexpr const char* signer =
    "cat > /dev/null\nprintf '[GNUPG:] SIG_CREATED x\\n' >&2\nprintf -- '-----BEGIN PGP SIGNATURE-----\\n\\nabc\\n-----END PGP SIGNATURE-----\\n'\n";

TEST_F(CommitTest, is_signed_if_git_is_configured_to_sign) {
    script(base() / "bin/signer", signer);
    git("config commit.gpgsign true");
    of_the_user("gpg.program", (base() / "bin/signer").string());
    const auto made = make();
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_TRUE(made->is_signed);
    EXPECT_THAT(git("cat-file commit " + made->id), HasSubstr("gpgsig -----BEGIN PGP SIGNATURE-----"));
}

TEST_F(CommitTest, is_not_signed_if_the_settings_say_never) {
    git("config commit.gpgsign true");
    git("config gpg.program /nonexistent");
    CommitOrder order;
    order.sign = "never";
    const auto made = make(order);
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_FALSE(made->is_signed);
}

TEST_F(CommitTest, a_failed_signature_pauses_and_makes_no_commit) {
    script(base() / "bin/signer", "echo 'no secret key' >&2; exit 2\n");
    of_the_user("gpg.program", (base() / "bin/signer").string());
    CommitOrder order;
    order.sign = "always";
    const auto made = make(order);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-GIT-041");
    EXPECT_EQ(made.error().kind, ErrorKind::unavailable);
}

TEST_F(CommitTest, is_not_signed_by_a_program_from_the_repository) {
    git("config commit.gpgsign true");
    git("config user.signingkey key");
    git("config gpg.program '" + planted() + "'");
    git("config gpg.ssh.defaultKeyCommand '" + planted() + "'");
    EXPECT_NE(std::system(("git -C '" + user().string() + "' commit-tree -S " + changed + " < /dev/null 2> /dev/null").c_str()),
              0);
    ASSERT_TRUE(ran_what_was_planted()) << "git itself runs it";
    for (const char* format : {"openpgp", "ssh"}) {
        git(std::string("config gpg.format ") + format);
        const auto made = make();
        ASSERT_FALSE(made.ok());
        EXPECT_FALSE(ran_what_was_planted()) << format;
        EXPECT_THAT(made.error().to_string(), HasSubstr("gpg.program"));
    }
    script(base() / "bin/signer", signer);
    of_the_user("gpg.program", (base() / "bin/signer").string());
    git("config gpg.format openpgp");
    const auto made = make();
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_TRUE(made->is_signed) << "by the user's own program";
    EXPECT_FALSE(ran_what_was_planted());
}

TEST_F(CommitTest, leaves_no_temporary_git_directory) {
    const auto left = user() / ".git/agentforge-git-killed";
    std::filesystem::create_directories(left / "refs");
    std::filesystem::last_write_time(left, std::filesystem::file_time_type::clock::now() - std::chrono::hours(25));
    CommitOrder order;
    order.author = "Grace Hopper <grace@example.org>";
    ASSERT_TRUE(make(order).ok());
    for (const auto& entry : std::filesystem::directory_iterator(user() / ".git")) {
        EXPECT_FALSE(entry.path().filename().string().starts_with("agentforge-")) << entry.path();
    }
}

// ------------------------------------------------------------------------------------------------- hooks --

TEST_F(CommitTest, runs_nothing_without_hooks) {
    const HookReport report = ran();
    EXPECT_THAT(report.runs, IsEmpty());
    EXPECT_TRUE(report.passed());
}

TEST_F(CommitTest, a_hook_sees_the_pending_commit) {
    hook(
        "pre-commit",
        "git diff --cached --name-only; git rev-parse --abbrev-ref HEAD; git rev-parse HEAD; cat src/app.py; git status --porcelain\n");
    const HookReport report = ran();
    ASSERT_EQ(report.runs.size(), 1U);
    EXPECT_EQ(report.runs[0].output, "src/app.py\nagentforge/t\n" + commit + "\ndef main():\n    return 1\nM  src/app.py\n");
    EXPECT_EQ(report.runs[0].exit_code, 0);
}

TEST_F(CommitTest, hooks_run_in_gits_order_until_one_refuses) {
    hook("pre-commit", "exit 0\n");
    hook("prepare-commit-msg", "test \"$2\" = message && test -f \"$1\" && exit 3\n");
    hook("commit-msg", "exit 0\n");
    const HookReport report = ran();
    ASSERT_EQ(report.runs.size(), 2U);
    EXPECT_EQ(report.runs[1].exit_code, 3);
    EXPECT_FALSE(report.passed());
}

TEST_F(CommitTest, a_commit_msg_hook_may_change_the_message) {
    hook("commit-msg", "sed -i 's/^Return/feat: return/' \"$1\"\n");
    EXPECT_EQ(ran().message, "feat: return one\n\nAgentForge-Task: t\n");
}

TEST_F(CommitTest, changes_that_a_hook_stages_are_part_of_the_commit) {
    hook("pre-commit", "echo x >> src/app.py; echo lost > unstaged.txt; git rm -q --cached README.md; git add src/app.py\n");
    const HookReport report = ran();
    ASSERT_EQ(report.changed.size(), 2U);
    EXPECT_EQ(report.changed[0], (std::pair<std::string, std::optional<std::string>>{"README.md", std::nullopt}));
    EXPECT_EQ(report.changed[1].second, "def main():\n    return 1\nx\n");
}

TEST_F(CommitTest, a_hook_can_write_neither_the_checkout_nor_the_repository) {
    const auto before = picture(user() / "src");
    hook("pre-commit", "echo evil > '" + (user() / "src/app.py").string() + "'; echo evil > '" +
                           (user() / ".git/config").string() + "'; echo evil > '" + (base() / "evil").string() + "'; exit 0\n");
    const std::string config = read(user() / ".git/config");
    EXPECT_TRUE(ran().passed());
    EXPECT_EQ(picture(user() / "src"), before);
    EXPECT_EQ(read(user() / ".git/config"), config);
    EXPECT_FALSE(std::filesystem::exists(base() / "evil"));
}

TEST_F(CommitTest, a_hook_sees_no_secrets_and_no_files_of_the_checkout) {
    environment["MY_API_TOKEN"] = "hush";
    write(user() / "secret.env", "hush\n");
    hook("pre-commit", "echo \"[$MY_API_TOKEN]\"; cat '" + (user() / "secret.env").string() + "' 2>/dev/null; exit 0\n");
    EXPECT_EQ(ran().runs.at(0).output, "[]\n");
}

TEST_F(CommitTest, a_hook_is_run_from_the_users_file_and_not_the_tasks) {
    git("config core.hooksPath .githooks");
    script(user() / ".githooks/pre-commit", "exit 7\n");
    git("add -A");
    git("commit -q --no-verify -m hooks");
    commit = id_of("HEAD");
    script(user() / ".githooks/pre-commit", "exit 0\n");
    changed = tree_of_checkout();
    git("reset -q --hard");
    EXPECT_EQ(ran().runs.at(0).exit_code, 7);
}

TEST_F(CommitTest, a_hook_that_git_would_not_run_is_named) {
    write(user() / ".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    hook("post-commit", "exit 1\n");
    const HookReport report = ran();
    EXPECT_TRUE(report.passed());
    ASSERT_EQ(report.notes.size(), 2U);
    EXPECT_THAT(report.notes[0], HasSubstr("not executable"));
    EXPECT_THAT(report.notes[1], HasSubstr("post-commit is not run"));
}

TEST_F(CommitTest, a_hook_without_its_interpreter_is_named) {
    write(user() / ".git/hooks/pre-commit", "#!/nonexistent/interpreter\n");
    ::chmod((user() / ".git/hooks/pre-commit").c_str(), 0755);
    const auto report = hooks();
    EXPECT_TRUE(!report.ok() || !report->passed());
}

TEST_F(CommitTest, the_dry_run_leaves_nothing_behind) {
    hook("pre-commit", "exit 1\n");
    (void)ran();
    EXPECT_TRUE(std::filesystem::is_empty(base() / "scratch"));
}

// ------------------------------------------------------------------------------------------------- drift --

TEST_F(CommitTest, an_unchanged_branch_has_not_moved) {
    const auto drift = measure_drift(open(), "main", commit, tree, changed);
    ASSERT_TRUE(drift.ok());
    EXPECT_FALSE(drift->moved());
}

TEST_F(CommitTest, counts_new_commits_and_files_changed_on_both_sides) {
    change("src/app.py", "def main():\n    return 5\n");
    change("other.txt", "x\n");
    tree_of_checkout();
    git("commit -q -m theirs");
    const auto drift = measure_drift(open(), "main", commit, tree, changed);
    ASSERT_TRUE(drift.ok()) << drift.error().to_string();
    EXPECT_EQ(drift->commits, 1U);
    EXPECT_FALSE(drift->rewritten);
    EXPECT_THAT(drift->both, ElementsAre("src/app.py"));
    EXPECT_THAT(drift->conflicts, ElementsAre("src/app.py"));
}

TEST_F(CommitTest, a_base_with_uncommitted_changes_is_not_rewritten_history) {
    CommitRequest request;
    request.tree = changed;
    request.parent = commit;
    request.message = std::string(uncommitted_title) + "\n";
    request.author_name = "A";
    request.author_email = "a@b";
    const auto base_of_task = open().commit(request);
    ASSERT_TRUE(base_of_task.ok());
    EXPECT_FALSE(measure_drift(open(), "main", *base_of_task, changed, changed)->moved());
    git("commit -q -m later --allow-empty");
    const auto drift = measure_drift(open(), "main", *base_of_task, changed, changed);
    EXPECT_EQ(drift->commits, 1U);
    EXPECT_FALSE(drift->rewritten);
    git("commit -q --amend -m other --allow-empty");
    git("reset -q --hard HEAD~1");
    git("commit -q --amend -m another --allow-empty");
    EXPECT_TRUE(measure_drift(open(), "main", *base_of_task, changed, changed)->rewritten);
}

TEST_F(CommitTest, reports_a_rewritten_history) {
    git("commit -q --amend -m other --allow-empty");
    EXPECT_TRUE(measure_drift(open(), "main", commit, tree, changed)->rewritten);
}

TEST_F(CommitTest, changelog_entries_of_both_sides_are_kept_by_a_merge) {
    change("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- Old.\n");
    const std::string before = tree_of_checkout();
    change("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- Mine.\n- Old.\n");
    const std::string mine = tree_of_checkout();
    change("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- Theirs.\n- Old.\n");
    const std::string theirs = tree_of_checkout();
    const auto merged = merge_trees(user(), before, theirs, mine, files_of_both_sides());
    ASSERT_TRUE(merged.ok()) << merged.error().to_string();
    EXPECT_THAT(merged->conflicts, IsEmpty());
    EXPECT_EQ(git("show " + merged->tree + ":CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n- Theirs.\n- Mine.\n- Old.\n");
}

TEST_F(CommitTest, a_file_removed_on_one_side_and_changed_on_the_other_is_a_conflict) {
    change("src/app.py", "def main():\n    return 2\n");
    const std::string theirs = tree_of_checkout();
    git("rm -qf src/app.py");
    const std::string mine = tree_of_checkout();
    EXPECT_THAT(merge_trees(user(), tree, theirs, mine)->conflicts, ElementsAre("src/app.py"));
}

TEST_F(CommitTest, a_full_patch_restores_binary_files_modes_and_links_exactly) {
    write(user() / "data.bin", std::string("\0\1\2\xff\r\n", 6));
    write(user() / "latin1.txt", "caf\xe9\r\nno newline");
    ::chmod((user() / "README.md").c_str(), 0755);
    std::filesystem::remove(user() / "link");
    std::filesystem::create_symlink("README.md", user() / "link");
    const std::string after = tree_of_checkout();
    git("reset -q --hard");
    write(base() / "patch", whole_patch(user(), tree, after).value());
    git("apply --index --binary --whitespace=nowarn '" + (base() / "patch").string() + "'");
    EXPECT_EQ(git("write-tree"), after + "\n");
}

// ------------------------------------------------------------------------------------------- moved branch --

TEST_F(CommitTest, a_branch_is_moved_only_from_its_expected_commit) {
    const std::string newer = make()->id;
    git("branch task " + commit);
    ASSERT_TRUE(move_branch(user(), "task", commit, newer).ok());
    EXPECT_EQ(id_of("task"), newer);
    EXPECT_TRUE(move_branch(user(), "task", commit, newer).ok()) << "done already";
    const auto lost = move_branch(user(), "task", commit, commit);
    ASSERT_FALSE(lost.ok());
    EXPECT_EQ(lost.error().code, "AF-GIT-040");
    EXPECT_THAT(lost.error().remedy, HasSubstr("git branch -f task " + commit));
    EXPECT_EQ(id_of("task"), newer);
}

TEST_F(CommitTest, a_branch_that_is_checked_out_is_not_moved) {
    const std::string newer = make()->id;
    EXPECT_EQ(move_branch(user(), "main", commit, newer).error().code, "AF-GIT-040");
    EXPECT_EQ(id_of("main"), commit);
    git("branch task " + commit);
    EXPECT_TRUE(check_branch_is_movable(user(), "task", commit).ok());
    const std::string linked = (base() / "linked").string();
    git("worktree add -q " + linked + " task");
    const auto refused = check_branch_is_movable(user(), "task", commit);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("is checked out in " + linked));
}

TEST_F(CommitTest, a_branch_that_was_moved_or_deleted_says_how_to_bring_it_back) {
    const std::string newer = make()->id;  // On top of `commit`.
    EXPECT_THAT(check_branch_is_movable(user(), "task", newer).error().remedy, HasSubstr("git branch task " + newer));
    git("branch task " + commit);
    const auto reset = check_branch_is_movable(user(), "task", newer);
    EXPECT_EQ(reset.error().code, "AF-GIT-040");
    EXPECT_EQ(reset.error().remedy, "Set it back, then retry: git branch -f task " + newer);
    git("branch -f task " + newer);
    const auto more = check_branch_is_movable(user(), "task", commit);
    EXPECT_THAT(more.error().remedy, HasSubstr("It has commits of yours"));
    EXPECT_THAT(more.error().remedy, HasSubstr("git branch -f task " + commit));
}

// ----------------------------------------------------------------------------------------------- publish --

class PublishTest : public CommitTest {
protected:
    PublishTest() {
        run("git init -q --bare '" + (base() / "remote.git").string() + "'");
        // The address of a host, mapped to a folder.
        git("remote add origin https://github.example.org/acme/textkit.git");
        git("config url.'" + (base() / "remote.git").string() + "'.insteadOf https://github.example.org/acme/textkit.git");
        order.branch = "agentforge/t";
        order.commit = make()->id;
        order.base = "main";
        order.title = "Return one";
        order.body = "Because.";
    }
    Result<Published> publish() { return publish_branch(open(), *processes, environment, order, Stop{&cancel, std::nullopt}); }
    PublishOrder order;
};

TEST_F(PublishTest, without_gh_or_glab_pushes_the_branch_and_names_the_page) {
    const auto done = publish();
    ASSERT_TRUE(done.ok()) << done.error().to_string();
    EXPECT_EQ(git_in(base() / "remote.git", "rev-parse agentforge/t"), order.commit + "\n");
    EXPECT_EQ(done->url, "https://github.example.org/acme/textkit/compare/main...agentforge/t?expand=1");
    EXPECT_EQ(done->by, "push");
}

TEST_F(PublishTest, gh_opens_the_request_with_title_body_and_base) {
    script(base() / "bin/gh", "printf '%s\\n' \"$@\" > '" + (base() / "asked").string() + "'; cat >> '" +
                                  (base() / "asked").string() + "'; echo https://github.example.org/acme/textkit/pull/7\n");
    const auto done = publish();
    ASSERT_TRUE(done.ok()) << done.error().to_string();
    EXPECT_EQ(done->url, "https://github.example.org/acme/textkit/pull/7");
    EXPECT_EQ(done->by, "gh");
    EXPECT_EQ(read(base() / "asked"),
              "pr\ncreate\n--head\nagentforge/t\n--title\nReturn one\n--body-file\n-\n--base\nmain\nBecause.\n");
}

TEST_F(PublishTest, finds_an_existing_request) {
    script(
        base() / "bin/gh",
        "echo 'a pull request for branch \"agentforge/t\" already exists:' >&2; echo https://github.example.org/acme/textkit/pull/7 >&2; exit 1\n");
    EXPECT_EQ(publish()->url, "https://github.example.org/acme/textkit/pull/7");
}

TEST_F(PublishTest, a_failing_gh_is_quoted_and_leaves_the_pushed_branch) {
    script(base() / "bin/gh", "echo 'not logged in' >&2; exit 4\n");
    const auto done = publish();
    ASSERT_TRUE(done.ok());
    EXPECT_THAT(done->url, HasSubstr("/compare/"));
    EXPECT_THAT(done->note, HasSubstr("not logged in"));
}

TEST_F(PublishTest, names_a_missing_remote) {
    order.remote = "upstream";
    EXPECT_EQ(publish().error().code, "AF-GIT-044");
}

TEST_F(PublishTest, does_not_overwrite_a_branch_moved_by_others) {
    const std::string theirs = id_of("HEAD");
    git("push -q origin " + order.commit + ":refs/heads/agentforge/t");
    git("commit -q --allow-empty -m theirs");
    const std::string other = id_of("HEAD");
    git("push -q -f origin HEAD:refs/heads/agentforge/t");
    const auto done = publish();
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, "AF-GIT-044");
    EXPECT_EQ(git_in(base() / "remote.git", "rev-parse agentforge/t"), other + "\n");
}

TEST_F(PublishTest, a_push_runs_no_program_from_the_repository) {
    const std::string program = planted();
    for (const char* link : {"hooks/pre-push", "bin/git-remote-planted"}) {
        std::filesystem::create_directories((base() / link).parent_path());
        std::filesystem::create_symlink(program, base() / link);
    }
    const std::string folder = (base() / "remote.git").string();
    struct Attack {
        std::string key, value, address;
        bool is_pushed;
    };
    for (const auto& [key, value, address, is_pushed] :
         {Attack{"core.hooksPath", (base() / "hooks").string(), folder, true},
          Attack{"remote.origin.receivepack", program, folder, true}, Attack{"remote.origin.vcs", "planted", folder, true},
          Attack{"core.sshCommand", program, "ssh://host.invalid/x", false},
          Attack{"protocol.ext.allow", "always", "ext::" + program, false}}) {
        git("config '" + key + "' '" + value + "'");
        git("config remote.origin.pushurl '" + address + "'");
        const std::string plain = "cd '" + user().string() + "' && PATH=\"$PATH:" + (base() / "bin").string() +
                                  "\" git push -q origin " + order.commit + ":refs/heads/plain > /dev/null 2>&1";
        EXPECT_NE(std::system(plain.c_str()), 0) << key;
        EXPECT_TRUE(ran_what_was_planted()) << "git itself runs " << key;
        const auto done = publish();
        EXPECT_FALSE(ran_what_was_planted()) << key;
        EXPECT_EQ(done.ok(), is_pushed) << key;
        if (!done.ok()) {
            EXPECT_THAT(
                done.error().remedy,
                HasSubstr("`agentforge resume`; AgentForge does not run programs from the repository's own configuration ("));
        }
        git("config --unset '" + key + "'");
    }
}

TEST_F(PublishTest, gh_runs_without_programs_from_the_repository) {
    git("config core.fsmonitor '" + planted() + "'");
    run("git -C '" + user().string() + "' status > /dev/null 2>&1");
    ASSERT_TRUE(ran_what_was_planted()) << "git itself runs it";
    script(base() / "bin/gh", "git status > /dev/null 2>&1; git remote -v > '" + (base() / "remotes").string() +
                                  "'; echo https://github.example.org/acme/textkit/pull/7\n");
    EXPECT_EQ(publish()->by, "gh");
    EXPECT_FALSE(ran_what_was_planted());
    EXPECT_THAT(read(base() / "remotes"), HasSubstr("origin\t"));
}

TEST_F(PublishTest, refuses_a_remote_inside_the_repository_whose_hooks_would_run) {
    run("git init -q --bare '" + (user() / "vendor/remote.git").string() + "'");
    script(user() / "vendor/remote.git/hooks/post-receive", "touch '" + (base() / "ran").string() + "'\n");
    for (const std::string& address : {std::string("vendor/remote.git"), (user() / "vendor/remote.git").string(),
                                       "file://" + (user() / "vendor/remote.git").string()}) {
        git("config remote.origin.pushurl '" + address + "'");
        const auto done = publish();
        ASSERT_FALSE(done.ok());
        EXPECT_EQ(done.error().code, "AF-GIT-066") << address;
        EXPECT_FALSE(ran_what_was_planted());
    }
}

TEST_F(PublishTest, an_ssh_address_is_not_a_folder_of_the_repository) {
    of_the_user("core.sshCommand", "false");
    git("config remote.origin.pushurl git@host.invalid:acme/textkit.git");
    const auto done = publish();
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, "AF-GIT-044");
}

TEST_F(PublishTest, sends_git_lfs_objects_before_the_branch) {
    std::filesystem::create_directories(user() / ".git/lfs/objects");
    script(base() / "bin/git-lfs", "printf '%s ' \"$@\" > '" + (base() / "asked").string() + "'; cat >> '" +
                                       (base() / "asked").string() + "'; git config lfs.storage >> '" +
                                       (base() / "asked").string() + "'\n");
    ASSERT_TRUE(publish().ok());
    EXPECT_EQ(read(base() / "asked"), "pre-push origin " + (base() / "remote.git").string() + " refs/heads/agentforge/t " +
                                          order.commit + " refs/heads/agentforge/t " + std::string(40, '0') + "\n" +
                                          (std::filesystem::canonical(user()) / ".git/lfs").string() + "\n");
}

TEST_F(PublishTest, a_password_in_the_address_is_not_shown) {
    git("config remote.origin.pushurl https://me:hush@github.example.org/acme/textkit.git");
    const auto done = publish();
    const std::string shown = done.ok() ? done->remote + done->url : done.error().to_string();
    EXPECT_THAT(shown, Not(HasSubstr("hush")));
}

// ----------------------------------------------------------------------------------------------- archive --

class ArchiveTest : public GitTest {
protected:
    ArchiveTest() {
        (void)first_commit();
        write(tasks() / "task-1/state.yaml",
              R"({"status": "completed", "request": "Do it\nwell", "updated_at": "2026-01-02T00:00:00.000Z"})");
        write(tasks() / "task-1/actions.yaml", std::string("bytes \0 as they are\r\n", 21));
        write(tasks() / "task-1/artifacts/blobs/blobs.yaml", "x\n");
        write(tasks() / "task-1/artifacts.note", "sorts before the folder of that beginning\n");
        write(tasks() / "task-1/lock", "pid\n");
        write(escalations() / "ESC-task-1-clarify-1.yaml", "asked\n");
        write(escalations() / "ESC-task-2-clarify-1.yaml", "another's\n");
    }
    [[nodiscard]] std::filesystem::path tasks() const { return user() / ".agentforge/tasks"; }
    [[nodiscard]] std::filesystem::path escalations() const { return user() / ".agentforge/escalations"; }
    void archive() const {
        const auto done = archive_task(user(), "task-1", tasks() / "task-1", escalations());
        ASSERT_TRUE(done.ok()) << done.error().to_string();
    }
    Result<std::vector<std::string>> restore() const { return restore_task(user(), "task-1", tasks(), escalations()); }
};

TEST_F(ArchiveTest, restores_a_task_byte_for_byte_after_git_clean) {
    auto before = picture(tasks() / "task-1");
    before.erase("lock");
    archive();
    git("clean -fdxq");
    ASSERT_TRUE(restore().ok());
    auto after = picture(tasks() / "task-1");
    for (auto* one : {&before, &after}) {
        for (auto& [path, text] : *one) { text = text.substr(text.find(':')); }  // Modes are those of a new file.
    }
    EXPECT_EQ(after, before);
    EXPECT_EQ(read(escalations() / "ESC-task-1-clarify-1.yaml"), "asked\n");
    EXPECT_FALSE(std::filesystem::exists(escalations() / "ESC-task-2-clarify-1.yaml"));
}

TEST_F(ArchiveTest, restores_a_large_journal_completely) {
    std::string journal;
    for (unsigned line = 0; journal.size() < 300'000; ++line) { journal += "record " + std::to_string(line) + "\n"; }
    write(tasks() / "task-1/actions.yaml", journal);
    archive();
    EXPECT_EQ(git("show refs/agentforge/archive/task-1:task/actions.yaml"), journal);
    EXPECT_THAT(git("count-objects -v"), HasSubstr("garbage: 0"));
    EXPECT_THAT(git("fsck --strict --full"), Not(HasSubstr("error")));
}

TEST_F(ArchiveTest, a_large_file_that_is_archived_again_is_stored_once) {
    write(tasks() / "task-1/actions.yaml", std::string(200'000, 'r'));
    archive();
    const std::string before = git("count-objects -v");
    write(tasks() / "task-1/task.yaml", "a new small one\n");
    archive();
    EXPECT_EQ(before.substr(0, before.find('\n')), git("count-objects -v").substr(0, before.find('\n')))
        << "its first line counts the loose objects";
}

TEST_F(ArchiveTest, is_listed_with_its_request_and_status) {
    archive();
    const auto listed = archived_tasks(user());
    ASSERT_TRUE(listed.ok());
    ASSERT_EQ(listed->size(), 1U);
    EXPECT_EQ(listed->front().task_id + " " + listed->front().status + " " + listed->front().request, "task-1 completed Do it");
}

TEST_F(ArchiveTest, the_newest_state_replaces_the_previous_one) {
    archive();
    const std::string longer = read(tasks() / "task-1/actions.yaml") + "more\n";
    write(tasks() / "task-1/actions.yaml", longer);
    archive();
    EXPECT_EQ(git("show refs/agentforge/archive/task-1:task/actions.yaml"), longer);
    EXPECT_EQ(git("for-each-ref --format='%(objecttype)' refs/agentforge"), "tree\n")
        << "git log --all shows the user's commits alone";
    EXPECT_THAT(git("fsck --strict --full"), Not(HasSubstr("error")));
}

TEST_F(ArchiveTest, is_not_replaced_by_a_task_whose_journal_lacks_archived_records) {
    archive();
    const std::string archived = read(tasks() / "task-1/actions.yaml");
    write(tasks() / "task-1/actions.yaml", archived.substr(0, archived.size() - 1));
    const auto again = archive_task(user(), "task-1", tasks() / "task-1", escalations());
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().code, "AF-GIT-069");
    EXPECT_EQ(git("show refs/agentforge/archive/task-1:task/actions.yaml"), archived);
}

TEST_F(ArchiveTest, is_not_restored_over_an_existing_folder) {
    archive();
    write(tasks() / "task-1/actions.yaml", "newer\n");
    EXPECT_EQ(restore().error().code, "AF-GIT-056");
    EXPECT_EQ(read(tasks() / "task-1/actions.yaml"), "newer\n");
}

TEST_F(ArchiveTest, restored_blobs_leave_damaged_files_and_name_them) {
    archive();
    std::filesystem::remove_all(tasks() / "task-1/artifacts/blobs");
    write(tasks() / "task-1/actions.yaml", "damaged\n");
    std::filesystem::remove(tasks() / "task-1/artifacts.note");
    const auto left = restore();
    ASSERT_TRUE(left.ok());
    EXPECT_EQ(*left, (std::vector<std::string>{"actions.yaml", "artifacts.note"}));
    EXPECT_EQ(read(tasks() / "task-1/actions.yaml"), "damaged\n");
    EXPECT_EQ(read(tasks() / "task-1/artifacts/blobs/blobs.yaml"), "x\n");
}

TEST_F(ArchiveTest, restored_blobs_of_a_journal_that_has_grown_since_are_no_damage) {
    archive();
    std::filesystem::remove_all(tasks() / "task-1/artifacts/blobs");
    write(tasks() / "task-1/actions.yaml", std::string("bytes \0 as they are\r\nmore\n", 26));
    const auto left = restore();
    ASSERT_TRUE(left.ok());
    EXPECT_TRUE(left->empty());
}

TEST_F(ArchiveTest, refuses_anything_but_a_task_archive) {
    git("update-ref refs/agentforge/archive/task-1 " + id_of("HEAD^{tree}"));
    std::filesystem::remove_all(tasks() / "task-1");
    EXPECT_EQ(restore().error().code, "AF-GIT-057");
    EXPECT_FALSE(std::filesystem::exists(tasks() / "task-1"));
    EXPECT_EQ(restore_task(user(), "task-9", tasks(), escalations()).error().code, "AF-GIT-055");
}

}  // namespace
}  // namespace agentforge::kernel
