// SPDX-License-Identifier: Apache-2.0
// Compares the in-memory workspace with the kernel's own on disk: the same calls, the same answers.
#include <agentforge/testing/fake_host.hpp>

#include <gmock/gmock.h>

#include "base/files.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::testing {
namespace {

using kernel::RolePaths;
using kernel::RoleWorkspace;
using ::testing::ElementsAre;

class FakeWorkspaceAsTheReal : public ::testing::Test {
protected:
    FakeWorkspaceAsTheReal()
        : real_(std::move(RoleWorkspace::open(folder_.path().string(),
                                              RolePaths::make("tester", {{"create_file", "src/**, *.md"}}).value()))
                    .value()) {
        for (const auto& [path, content] :
             std::map<std::string, std::string>{{"src/app.py", "def one():\n    return 1\n\n\ndef two():\n    return 2\n"},
                                                {"src/deep/er/x.py", "x = 1\r\ny = 2\r\n"},
                                                {"src.txt", "beside the folder\n"},
                                                {"README.md", "# A title\nlast line without end"},
                                                {"blob.bin", std::string("a\0b", 3)}}) {
            fake_.files.put(path, content);
            std::filesystem::create_directories((folder_.path() / path).parent_path());
            EXPECT_TRUE(kernel::write_file_atomic(folder_.path() / path, content, kernel::Durability::cached).ok());
        }
        fake_.files.allow_writes("src/**, *.md");
    }

    /// Returns the result of a call on both, as text; errors by their code.
    template <class Call>
    void same(const std::string& what, Call&& call) {
        EXPECT_EQ(call(static_cast<Workspace&>(fake_.files)), call(static_cast<Workspace&>(*real_))) << what;
    }
    static std::string shown(const Result<FileView>& read) {
        if (!read.ok()) { return read.error().code; }
        return read->path + "|" + read->content + "|" + read->sha256 + "|" + std::to_string(read->size_bytes) + "|" +
               std::to_string(read->first_line) + "-" + std::to_string(read->last_line) + "/" +
               std::to_string(read->total_lines) + (read->truncated ? " truncated" : "");
    }
    static std::string shown(const Result<Listing>& list) {
        if (!list.ok()) { return list.error().code; }
        std::string text;
        for (const auto& entry : list->entries) {
            text += entry.path + (entry.directory ? "/ " : " ") + std::to_string(entry.size_bytes) + "\n";
        }
        return text + (list->truncated ? "truncated" : "");
    }
    static std::string shown(const Result<SearchHits>& search) {
        if (!search.ok()) { return search.error().code; }
        std::string text;
        for (const auto& hit : search->hits) { text += hit.path + ":" + std::to_string(hit.line) + ":" + hit.text + "\n"; }
        return text + (search->truncated ? "truncated" : "");
    }
    static std::string shown(const Result<Change>& change) {
        if (!change.ok()) { return change.error().code; }
        return change->path + "|" + change->before_sha256 + "|" + change->after_sha256 + "|+" +
               std::to_string(change->lines_added) + "-" + std::to_string(change->lines_removed) +
               (change->created ? " created" : "");
    }

