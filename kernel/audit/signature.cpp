// SPDX-License-Identifier: Apache-2.0
#include "audit/signature.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <sstream>
#include <vector>

#include <re2/re2.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "git/git_configuration.hpp"

namespace agentforge::kernel {

namespace {

std::string home_of(const SignatureTools& tools) {
    const auto home = tools.environment.find("HOME");
    return home == tools.environment.end() ? std::string() : home->second;
}

std::string expand_home(const SignatureTools& tools, const std::string& path) {
    return path.starts_with("~/") ? home_of(tools) + path.substr(1) : path;
}

std::string format_of(const GitConfiguration& git) {
    const std::string format = git.text("gpg.format");
    return format.empty() ? "openpgp" : format;
}

std::string program_of(const SignatureTools& tools, const GitConfiguration& git, const std::string& format) {
    std::string program = git.users_text("gpg." + format + ".program");
    if (program.empty() && format == "openpgp") { program = git.users_text("gpg.program"); }
    if (!program.empty()) { return expand_home(tools, program); }
    if (format == "ssh") { return "ssh-keygen"; }
    return format == "x509" ? "gpgsm" : "gpg";
}

ProcessRequest unconfined_request(const SignatureTools& tools, std::vector<std::string> argv, const std::filesystem::path& folder,
                                  std::string input) {
    ProcessRequest request;
    request.argv = std::move(argv);
    request.directory = folder.string();
    request.environment = tools.environment;
    request.environment["LC_ALL"] = "C";
    request.input = std::move(input);
    request.timeout = std::chrono::minutes(2);
    request.confinement.enabled = false;
    return request;
}

bool is_literal_key(const std::string& key) {
    return key.starts_with("key::") || key.starts_with("ssh-") || key.starts_with("ecdsa-") || key.starts_with("sk-");
}

Error not_signed(const std::string& why) {
    return Error{
        "AF-AUDT-001", "cannot sign the statement: " + why, "",
        "check that `git commit -S` works in this terminal (key, agent, gpg.format, gpg.program), then `agentforge resume TASK`; or set "
        "delivery.sign: never",
        ErrorKind::unavailable};
}

/// Returns the signing command. If git's configuration contains the key itself, writes it to `folder` and signs with the agent.
Result<std::vector<std::string>> signing_command(const SignatureTools& tools, const GitConfiguration& git,
                                                 const std::string& signer, const std::filesystem::path& folder) {
    const std::string format = format_of(git);
    const std::string program = program_of(tools, git, format);
    std::string key = git.text("user.signingkey");
    if (format != "ssh") { return std::vector<std::string>{program, "--status-fd=2", "-bsau", key.empty() ? signer : key}; }
    if (key.empty()) { return not_signed("gpg.format is ssh, and git's user.signingkey names no key"); }
    std::vector<std::string> argv{program, "-Y", "sign", "-n", statement_namespace, "-q"};
    if (is_literal_key(key)) {
        const std::filesystem::path file = folder / "key.pub";
        AF_CHECK(write_file_atomic(file, (key.starts_with("key::") ? key.substr(5) : key) + "\n", Durability::cached, 0600));
        argv.emplace_back("-U");
        key = file.string();
    } else {
        std::filesystem::path file = expand_home(tools, key);
        key = (file.is_relative() ? tools.repository / file : file).string();
    }
    argv.insert(argv.end(), {"-f", key});
    return argv;
}

/// Returns the first line of ssh-keygen's output, at most 300 bytes, such as `Good "agentforge" signature for NAME with ED25519
/// key SHA256:…`.
std::string first_line_of(const std::string& text) { return ellipsis(sanitize_utf8(text.substr(0, text.find('\n'))), 300); }

std::string last_word(const std::string& text) { return text.substr(text.rfind(' ') + 1); }

/// The form that ssh-keygen reads, in UTC.
std::string ssh_time(std::chrono::sys_seconds time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    std::array<char, 16> text{};
    if (::gmtime_r(&seconds, &parts) == nullptr) { return "19700101000000"; }
    return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%d%H%M%S", &parts)};
}

class SshCheck {
public:
    SshCheck(const SignatureTools& tools, const GitConfiguration& git, const SignedContent& signed_content,
             const std::filesystem::path& folder, const Stop& stop)
        : tools_(tools),
          signed_(signed_content),
          folder_(folder),
          stop_(stop),
          program_(program_of(tools, git, "ssh")),
          signature_((folder / "signature").string()),
          allowed_(expand_home(tools, git.users_text("gpg.ssh.allowedSignersFile"))),
          revoked_(expand_home(tools, git.text("gpg.ssh.revocationFile"))) {}

