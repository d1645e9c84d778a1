// SPDX-License-Identifier: Apache-2.0
#include "plugins/lock.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "plugins/library.hpp"
#include "plugins/sealed.hpp"
#include "unit/plugins/plugin_folder.hpp"
#include "unit/sdk/fake_context.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;
using agentforge::test::FakeContext;
using test::PluginFolder;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PluginLockTest : public testing::Test {
protected:
    void SetUp() override { folder.add("stage/good", test::good_manifest(), "good/good.so"); }

    void write_lock(const PluginRegistry& registry) const {
        std::vector<const PluginManifest*> all;
        for (const PluginManifest& plugin : registry.plugins()) { all.push_back(&plugin); }
        const auto made = PluginLock::of(all, file);
        ASSERT_TRUE(made.ok()) << made.error().to_string();
        std::ofstream(file) << made->text();
    }
    void lock() const { write_lock(folder.discover()); }
    [[nodiscard]] PluginRegistry discover() const {
        PluginSearch search;
        search.configured = {folder.path()};
        search.lock = file;
        return PluginRegistry::discover(search);
    }
    static void flip_last_byte(const fs::path& path) {
        std::string bytes = read_file(path).value();
        bytes.back() = static_cast<char>(bytes.back() ^ 1);
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    }
    [[nodiscard]] std::string good(const char* name) const { return folder.path() + "/stage/good/" + name; }

    PluginFolder folder;
    TemporaryDirectory place{"lock"};
    std::string file = (place.path() / "plugins.lock").string();
    FakeContext context;
};

TEST_F(PluginLockTest, an_unchanged_plugin_is_used) {
    lock();
    PluginRegistry registry = discover();
    EXPECT_THAT(registry.problems(), IsEmpty());
    const auto tool = registry.tool("good_tool");
    ASSERT_TRUE(tool.ok()) << tool.error().to_string();
    EXPECT_EQ((*tool)->call({{"word", "hi"}}, context).output, R"({"word":"hi"})");
}

TEST_F(PluginLockTest, a_library_with_one_changed_bit_is_refused_with_both_hashes) {
    lock();
    const std::string expected = hash_folder(folder.path() + "/stage/good").value().at("good.so");
    flip_last_byte(good("good.so"));
    const std::string found = hash_folder(folder.path() + "/stage/good").value().at("good.so");
    PluginRegistry registry = discover();
    const auto tool = registry.tool("good_tool");
    ASSERT_FALSE(tool.ok());
    EXPECT_EQ(tool.error().code, "AF-PLUG-031");
    EXPECT_THAT(tool.error().message, AllOf(HasSubstr("org.agentforge.test.good"), HasSubstr(expected), HasSubstr(found),
                                            HasSubstr("plugins.lock:5:")));
    EXPECT_EQ(tool.error().where, good("good.so"));
    EXPECT_THAT(tool.error().remedy, HasSubstr("agentforge plugins lock"));
}

TEST_F(PluginLockTest, a_changed_manifest_excludes_the_plugin_at_once) {
    lock();
    std::ofstream(good("plugin.json"), std::ios::app) << "\n";
    const PluginRegistry registry = discover();
    EXPECT_FALSE(registry.has(PluginKind::tool, "good_tool"));
    EXPECT_EQ(registry.plugins()[0].state, PluginState::lock_differs);
    EXPECT_THAT(registry.problems(), ElementsAre(testing::Field(&Error::code, "AF-PLUG-031")));
}

TEST_F(PluginLockTest, a_different_version_is_named) {
    lock();
    json::object manifest = test::good_manifest();
    manifest["version"] = "2.0.0";
    folder.add("stage/good", manifest, "good/good.so");
    EXPECT_THAT(discover().problems()[0].message, AllOf(HasSubstr("found is version 2.0.0"), HasSubstr("expects version 1.2.3")));
}

TEST_F(PluginLockTest, a_missing_file_is_named) {
    std::ofstream(good("words.txt")) << "a";
    lock();
    fs::remove(good("words.txt"));
    EXPECT_THAT(discover().tool("good_tool").error().message, AllOf(HasSubstr("`words.txt` is missing")));
}

TEST_F(PluginLockTest, an_extra_file_is_named) {
    lock();
    std::ofstream(good("extra.so")) << "a";
    EXPECT_THAT(discover().tool("good_tool").error().message, HasSubstr("`extra.so` is not named by"));
}

