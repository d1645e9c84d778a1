// SPDX-License-Identifier: Apache-2.0
// HTTPS with a server that has its own certificate: trusted only if its file is named, and only for its name.
#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>
#include <agentforge_http/exchange.hpp>
#include <webhook/handler.hpp>

#include <csignal>
#include <fstream>

#include "server.hpp"

namespace agentforge::http {
namespace {

/// Makes one TLS handshake and the requested number of answers, with a self-signed certificate for `names`.
class SecureServer {
public:
    explicit SecureServer(const std::string& names) {
        key_ = EVP_EC_gen("P-256");
        X509* const certificate = X509_new();
        X509_set_version(certificate, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
        X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
        X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
        X509_set_pubkey(certificate, key_);
        X509_NAME* const name = X509_get_subject_name(certificate);
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
        X509_set_issuer_name(certificate, name);
        X509V3_CTX context;
        X509V3_set_ctx_nodb(&context);
        X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
        for (const auto& [id, value] :
             {std::pair<int, std::string>{NID_subject_alt_name, names}, {NID_basic_constraints, "critical,CA:TRUE"}}) {
            X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
            X509_add_ext(certificate, extension, -1);
            X509_EXTENSION_free(extension);
        }
        X509_sign(certificate, key_, EVP_sha256());
        file_ = std::filesystem::temp_directory_path() / ("agentforge-tls-" + std::to_string(::getpid()) + ".pem");
        FILE* const out = std::fopen(file_.c_str(), "w");
        PEM_write_X509(out, certificate);
        std::fclose(out);
        context_ = SSL_CTX_new(TLS_server_method());
        SSL_CTX_use_certificate(context_, certificate);
        SSL_CTX_use_PrivateKey(context_, key_);
        X509_free(certificate);
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 4) != 0) { std::abort(); }
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~SecureServer() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
        SSL_CTX_free(context_);
        EVP_PKEY_free(key_);
        std::filesystem::remove(file_);
    }
    SecureServer(const SecureServer&) = delete;
    SecureServer& operator=(const SecureServer&) = delete;

    [[nodiscard]] std::string file() const { return file_.string(); }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::string asked_for() const { return asked_for_; }
    [[nodiscard]] std::string request() const { return request_; }
    [[nodiscard]] unsigned answered() const { return answered_; }

private:
    void serve() {
        std::signal(SIGPIPE, SIG_IGN);  // NOLINT: the client leaves during the handshake.
        const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) { return; }
        SSL* const ssl = SSL_new(context_);
        SSL_set_fd(ssl, connection);
        if (SSL_accept(ssl) == 1) {
            if (const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name)) { asked_for_ = name; }
            char buffer[4096];
            for (int size = SSL_read(ssl, buffer, sizeof(buffer)); size > 0; size = SSL_read(ssl, buffer, sizeof(buffer))) {
                request_.append(buffer, static_cast<std::size_t>(size));
                if (!request_.ends_with("my secret") && !request_.ends_with("]}")) { continue; }
                const std::string answer = testing::response(200, "text/plain", "secret hello");
                ++answered_;
                SSL_write(ssl, answer.data(), static_cast<int>(answer.size()));
            }
        }
        SSL_free(ssl);
        ::close(connection);
    }

    EVP_PKEY* key_ = nullptr;
    SSL_CTX* context_ = nullptr;
    std::filesystem::path file_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::string asked_for_;
    std::string request_;
    std::atomic<unsigned> answered_ = 0;
    std::thread thread_;
};

Result<Head> ask(const SecureServer& server, const std::string& host, const std::string& ca_file, std::string& body,
                 std::shared_ptr<Connections> connections = nullptr) {
    Call call;
    call.connections = std::move(connections);
    call.server = read_address("https://" + host + ":" + std::to_string(server.port())).value();
    call.path = "/";
    call.body = "my secret";
    call.ca_file = ca_file;
    call.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    return exchange(
        call, [] { return false; },
        [&body](const Head&, std::string_view part) -> Result<bool> {
            body += part;
            return true;
        });
}

TEST(Tls, refuses_an_untrusted_certificate_before_sending_a_request) {
    std::string body;
    std::optional<SecureServer> server(std::in_place, "DNS:localhost");
    const auto head = ask(*server, "localhost", "", body);
    ASSERT_FALSE(head.ok());
    EXPECT_EQ(head.error().code, "AF-LLM-403") << head.error().to_string();
    EXPECT_EQ(head.error().kind, ErrorKind::unavailable);
    EXPECT_EQ(server->request(), "");
}

TEST(Tls, trusts_a_certificate_from_the_settings) {
    std::string body;
    const SecureServer server("DNS:localhost");
    const auto head = ask(server, "localhost", server.file(), body);
    ASSERT_TRUE(head.ok()) << head.error().to_string();
    EXPECT_EQ(body, "secret hello");
}

TEST(Tls, one_handshake_serves_several_exchanges) {
    std::string body;
    const SecureServer server("DNS:localhost");  // It takes one connection only.
    const auto connections = std::make_shared<Connections>();
    ASSERT_TRUE(ask(server, "localhost", server.file(), body, connections).ok());
    const auto head = ask(server, "localhost", server.file(), body, connections);
    ASSERT_TRUE(head.ok()) << head.error().to_string();
    EXPECT_EQ(server.answered(), 2U);
}

TEST(Tls, sends_the_server_name) {
    std::string body;
    const SecureServer server("DNS:localhost");
    ASSERT_TRUE(ask(server, "localhost", server.file(), body).ok());
    EXPECT_EQ(server.asked_for(), "localhost");
}

TEST(Tls, refuses_a_certificate_for_another_name) {
    std::string body;
    const SecureServer server("DNS:other.example");
    const auto head = ask(server, "localhost", server.file(), body);
    ASSERT_FALSE(head.ok());
    EXPECT_EQ(head.error().code, "AF-LLM-403") << head.error().to_string();
}

Result<void> notify_webhook(const SecureServer& server, const json::object& settings) {
    const std::string url = "https://localhost:" + std::to_string(server.port()) + "/hook";
    escalation_webhook::WebhookHandler webhook(
        settings, [&url](const std::string& name) { return name == "AGENTFORGE_WEBHOOK_URL" ? url : std::string(); },
        std::chrono::milliseconds(1));
    testing::Context context;
    Escalation question;
    question.id = "ESC-1";
    return webhook.notify(question, context);
}

TEST(Tls, the_webhook_sends_nothing_to_an_untrusted_server) {
    std::optional<SecureServer> server(std::in_place, "DNS:localhost");
    const auto notified = notify_webhook(*server, {});
    ASSERT_FALSE(notified.ok());
    EXPECT_EQ(notified.error().code, "AF-ESC-054") << notified.error().to_string();
    EXPECT_EQ(server->request(), "");
}

TEST(Tls, the_webhook_trusts_the_authority_from_its_settings) {
    const SecureServer server("DNS:localhost");
    const auto notified = notify_webhook(server, {{"ca_file", server.file()}});
    EXPECT_TRUE(notified.ok()) << notified.error().to_string();
}

TEST(Tls, refuses_a_server_without_tls) {
    const testing::Server server("hello");
    Call call;
    call.server = read_address("https://127.0.0.1:" + std::to_string(server.port())).value();
    call.path = "/";
    call.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    const auto head = exchange(
        call, [] { return false; }, [](const Head&, std::string_view) -> Result<bool> { return true; });
    EXPECT_FALSE(head.ok());
}

}  // namespace
}  // namespace agentforge::http