    SignatureAnswer check() {
        SignatureAnswer answer;
        const auto outcome = run({"check-novalidate", "-n", signed_.name_space, "-s", signature_}, signed_.content);
        answer.good = outcome.ok() && outcome->exit_code == 0;
        answer.checkable = outcome.ok();
        answer.detail = outcome.ok() ? first_line_of(answer.good ? outcome->out : outcome->err) : outcome.error().message;
        answer.key = last_word(answer.detail);
        if (answer.good && !allowed_.empty()) { identify_signer(answer); }
        answer.trusted = answer.signer == SignatureAnswer::Signer::known;
        return answer;
    }

private:
    void identify_signer(SignatureAnswer& answer) {
        if (!is_file(allowed_)) {
            answer.detail += "; git's gpg.ssh.allowedSignersFile does not exist: " + allowed_;
            return;
        }
        answer.signer = SignatureAnswer::Signer::not_allowed;
        const std::string time = "verify-time=" + ssh_time(signed_.time);
        const auto found = run({"find-principals", "-s", signature_, "-f", allowed_, "-O", time}, "");
        if (!found.ok() || found->exit_code != 0) {
            answer.detail += "; " + allowed_ + " does not name that key, or not for the time of the signature";
            return;
        }
        const std::string principal = found->out.substr(0, found->out.find('\n'));
        std::vector<std::string> verify{"verify",  "-n", signed_.name_space, "-f", allowed_, "-I",
                                        principal, "-s", signature_,         "-O", time};
        const std::vector<std::string> without_revocation = verify;
        if (is_file(revoked_)) { verify.insert(verify.end(), {"-r", revoked_}); }
        const auto verified = run(std::move(verify), signed_.content);
        if (is_file(revoked_) && verified.ok() && verified->exit_code != 0) {  // ssh-keygen does not always give the reason.
            const auto otherwise = run(without_revocation, signed_.content);
            if (otherwise.ok() && otherwise->exit_code == 0) {
                answer.detail += "; the key is revoked (" + revoked_ + ")";
                return;
            }
        }
        if (!verified.ok() || verified->exit_code != 0) {
            answer.detail += "; " + (verified.ok() ? first_line_of(verified->err) : verified.error().message) + " (namespace `" +
                             signed_.name_space + "`, " + allowed_ + (revoked_.empty() ? "" : ", " + revoked_) + ")";
            return;
        }
        answer.signer = SignatureAnswer::Signer::known;
        answer.detail = first_line_of(verified->out);
        if (!revoked_.empty() && !is_file(revoked_)) {
            answer.detail += "; git's gpg.ssh.revocationFile does not exist: " + revoked_;
        }
    }

    static bool is_file(const std::string& path) {
        std::error_code none;
        return !path.empty() && std::filesystem::is_regular_file(path, none);
    }

    Result<ProcessOutcome> run(std::vector<std::string> arguments, const std::string& input) {
        arguments.insert(arguments.begin(), {program_, "-Y"});
        ProcessRequest request = unconfined_request(tools_, std::move(arguments), folder_, input);
        request.environment["TZ"] = "UTC";  // The zone of `verify-time`.
        return tools_.processes.run(request, stop_);
    }