TEST_F(PluginLockTest, a_plugin_missing_from_the_lock_is_not_used) {
    std::ofstream(file) << "agentforge_lock: 1\nplugins: []\n";
    PluginRegistry registry = discover();
    EXPECT_THAT(registry.names(PluginKind::tool), IsEmpty());
    EXPECT_EQ(registry.problems()[0].code, "AF-PLUG-032");
    EXPECT_EQ(registry.tool("good_tool").error().code, "AF-PLUG-030");
    EXPECT_THAT(registry.tool("good_tool").error().message, HasSubstr("not in this project's lock"));
}

TEST_F(PluginLockTest, built_in_plugins_need_no_lock) {
    std::ofstream(file) << "agentforge_lock: 1\nplugins: []\n";
    PluginSearch search;
    search.product = folder.path();
    search.lock = file;
    const PluginRegistry registry = PluginRegistry::discover(search);
    EXPECT_TRUE(registry.has(PluginKind::tool, "good_tool"));
    EXPECT_EQ(registry.plugins()[0].pinned, nullptr);
}

TEST_F(PluginLockTest, the_built_in_folder_needs_no_lock_even_if_a_user_names_it) {
    std::ofstream(file) << "agentforge_lock: 1\nplugins: []\n";
    PluginSearch search;
    search.product = folder.path();
    search.configured = {folder.path() + "/stage"};
    search.project = {folder.path() + "/stage/good"};
    search.lock = file;
    EXPECT_TRUE(PluginRegistry::discover(search).has(PluginKind::tool, "good_tool"));
}

TEST_F(PluginLockTest, without_a_lock_any_plugin_is_used) { EXPECT_TRUE(discover().tool("good_tool").ok()); }

TEST_F(PluginLockTest, a_broken_lock_is_named_and_excludes_every_plugin) {
    std::ofstream(file) << "agentforge_lock: 1\nplugins: 3\n";
    const PluginRegistry registry = discover();
    EXPECT_FALSE(registry.has(PluginKind::tool, "good_tool"));
    EXPECT_EQ(registry.problems()[0].code, "AF-PLUG-034");
    EXPECT_EQ(registry.problems()[0].where, file + ":2:10");
}

TEST_F(PluginLockTest, reads_back_the_same) {
    lock();
    const auto read = PluginLock::load(file);
    ASSERT_TRUE(read.ok() && read->has_value());
    EXPECT_EQ((*read)->plugins.at("org.agentforge.test.good").files, hash_folder(folder.path() + "/stage/good").value());
    EXPECT_EQ((*read)->text(), read_file(file).value());
}

TEST_F(PluginLockTest, a_symlinked_library_is_refused) {
    fs::rename(good("good.so"), place.path() / "elsewhere.so");
    fs::create_symlink(place.path() / "elsewhere.so", good("good.so"));
    lock();
    const auto tool = discover().tool("good_tool");
    ASSERT_FALSE(tool.ok());
    EXPECT_EQ(tool.error().code, "AF-PLUG-037");
    EXPECT_THAT(tool.error().message, HasSubstr("symbolic link"));
}

TEST_F(PluginLockTest, a_symlinked_manifest_cannot_be_locked) {
    fs::rename(good("plugin.json"), place.path() / "plugin.json");
    fs::create_symlink(place.path() / "plugin.json", good("plugin.json"));
    const PluginRegistry registry = folder.discover();
    const auto made = PluginLock::of({&registry.plugins()[0]}, file);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-PLUG-037");
}

