// SPDX-License-Identifier: Apache-2.0
#include "secrets/secret_sources.hpp"

#include "base/files.hpp"

#include <sys/stat.h>

namespace agentforge::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> found(const SecretSources& sources) {
    std::vector<std::string> texts;
    const KnownSecrets known = find_secrets(sources).value();
    for (const Secret& secret : known.secrets) { texts.push_back(secret.name + "=" + secret.value); }
    return texts;
}

class SecretFiles : public testing::Test {
protected:
    std::filesystem::path file(const std::string& text, const std::string& name = ".env") {
        EXPECT_TRUE(write_file_atomic(folder_.path() / name, text, Durability::cached).ok());
        return folder_.path() / name;
    }
    TemporaryDirectory folder_{"secrets"};
};

TEST(SecretNames, contain_a_word_for_a_secret) {
    for (const std::string_view name : {"OPENAI_API_KEY", "GITHUB_TOKEN", "db_password", "AWS_SECRET_ACCESS_KEY", "GH_PAT", "KEY",
                                        "API_KEYS", "DB_PWD", "NPM_AUTH"}) {
        EXPECT_TRUE(names_a_secret(name)) << name;
    }
    for (const std::string_view name : {"PATH", "PWD", "AUTHOR", "KEYBOARD", "TOKENIZERS_PARALLELISM", "AWS_ACCESS_KEY_ID",
                                        "SECRET_FILE", "MONKEY", "XPC_FLAGS", "AGENTFORGE_LLM_API_KEY_ENV", "LLM_API_KEY_ENV"}) {
        EXPECT_FALSE(names_a_secret(name)) << name;
    }
}

TEST(KnownSecrets, are_variables_with_secret_sounding_names) {
    EXPECT_THAT(found({.environment = {{"HOME", "/home/somebody"}, {"SHOP_KEY", "Zx8Cv5Bn2Mq1"}}}),
                ElementsAre("SHOP_KEY=Zx8Cv5Bn2Mq1"));
}

TEST(KnownSecrets, are_variables_that_are_named) {
    EXPECT_THAT(found({.environment = {{"TEAM", "Zx8Cv5Bn2Mq1"}}, .variables = {"TEAM"}}), ElementsAre("TEAM=Zx8Cv5Bn2Mq1"));
}

TEST(KnownSecrets, are_not_variables_declared_public) {
    EXPECT_THAT(found({.environment = {{"PUBLIC_KEY", "Zx8Cv5Bn2Mq1"}}, .public_variables = {"PUBLIC_KEY"}}), IsEmpty());
}

TEST(KnownSecrets, are_passwords_inside_addresses) {
    EXPECT_THAT(
        found({.environment = {{"DATABASE", "postgres://shop:kR4tY7uI@db:5432/shop"}, {"HOMEPAGE", "https://example.com/@a:b"}}}),
        ElementsAre("DATABASE=kR4tY7uI"));
}

TEST(KnownSecrets, name_a_value_that_is_too_common_without_searching_for_it) {
    const auto secrets = find_secrets({.environment = {{"SHOP_KEY", "development"}}}).value();
    EXPECT_THAT(secrets.secrets, IsEmpty());
    EXPECT_THAT(secrets.too_weak, ElementsAre(HasSubstr("SHOP_KEY: it is a word")));
}

TEST(KnownSecrets, give_the_reason_for_a_weak_value) {
    EXPECT_THAT(weakness("short"), HasSubstr("shorter"));
    EXPECT_THAT(weakness("20261122"), HasSubstr("number"));
    EXPECT_THAT(weakness("https://keys.example.com"), HasSubstr("address"));
    EXPECT_THAT(weakness("********"), HasSubstr("one character"));
    EXPECT_EQ(weakness("correcthorsebatterystaple"), "");
}

TEST(KnownSecrets, are_paths_only_if_nothing_exists_there) {
    EXPECT_THAT(found({.environment = {{"A_TOKEN", "/tmp/agentforge-no-such-token1"},
                                       {"B_TOKEN", "/dev/null"},
                                       {"C_KEY", "/abCdEf+Zx8Cv5Bn2Mq1"}}}),
                ElementsAre("C_KEY=/abCdEf+Zx8Cv5Bn2Mq1"));
}

TEST_F(SecretFiles, may_contain_named_values) {
    EXPECT_THAT(found({.files = {file("# c\nexport A=\"Zx8Cv5Bn2Mq1\" # x\r\nB = 'We4Rt7Yu0'\nC=Io3PaSd9F # y\nDEBUG=true\n")}}),
                ElementsAre(".env/A=Zx8Cv5Bn2Mq1", ".env/B=We4Rt7Yu0", ".env/C=Io3PaSd9F"));
}

TEST_F(SecretFiles, contain_one_secret_per_line_if_none_is_named) {
    EXPECT_THAT(found({.files = {file("Zx8Cv5Bn2Mq1\n\nWe4Rt7Yu0==\n", "token")}}),
                ElementsAre("token/1=Zx8Cv5Bn2Mq1", "token/3=We4Rt7Yu0=="));
}

TEST_F(SecretFiles, that_are_missing_are_named) {
    EXPECT_THAT(find_secrets({.files = {folder_.path() / "none"}}).value().missing, ElementsAre(HasSubstr("none")));
}

TEST_F(SecretFiles, are_regular_files) {
    const auto read = find_secrets({.files = {folder_.path()}});
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "AF-SEC-002");
}

TEST_F(SecretFiles, have_a_size_limit) { EXPECT_FALSE(find_secrets({.files = {file(std::string((1UL << 20U) + 1, 'x'))}}).ok()); }

TEST_F(SecretFiles, create_the_key_once_for_its_user_only) {
    CountingIdSource ids;
    const std::string state = (folder_.path() / "state").string();
    const auto first = redaction_key(state, ids);
    ASSERT_TRUE(first.ok()) << first.error().to_string();
    EXPECT_EQ(redaction_key(state, ids).value(), *first);
    struct stat status {};
    ASSERT_EQ(::stat((state + "/redaction.key").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(SecretFiles, refuse_an_invalid_key) {
    CountingIdSource ids;
    file("nonsense\n", "redaction.key");
    const auto key = redaction_key(folder_.path().string(), ids);
    ASSERT_FALSE(key.ok());
    EXPECT_EQ(key.error().code, "AF-SEC-006");
}

}  // namespace
}  // namespace agentforge::kernel