    const SignatureTools& tools_;
    const SignedContent& signed_;
    const std::filesystem::path& folder_;
    const Stop& stop_;
    const std::string program_;
    const std::string signature_;
    const std::string allowed_;
    const std::string revoked_;
};

/// Returns the rest of gpg's status line with this word. Nothing if there is none. A user id may contain the words of another
/// line, so the word must begin the line.
std::optional<std::string> status_line(const std::string& status, const std::string& word) {
    const std::string mark = "[GNUPG:] " + word;
    for (std::size_t at = 0; at < status.size(); at = status.find('\n', at) + 1) {
        const std::string_view line = std::string_view(status).substr(at, status.find('\n', at) - at);
        if (line == mark) { return std::string(); }
        if (line.starts_with(mark + " ")) { return first_line_of(std::string(line.substr(mark.size() + 1))); }
        if (status.find('\n', at) == std::string::npos) { break; }
    }
    return std::nullopt;
}

/// Returns when the key with this fingerprint expires, or its primary key if that is earlier. 0: never, or gpg does not say.
/// `listing`: gpg's --with-colons.
long long expiry_of(const std::string& listing, const std::string& fingerprint) {
    long long primary = 0;
    long long expiry = 0;
    std::istringstream lines(listing);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> fields;
        std::istringstream words(line);
        for (std::string field; std::getline(words, field, ':');) { fields.push_back(field); }
        if (fields.size() < 7) { continue; }
        if (fields[0] == "pub" || fields[0] == "sub") { expiry = std::strtoll(fields[6].c_str(), nullptr, 10); }
        if (fields[0] == "pub") { primary = expiry; }
        if (fields[0] == "fpr" && fields.size() > 9 && fields[9] == fingerprint) {
            return primary != 0 && (expiry == 0 || primary < expiry) ? primary : expiry;
        }
    }
    return 0;
}

/// True if the signature is older than the expiry of its key, which may be a subkey.
bool signed_before_expiry(const SignatureTools& tools, const std::string& program, const std::string& status,
                          const std::filesystem::path& folder, const Stop& stop) {
    const auto valid = status_line(status, "VALIDSIG");  // Fingerprint, date and time of the signature, …
    if (!valid) { return false; }
    std::istringstream words(*valid);
    std::string fingerprint;
    std::string date;
    long long signed_at = 0;
    if (!(words >> fingerprint >> date >> signed_at)) { return false; }
    const auto listed = tools.processes.run(
        unconfined_request(tools, {program, "--batch", "--with-colons", "--with-subkey-fingerprint", "--list-keys", fingerprint},
                           folder, ""),
        stop);
    return listed.ok() && signed_at < expiry_of(listed->out, fingerprint);
}

/// Returns why gpg refuses a signature: its last line says it, such as `Can't check signature: No public key`.
std::string last_line_of(const std::string& text) {
    std::string trimmed = text;
    while (!trimmed.empty() && (trimmed.back() == '\n' || trimmed.back() == '\r')) { trimmed.pop_back(); }
    return first_line_of(trimmed.substr(trimmed.rfind('\n') + 1));
}

std::string why_refused(const std::string& status, const std::string& said) {
    if (const auto key = status_line(status, "REVKEYSIG")) { return "the key is revoked: " + *key; }
    if (const auto key = status_line(status, "EXPKEYSIG")) { return "it was made after its key had expired: " + *key; }
    if (const auto key = status_line(status, "EXPSIG")) { return "the signature has expired: " + *key; }
    return last_line_of(said);
}

/// True if gpg trusts the key at least as much as the user's `gpg.minTrustLevel` asks.
bool is_trusted_enough(const std::string& status, const std::string& level) {
    constexpr std::array<std::string_view, 5> levels{"UNDEFINED", "NEVER", "MARGINAL", "FULLY", "ULTIMATE"};
    const auto asked = std::ranges::find(levels, upper_case(level));
    return std::any_of(asked, levels.end(),
                       [&](std::string_view each) { return status_line(status, "TRUST_" + std::string(each)).has_value(); });
}

SignatureAnswer check_gpg(const SignatureTools& tools, const GitConfiguration& git, const std::string& format,
                          const std::string& content, const std::filesystem::path& folder, const Stop& stop) {
    const auto verified = tools.processes.run(
        unconfined_request(
            tools, {program_of(tools, git, format), "--batch", "--status-fd=1", "--verify", (folder / "signature").string(), "-"},
            folder, content),
        stop);
    SignatureAnswer answer;
    if (!verified.ok()) {
        answer.checkable = false;
        answer.detail = verified.error().message;
        return answer;
    }
    const std::string& status = verified->out;
    answer.key = last_word(status_line(status, "VALIDSIG").value_or(""));
    answer.trusted = is_trusted_enough(status, "fully");
    auto key = status_line(status, "GOODSIG");
    const auto expired = status_line(status, "EXPKEYSIG");
    if (!key && expired && signed_before_expiry(tools, program_of(tools, git, format), status, folder, stop)) {
        key = *expired + ", which has expired since";
    }
    answer.good = verified->exit_code == 0 && key;
    if (!answer.good) {
        answer.checkable = !status_line(status, "NO_PUBKEY") && verified->err.find("certificate not found") == std::string::npos;
        answer.detail = why_refused(status, verified->err);
        return answer;
    }
    const std::string level = git.text("gpg.minTrustLevel");
    const bool trusted = level.empty() || is_trusted_enough(status, level);
    answer.signer = trusted ? SignatureAnswer::Signer::known : SignatureAnswer::Signer::not_allowed;
    answer.detail = "Good signature by key " + *key +
                    (trusted ? "" : "; git's gpg.minTrustLevel (" + level + ") asks for more trust in the key");
    return answer;
}

/// True if the text is one armoured signature and nothing else: what surrounds a signature, or a second one, is not signed.
bool is_one_signature(const std::string& text) {
    static const RE2 armour(
        R"(-----BEGIN ([A-Z ]+)-----\n(?:[A-Za-z]+: .*\n)*\n?(?:[A-Za-z0-9+/=]+\n)+-----END ([A-Z ]+)-----\n?)");
    std::string begin;
    std::string end;
    return RE2::FullMatch(text, armour, &begin, &end) && begin == end;
}

}  // namespace