// Covers the gap between check and load: the checked bytes are in a private copy.
TEST_F(PluginLockTest, loads_the_verified_bytes_even_if_the_file_changes) {
    lock();
    const PluginRegistry registry = discover();
    auto sealed = seal(registry.plugins()[0], "good.so");
    ASSERT_TRUE(sealed.ok()) << sealed.error().to_string();
    std::ofstream(good("good.so"), std::ios::trunc) << "not a library any more";
    void* const handle = dlopen(("/proc/self/fd/" + std::to_string(sealed->get())).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    EXPECT_NE(dlsym(handle, entry_symbol), nullptr);
    static_cast<void>(sealed->release());  // The dynamic linker identifies the library by this number.
}

TEST_F(PluginLockTest, a_sealed_copy_cannot_be_written) {
    lock();
    const PluginRegistry registry = discover();
    const auto sealed = seal(registry.plugins()[0], "good.so");
    ASSERT_TRUE(sealed.ok());
    EXPECT_EQ(::pwrite(sealed->get(), "x", 1, 0), -1);
}

TEST_F(PluginLockTest, a_file_replaced_after_the_folder_check_is_not_sealed) {
    lock();
    const PluginRegistry registry = discover();
    ASSERT_TRUE(check_pinned_files(registry.plugins()[0]).ok());
    flip_last_byte(good("good.so"));
    EXPECT_EQ(seal(registry.plugins()[0], "good.so").error().code, "AF-PLUG-031");
}

TEST_F(PluginLockTest, a_truncated_library_is_refused_by_its_hash_before_it_is_opened) {
    lock();
    fs::resize_file(good("good.so"), 200);
    EXPECT_EQ(discover().tool("good_tool").error().code, "AF-PLUG-031");
}

TEST_F(PluginLockTest, a_library_locked_while_truncated_is_named_by_its_file) {
    fs::resize_file(good("good.so"), 200);
    lock();
    const auto tool = discover().tool("good_tool");
    EXPECT_EQ(tool.error().code, "AF-PLUG-011");
    EXPECT_EQ(tool.error().where, good("good.so"));
}

class PluginLockedWithSibling : public PluginLockTest {
protected:
    void SetUp() override {
        folder.add("tool/beside",
                   test::manifest_of("org.agentforge.test.beside", "with_beside.so", {test::entry("tool", "beside")}),
                   "bad/with_beside.so");
        fs::copy_file(std::string(TEST_PLUGINS) + "/beside/libagentforge-test-beside.so", beside());
        lock();
    }
    [[nodiscard]] std::string beside() const { return folder.path() + "/tool/beside/libagentforge-test-beside.so"; }
};

TEST_F(PluginLockedWithSibling, library_is_found_by_the_plugin_that_needs_it) {
    PluginRegistry registry = discover();
    const auto tool = registry.tool("beside");
    ASSERT_TRUE(tool.ok()) << tool.error().to_string();
    EXPECT_EQ((*tool)->call({}, context).output, "from beside");
}

TEST_F(PluginLockedWithSibling, changed_library_is_refused) {
    flip_last_byte(beside());
    const auto tool = discover().tool("beside");
    ASSERT_FALSE(tool.ok());
    EXPECT_EQ(tool.error().code, "AF-PLUG-031");
    EXPECT_EQ(tool.error().where, beside());
}

class PluginUnlockedWithSibling : public testing::Test {
protected:
    void SetUp() override {
        folder.add("tool/beside",
                   test::manifest_of("org.agentforge.test.beside", "with_beside.so", {test::entry("tool", "beside")}),
                   "bad/with_beside.so");
    }
    PluginFolder folder;
    FakeContext context;
};

TEST_F(PluginUnlockedWithSibling, finds_the_library_in_the_plugins_folder) {
    fs::copy_file(std::string(TEST_PLUGINS) + "/beside/libagentforge-test-beside.so",
                  folder.path() + "/tool/beside/libagentforge-test-beside.so");
    const auto tool = folder.discover().tool("beside");
    ASSERT_TRUE(tool.ok()) << tool.error().to_string();
    EXPECT_EQ((*tool)->call({}, context).output, "from beside");
}

TEST_F(PluginUnlockedWithSibling, is_refused_if_the_sibling_library_is_truncated) {
    std::ofstream(folder.path() + "/tool/beside/libagentforge-test-beside.so") << "no library";
    const auto tool = folder.discover().tool("beside");
    ASSERT_FALSE(tool.ok());
    EXPECT_EQ(tool.error().code, "AF-PLUG-011");
    EXPECT_THAT(tool.error().where, HasSubstr("libagentforge-test-beside.so"));
}

TEST(PluginNeededLibraries, of_a_plugin_are_read_from_its_bytes) {
    EXPECT_THAT(needed_libraries(read_file(std::string(TEST_PLUGINS) + "/bad/with_beside.so").value()),
                Contains("libagentforge-test-beside.so"));
}

TEST(PluginNeededLibraries, of_corrupt_bytes_never_crash) {
    const std::string whole = read_file(std::string(TEST_PLUGINS) + "/bad/with_beside.so").value();
    for (std::size_t size = 0; size < whole.size(); size += whole.size() / 97 + 1) {
        static_cast<void>(needed_libraries(std::string_view(whole).substr(0, size)));
    }
    std::string spoiled = whole;
    for (std::size_t at = 0; at < 2000; ++at) {
        const char before = spoiled[at];
        spoiled[at] = static_cast<char>(0xFF);
        static_cast<void>(needed_libraries(spoiled));
        spoiled[at] = before;
    }
    EXPECT_THAT(needed_libraries(""), IsEmpty());
}

struct BrokenLock {
    const char* name;
    const char* text;
    const char* message;
    const char* place;
};
class PluginLockBroken : public PluginLockTest, public testing::WithParamInterface<BrokenLock> {};

TEST_P(PluginLockBroken, is_named_with_its_position) {
    std::ofstream(file) << GetParam().text;
    const auto lock = PluginLock::load(file);
    ASSERT_FALSE(lock.ok());
    EXPECT_EQ(lock.error().code, "AF-PLUG-034");
    EXPECT_THAT(lock.error().message, HasSubstr(GetParam().message));
    EXPECT_EQ(lock.error().where, file + GetParam().place);
}

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
INSTANTIATE_TEST_SUITE_P(
    , PluginLockBroken,
    testing::Values(
        BrokenLock{"not_yaml", "agentforge_lock: [", "", ":1:1"}, BrokenLock{"a_list", "- 1\n", "must contain", ":1:1"},
        BrokenLock{"empty", "", "must contain", ":1:1"},
        BrokenLock{"unknown_field", "agentforge_lock: 1\nplugin: []\n", "did you mean `plugins`", ":2:1"},
        BrokenLock{"no_version", "plugins: []\n", "`agentforge_lock` must be 1, found nothing", ":1:1"},
        BrokenLock{"newer_version", "agentforge_lock: 2\nplugins: []\n", "found 2", ":1:18"},
        BrokenLock{"no_list", "agentforge_lock: 1\nplugins: {}\n", "`plugins` must be a list", ":2:10"},
        BrokenLock{"plugin_is_a_text", "agentforge_lock: 1\nplugins: [a]\n", "must be a map", ":2:11"},
        BrokenLock{"no_id", "agentforge_lock: 1\nplugins:\n  - {version: 1.0.0, files: {plugin.json: " HASH "}}\n",
                   "`id` must be", ":3:5"},
        BrokenLock{"wrong_version", "agentforge_lock: 1\nplugins:\n  - {id: a.b, version: new, files: {plugin.json: " HASH "}}\n",
                   "`version` must be a version", ":3:24"},
        BrokenLock{"no_manifest", "agentforge_lock: 1\nplugins:\n  - {id: a.b, version: 1.0.0, files: {a.so: " HASH "}}\n",
                   "with `plugin.json` in it", ":3:38"},
        BrokenLock{"short_hash", "agentforge_lock: 1\nplugins:\n  - {id: a.b, version: 1.0.0, files: {plugin.json: abc}}\n",
                   "64 hexadecimal digits", ":3:52"},
        BrokenLock{"way_out",
                   "agentforge_lock: 1\nplugins:\n  - {id: a.b, version: 1.0.0, files: {plugin.json: " HASH ", ../x: " HASH
                   "}}\n",
                   "not a file below", ":3:38"},
        BrokenLock{"absolute",
                   "agentforge_lock: 1\nplugins:\n  - {id: a.b, version: 1.0.0, files: {plugin.json: " HASH ", /x: " HASH "}}\n",
                   "not a file below", ":3:38"},
        BrokenLock{"twice",
                   "agentforge_lock: 1\nplugins:\n  - {id: a.b, version: 1.0.0, files: {plugin.json: " HASH
                   "}}\n  - {id: a.b, version: 1.0.0, files: {plugin.json: " HASH "}}\n",
                   "appears in it twice", ":4:5"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_F(PluginLockTest, a_missing_lock_file_means_no_lock) { EXPECT_FALSE(PluginLock::load(file).value().has_value()); }

TEST_F(PluginLockTest, a_lock_that_is_a_dangling_link_is_an_error) {
    fs::create_symlink(place.path() / "nowhere", file);
    EXPECT_EQ(PluginLock::load(file).error().code, "AF-PLUG-034");
}

}  // namespace
}  // namespace agentforge::kernel