    kernel::TemporaryDirectory folder_{"fake_workspace"};
    std::unique_ptr<RoleWorkspace> real_;
    FakeToolContext fake_;
};

const std::vector<std::string> paths = {"src/app.py",
                                        "./src//app.py",
                                        "src/./app.py/",
                                        "src",
                                        ".",
                                        "",
                                        "/etc/passwd",
                                        "../x",
                                        "src/../../x",
                                        "~",
                                        "~/x",
                                        "a~",
                                        ".git/config",
                                        ".GIT/x",
                                        "src/.git",
                                        ".agentforge/x",
                                        "git~1/x",
                                        "a\\b",
                                        "a\nb",
                                        std::string("a\0b", 3),
                                        "\xff",
                                        std::string(5000, 'a'),
                                        std::string(300, 'a'),
                                        "missing.py",
                                        "src/app.py/x",
                                        "blob.bin",
                                        "README.md",
                                        "src/deep/er/x.py",
                                        ".git ",
                                        "x.md",
                                        "other/y.md"};

TEST_F(FakeWorkspaceAsTheReal, read_alike) {
    for (const auto& path : paths) {
        same(path, [&](Workspace& workspace) { return shown(workspace.read(path)); });
        for (const ReadOptions& options : {ReadOptions{2, 0, 1000}, ReadOptions{2, 3, 1000}, ReadOptions{1, 0, 5},
                                           ReadOptions{99, 0, 10}, ReadOptions{3, 2, 10}}) {
            same(path, [&](Workspace& workspace) { return shown(workspace.read(path, options)); });
        }
    }
}

TEST_F(FakeWorkspaceAsTheReal, list_alike) {
    for (const auto& path : paths) {
        for (const ListOptions& options :
             {ListOptions{}, ListOptions{false, "", 1000}, ListOptions{true, "*.py", 1000},
              ListOptions{true, "src/**, !deep/", 1000}, ListOptions{true, "", 2}, ListOptions{true, "[", 2}}) {
            same(path + " " + options.glob, [&](Workspace& workspace) { return shown(workspace.list(path, options)); });
        }
    }
}

TEST_F(FakeWorkspaceAsTheReal, search_alike) {
    for (const SearchQuery& query :
         {SearchQuery{"return", false, false, "", 100}, SearchQuery{"^def [a-z]+", false, false, "", 100},
          SearchQuery{"RETURN 2", true, true, "", 100}, SearchQuery{"(", true, false, "", 100},
          SearchQuery{"(", false, false, "", 100}, SearchQuery{"", false, false, "", 100},
          SearchQuery{"e", false, false, "*.md", 1}}) {
        same(query.pattern, [&](Workspace& workspace) { return shown(workspace.search(query)); });
    }
}

TEST_F(FakeWorkspaceAsTheReal, find_alike) {
    for (const auto& path : paths) {
        same(path, [&](Workspace& workspace) { return workspace.exists(path); });
    }
}

TEST_F(FakeWorkspaceAsTheReal, create_alike) {
    for (const auto& path : paths) {
        for (const bool overwrite : {false, true}) {
            same(path, [&](Workspace& workspace) { return shown(workspace.create(path, "one\ntwo\n", overwrite)); });
        }
    }
}

TEST_F(FakeWorkspaceAsTheReal, edit_alike) {
    for (const auto& path : paths) {
        for (const auto& [search, replace] :
             std::vector<std::pair<std::string, std::string>>{{"return 1", "return 3"},
                                                              {"return", "give"},
                                                              {"", "x"},
                                                              {"nowhere", "x"},
                                                              {"x = 1\n", "x = 5\nz = 0\n"},
                                                              {"def two():   \n", "def three():\n"},
                                                              {"title", "title"}}) {
            same(path + " " + search, [&](Workspace& workspace) { return shown(workspace.edit(path, search, replace)); });
        }
    }
}

TEST_F(FakeWorkspaceAsTheReal, move_alike) {
    for (const auto& path : paths) {
        same(path, [&](Workspace& workspace) { return shown(workspace.move(path, "src/new/place.py")); });
        same(path, [&](Workspace& workspace) { return shown(workspace.move("src/new/place.py", path)); });
    }
}

TEST_F(FakeWorkspaceAsTheReal, apply_alike) {
    const auto applied = [](Workspace& workspace, const std::vector<FileEdit>& edits) {
        const auto done = atomic_edits(workspace)->apply(edits);
        if (!done.ok()) { return done.error().code; }
        std::string text;
        for (const FileEdited& file : *done) {
            text += shown(Result<Change>(file.change)) + "|" + file.moved_from + (file.tolerant ? " tolerant" : "");
            for (const LineRange& region : file.regions) {
                text += " " + std::to_string(region.first_line) + "-" + std::to_string(region.last_line);
            }
        }
        return text;
    };
    const auto edit = [](FileEditKind kind, const std::string& path, std::string content = "", std::string move_to = "") {
        FileEdit one;
        one.kind = kind;
        one.path = path;
        one.content = std::move(content);
        one.move_to = std::move(move_to);
        return one;
    };
    FileEdit hunks = edit(FileEditKind::change, "src/app.py");
    hunks.hunks = {{"    return 1\n", "    return 3\n", {"def one():"}, true, false, ""},
                   {"two", "three", {}, false, false, ""},
                   {"", "# end\n", {}, true, true, ""}};
    FileEdit nowhere = hunks;
    nowhere.path = "src/deep/er/x.py";
    same("nothing", [&](Workspace& workspace) { return applied(workspace, {}); });
    same("hunks that fit and some that do not", [&](Workspace& workspace) {
        return applied(workspace, {hunks, nowhere}) + shown(workspace.read("src/app.py"));
    });
    same("hunks", [&](Workspace& workspace) { return applied(workspace, {hunks}) + shown(workspace.read("src/app.py")); });
    for (const auto& path : paths) {
        same(path + " overwritten",
             [&](Workspace& workspace) { return applied(workspace, {edit(FileEditKind::overwrite, path, "z = 1\n")}); });
        same(path + " overwritten again",
             [&](Workspace& workspace) { return applied(workspace, {edit(FileEditKind::overwrite, path, "z = 1\n")}); });
        same(path + " created", [&](Workspace& workspace) {
            return applied(workspace,
                           {edit(FileEditKind::create, "src/fresh.py", "f\n"), edit(FileEditKind::create, path, "n\n")});
        });
        same(path + " fresh", [&](Workspace& workspace) {
            return shown(workspace.read("src/fresh.py")) + applied(workspace, {edit(FileEditKind::remove, "src/fresh.py")});
        });
        same(path + " said nothing of",
             [&](Workspace& workspace) { return applied(workspace, {edit(FileEditKind::change, path)}); });
        same(path + " moved", [&](Workspace& workspace) {
            return applied(workspace, {edit(FileEditKind::change, path, "", "src/new/place.py")});
        });
        same(path + " moved back", [&](Workspace& workspace) {
            return applied(workspace, {edit(FileEditKind::change, "src/new/place.py", "", path)});
        });
        same(path + " removed and moved",
             [&](Workspace& workspace) { return applied(workspace, {edit(FileEditKind::remove, path, "", "src/b.py")}); });
        same(path + " twice", [&](Workspace& workspace) {
            return applied(workspace, {edit(FileEditKind::remove, path), edit(FileEditKind::remove, path)});
        });
        same(path + " removed", [&](Workspace& workspace) { return applied(workspace, {edit(FileEditKind::remove, path)}); });
    }
    const auto expected = real_->take_changes();
    const auto writes = fake_.files.writes();
    ASSERT_EQ(writes.size(), expected.size());
    for (std::size_t i = 0; i < writes.size(); ++i) {
        EXPECT_EQ(shown(Result<Change>(writes[i])), shown(Result<Change>(expected[i])));
    }
}

TEST_F(FakeWorkspaceAsTheReal, remove_alike) {
    for (const auto& path : paths) {
        same(path, [&](Workspace& workspace) { return shown(workspace.remove(path)); });
    }
}

TEST_F(FakeWorkspaceAsTheReal, record_the_same_writes) {
    same("three writes", [&](Workspace& workspace) {
        return shown(workspace.create("src/a.py", "1\n")) + shown(workspace.edit("src/a.py", "1", "2")) +
               shown(workspace.move("src/a.py", "src/b.py")) + shown(workspace.remove("src/b.py"));
    });
    const auto expected = real_->take_changes();
    const auto writes = fake_.files.writes();
    ASSERT_EQ(writes.size(), expected.size());
    for (std::size_t i = 0; i < writes.size(); ++i) {
        EXPECT_EQ(shown(Result<Change>(writes[i])), shown(Result<Change>(expected[i])));
    }
}

TEST(FakeWorkspace, fails_the_next_call_on_request) {
    FakeToolContext host;
    host.files.put("a.py", "x").fail_next("read", {"AF-TOOL-038", "Cannot read", "", "", ErrorKind::io});
    EXPECT_EQ(host.files.read("a.py").error().code, "AF-TOOL-038");
    EXPECT_TRUE(host.files.read("a.py").ok());
}

TEST(FakeWorkspace, refuses_to_fail_a_function_that_it_does_not_have) {
    FakeToolContext host;
    EXPECT_THROW(host.files.fail_next("reed", {}), std::invalid_argument);
}

TEST(FakeWorkspace, refuses_to_change_a_locked_file) {
    FakeToolContext host;
    host.files.put("tests/test_a.py", "x").lock("tests/test_a.py");
    EXPECT_EQ(host.files.remove("tests/test_a.py").error().code, "AF-TOOL-015");
}

TEST(FakeWorkspace, is_recorded_with_its_paths) {
    FakeToolContext host;
    static_cast<void>(host.files.exists("a.py"));
    ASSERT_THAT(host.functions(), ElementsAre("workspace.exists"));
    EXPECT_EQ(host.calls()[0].details.at("path").as_string(), "a.py");
}

}  // namespace
}  // namespace agentforge::testing
