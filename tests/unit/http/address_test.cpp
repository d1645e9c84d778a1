// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/address.hpp>

namespace agentforge::http {
namespace {

std::string read(const std::string& text) {
    const auto address = read_address(text);
    return address.ok() ? address.value().text() : address.error().code;
}

TEST(Address, is_parsed_and_printed_the_same) {
    EXPECT_EQ(read("https://API.example.com/v1/"), "https://api.example.com/v1");
    EXPECT_EQ(read("http://localhost:11434/v1"), "http://localhost:11434/v1");
    EXPECT_EQ(read("http://[::1]:8080"), "http://[::1]:8080");
    EXPECT_EQ(read("HTTPS://h:443"), "https://h");
}

class AddressRefused : public ::testing::TestWithParam<std::string> {};
TEST_P(AddressRefused, is_refused) { EXPECT_EQ(read(GetParam()), "AF-LLM-413"); }
INSTANTIATE_TEST_SUITE_P(All, AddressRefused,
                         ::testing::Values("", "localhost:80", "ftp://h", "http://", "http://:80", "http://h:0", "http://h:99999",
                                           "http://h:", "http://h:8x", "http://u:p@h", "http://h/?a=b", "http://h#x",
                                           "http://h /", "http://h/a b", "http://[::1"));

struct ProxyCase {
    std::string target;
    std::map<std::string, std::string> variables;
    std::string expected;  ///< `host:port`, empty for none, or a code.
};

class ProxyChoice : public ::testing::TestWithParam<ProxyCase> {};

TEST_P(ProxyChoice, follows_the_environment) {
    const ProxyCase& one = GetParam();
    const auto proxy = proxy_for(read_address(one.target).value(), [&one](const std::string& name) {
        const auto found = one.variables.find(name);
        return found == one.variables.end() ? std::string() : found->second;
    });
    std::string got;
    if (!proxy.ok()) {
        got = proxy.error().code;
    } else if (proxy.value()) {
        got = proxy.value()->host + ":" + std::to_string(proxy.value()->port);
    }
    EXPECT_EQ(got, one.expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, ProxyChoice,
    ::testing::Values(ProxyCase{"https://a.example.com", {}, ""},
                      ProxyCase{"https://a.example.com", {{"HTTPS_PROXY", "http://p:3128"}}, "p:3128"},
                      ProxyCase{"https://a.example.com", {{"https_proxy", "http://q"}, {"HTTPS_PROXY", "http://p:3128"}}, "q:80"},
                      ProxyCase{"https://a.example.com", {{"HTTP_PROXY", "http://p:3128"}}, ""},
                      ProxyCase{"http://a.example.com", {{"HTTP_PROXY", "p:3128"}}, "p:3128"},
                      ProxyCase{"http://a.example.com", {{"ALL_PROXY", "http://u:p%40ss@p:1/"}}, "p:1"},
                      ProxyCase{"http://127.0.0.1:80", {{"HTTP_PROXY", "http://p:3128"}}, ""},
                      ProxyCase{"http://localhost", {{"HTTP_PROXY", "http://p:3128"}}, ""},
                      ProxyCase{"https://a.example.com", {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", "x, .example.com"}}, ""},
                      ProxyCase{"https://a.example.com", {{"HTTPS_PROXY", "http://p:1"}, {"no_proxy", "example.com"}}, ""},
                      ProxyCase{"https://a.example.com", {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", "*"}}, ""},
                      ProxyCase{"https://a.example.com", {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", "ample.com"}}, "p:1"},
                      ProxyCase{
                          "https://a.example.com", {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", "example.com:8443"}}, "p:1"},
                      ProxyCase{"https://a.example.com", {{"HTTPS_PROXY", "socks5://p:1"}}, "AF-LLM-413"},
                      ProxyCase{"https://a.example.com", {{"HTTPS_PROXY", "http://p:x"}}, "AF-LLM-413"}));

TEST(Proxy, gets_its_credentials_decoded) {
    const auto proxy = proxy_for(read_address("http://h").value(), [](const std::string& name) {
        return name == "HTTP_PROXY" ? "http://u:p%40ss@p:1" : std::string();
    });
    ASSERT_TRUE(proxy.ok());
    EXPECT_EQ(proxy.value()->user + " " + proxy.value()->password, "u p@ss");
}

TEST(Proxy, password_is_not_shown_in_an_error) {
    const auto proxy = proxy_for(read_address("http://h").value(), [](const std::string& name) {
        return name == "HTTP_PROXY" ? "socks5://u:hunter2@p:1" : std::string();
    });
    ASSERT_FALSE(proxy.ok());
    EXPECT_EQ(proxy.error().to_string().find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace agentforge::http
