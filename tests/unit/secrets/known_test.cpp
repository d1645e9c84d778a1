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

TEST(SecretNames, ContainAWordForASecret) {
    for (const std::string_view name : {"OPENAI_API_KEY", "GITHUB_TOKEN", "db_password", "AWS_SECRET_ACCESS_KEY", "GH_PAT", "KEY",
                                        "API_KEYS", "DB_PWD", "NPM_AUTH"}) {
        EXPECT_TRUE(names_a_secret(name)) << name;
    }
    for (const std::string_view name : {"PATH", "PWD", "AUTHOR", "KEYBOARD", "TOKENIZERS_PARALLELISM", "AWS_ACCESS_KEY_ID",
                                        "SECRET_FILE", "MONKEY", "XPC_FLAGS", "AGENTFORGE_LLM_API_KEY_ENV", "LLM_API_KEY_ENV"}) {
        EXPECT_FALSE(names_a_secret(name)) << name;
    }
}

TEST(KnownSecrets, AreVariablesWithSecretSoundingNames) {
    EXPECT_THAT(found({.environment = {{"HOME", "/home/somebody"}, {"SHOP_KEY", "Zx8Cv5Bn2Mq1"}}}),
                ElementsAre("SHOP_KEY=Zx8Cv5Bn2Mq1"));
}

TEST(KnownSecrets, AreVariablesThatAreNamed) {
    EXPECT_THAT(found({.environment = {{"TEAM", "Zx8Cv5Bn2Mq1"}}, .variables = {"TEAM"}}), ElementsAre("TEAM=Zx8Cv5Bn2Mq1"));
}

TEST(KnownSecrets, AreNotVariablesDeclaredPublic) {
    EXPECT_THAT(found({.environment = {{"PUBLIC_KEY", "Zx8Cv5Bn2Mq1"}}, .public_variables = {"PUBLIC_KEY"}}), IsEmpty());
}

TEST(KnownSecrets, ArePasswordsInsideAddresses) {
    EXPECT_THAT(
        found({.environment = {{"DATABASE", "postgres://shop:kR4tY7uI@db:5432/shop"}, {"HOMEPAGE", "https://example.com/@a:b"}}}),
        ElementsAre("DATABASE=kR4tY7uI"));
}

TEST(KnownSecrets, NameAValueThatIsTooCommonWithoutSearchingForIt) {
    const auto secrets = find_secrets({.environment = {{"SHOP_KEY", "development"}}}).value();
    EXPECT_THAT(secrets.secrets, IsEmpty());
    EXPECT_THAT(secrets.too_weak, ElementsAre(HasSubstr("SHOP_KEY: it is a word")));
}

TEST(KnownSecrets, GiveTheReasonForAWeakValue) {
    EXPECT_THAT(weakness("short"), HasSubstr("shorter"));
    EXPECT_THAT(weakness("20261122"), HasSubstr("number"));
    EXPECT_THAT(weakness("https://keys.example.com"), HasSubstr("address"));
    EXPECT_THAT(weakness("********"), HasSubstr("one character"));
    EXPECT_EQ(weakness("correcthorsebatterystaple"), "");
}

TEST(KnownSecrets, ArePathsOnlyIfNothingExistsThere) {
    EXPECT_THAT(found({.environment = {{"A_TOKEN", "/tmp/agentforge-no-such-token1"},
                                       {"B_TOKEN", "/dev/null"},
                                       {"C_KEY", "/abCdEf+Zx8Cv5Bn2Mq1"}}}),
                ElementsAre("C_KEY=/abCdEf+Zx8Cv5Bn2Mq1"));
}

TEST_F(SecretFiles, MayContainNamedValues) {
    EXPECT_THAT(found({.files = {file("# c\nexport A=\"Zx8Cv5Bn2Mq1\" # x\r\nB = 'We4Rt7Yu0'\nC=Io3PaSd9F # y\nDEBUG=true\n")}}),
                ElementsAre(".env/A=Zx8Cv5Bn2Mq1", ".env/B=We4Rt7Yu0", ".env/C=Io3PaSd9F"));
}

TEST_F(SecretFiles, ContainOneSecretPerLineIfNoneIsNamed) {
    EXPECT_THAT(found({.files = {file("Zx8Cv5Bn2Mq1\n\nWe4Rt7Yu0==\n", "token")}}),
                ElementsAre("token/1=Zx8Cv5Bn2Mq1", "token/3=We4Rt7Yu0=="));
}

TEST_F(SecretFiles, ThatAreMissingAreNamed) {
    EXPECT_THAT(find_secrets({.files = {folder_.path() / "none"}}).value().missing, ElementsAre(HasSubstr("none")));
}

TEST_F(SecretFiles, AreRegularFiles) {
    const auto read = find_secrets({.files = {folder_.path()}});
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "AF-SEC-002");
}

TEST_F(SecretFiles, HaveASizeLimit) { EXPECT_FALSE(find_secrets({.files = {file(std::string((1UL << 20U) + 1, 'x'))}}).ok()); }

TEST_F(SecretFiles, CreateTheKeyOnceForItsUserOnly) {
    CountingIdSource ids;
    const std::string state = (folder_.path() / "state").string();
    const auto first = redaction_key(state, ids);
    ASSERT_TRUE(first.ok()) << first.error().to_string();
    EXPECT_EQ(redaction_key(state, ids).value(), *first);
    struct stat status {};
    ASSERT_EQ(::stat((state + "/redaction.key").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(SecretFiles, RefuseAnInvalidKey) {
    CountingIdSource ids;
    file("nonsense\n", "redaction.key");
    const auto key = redaction_key(folder_.path().string(), ids);
    ASSERT_FALSE(key.ok());
    EXPECT_EQ(key.error().code, "AF-SEC-006");
}

}  // namespace
}  // namespace agentforge::kernel