Result<std::string> sign_statement(const SignatureTools& tools, const std::string& sign, const std::string& signer,
                                   const std::string& statement, const Stop& stop) {
    const GitConfiguration git(tools.repository);
    if (sign == "never" || (sign != "always" && !git.flag("commit.gpgsign"))) { return std::string(); }
    AF_TRY(const auto folder, TemporaryDirectory::make("sign"));
    AF_TRY(auto argv, signing_command(tools, git, signer, folder->path()));
    const auto outcome = tools.processes.run(unconfined_request(tools, std::move(argv), folder->path(), statement), stop);
    if (!outcome.ok()) { return not_signed(outcome.error().message); }
    const std::size_t begin = outcome->out.find("-----BEGIN ");
    if (outcome->exit_code != 0 || begin == std::string::npos) {
        return not_signed(outcome->timed_out ? "the program did not return within 2 minutes (does it ask for a passphrase?)"
                                             : ellipsis(sanitize_utf8(outcome->err), 600));
    }
    return outcome->out.substr(begin);
}

SignatureAnswer check_signature(const SignatureTools& tools, const SignedContent& signed_content, const Stop& stop) {
    const std::string& content = signed_content.content;
    const std::string& signature = signed_content.signature;
    SignatureAnswer answer;
    const GitConfiguration git(tools.repository);
    const auto folder = TemporaryDirectory::make("signature");
    if (!folder.ok()) {
        answer.detail = folder.error().message;
        return answer;
    }
    if (const auto written = write_file_atomic((*folder)->path() / "signature", signature, Durability::cached); !written.ok()) {
        answer.detail = written.error().message;
        return answer;
    }
    if (!is_one_signature(signature)) {
        answer.detail = "it must be exactly one armoured signature, with no other text";
        return answer;
    }
    if (signature.starts_with("-----BEGIN SSH SIGNATURE-----")) {
        return SshCheck(tools, git, signed_content, (*folder)->path(), stop).check();
    }
    if (signature.starts_with("-----BEGIN PGP ")) { return check_gpg(tools, git, "openpgp", content, (*folder)->path(), stop); }
    if (signature.starts_with("-----BEGIN SIGNED MESSAGE-----")) {
        return check_gpg(tools, git, "x509", content, (*folder)->path(), stop);
    }
    answer.detail = "it is not a signature of gpg, ssh-keygen or gpgsm";
    return answer;
}

}  // namespace agentforge::kernel
