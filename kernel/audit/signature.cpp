// SPDX-License-Identifier: Apache-2.0
#include "audit/signature.hpp"

#include "base/files.hpp"
#include "base/text.hpp"
#include "git/configuration.hpp"

namespace agentforge::kernel {

namespace {

std::string home_of(const SignatureTools& tools) {
    const auto home = tools.environment.find("HOME");
    return home == tools.environment.end() ? std::string() : home->second;
}

std::string expanded(const SignatureTools& tools, const std::string& path) {
    return path.starts_with("~/") ? home_of(tools) + path.substr(1) : path;
}

std::string format_of(const GitConfiguration& git) {
    const std::string format = git.text("gpg.format");
    return format.empty() ? "openpgp" : format;
}

std::string program_of(const SignatureTools& tools, const GitConfiguration& git, const std::string& format) {
    std::string program = git.users_text("gpg." + format + ".program");
    if (program.empty() && format == "openpgp") { program = git.users_text("gpg.program"); }
    if (!program.empty()) { return expanded(tools, program); }
    if (format == "ssh") { return "ssh-keygen"; }
    return format == "x509" ? "gpgsm" : "gpg";
}

ProcessRequest own_program(const SignatureTools& tools, std::vector<std::string> argv, const std::filesystem::path& folder,
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
        "check that `git commit -S` works in this terminal (key, agent, gpg.format, gpg.program), or set delivery.sign: never",
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
        std::filesystem::path file = expanded(tools, key);
        key = (file.is_relative() ? tools.repository / file : file).string();
    }
    argv.insert(argv.end(), {"-f", key});
    return argv;
}

/// Returns the start of ssh-keygen's output, such as `Good "agentforge" signature for NAME with ED25519 key SHA256:…`.
std::string first_words(const std::string& text) { return ellipsis(sanitize_utf8(text.substr(0, text.find('\n'))), 300); }

class SshCheck {
public:
    SshCheck(const SignatureTools& tools, const GitConfiguration& git, const std::string& name_space,
             const std::filesystem::path& folder, const Stop& stop)
        : tools_(tools),
          name_space_(name_space),
          folder_(folder),
          stop_(stop),
          program_(program_of(tools, git, "ssh")),
          signature_((folder / "signature").string()),
          allowed_(expanded(tools, git.users_text("gpg.ssh.allowedSignersFile"))) {}

    SignatureAnswer check(const std::string& content) {
        SignatureAnswer answer;
        const auto outcome = run({"check-novalidate", "-n", name_space_, "-s", signature_}, content);
        answer.good = outcome.ok() && outcome->exit_code == 0;
        answer.detail = outcome.ok() ? first_words(answer.good ? outcome->out : outcome->err) : outcome.error().message;
        if (answer.good && !allowed_.empty()) { identify_signer(answer, content); }
        return answer;
    }

private:
    void identify_signer(SignatureAnswer& answer, const std::string& content) {
        if (std::error_code none; !std::filesystem::is_regular_file(allowed_, none)) {
            answer.detail += "; git's gpg.ssh.allowedSignersFile does not exist: " + allowed_;
            return;
        }
        answer.signer = SignatureAnswer::Signer::stranger;
        const auto found = run({"find-principals", "-s", signature_, "-f", allowed_}, "");
        if (!found.ok() || found->exit_code != 0) {
            answer.detail += "; " + allowed_ + " does not name that key";
            return;
        }
        const std::string principal = found->out.substr(0, found->out.find('\n'));
        const auto verified = run({"verify", "-n", name_space_, "-f", allowed_, "-I", principal, "-s", signature_}, content);
        if (!verified.ok() || verified->exit_code != 0) {
            answer.detail += "; " + allowed_ + " does not allow that key to sign for `" + name_space_ + "`";
            return;
        }
        answer.signer = SignatureAnswer::Signer::known;
        answer.detail = first_words(verified->out);
    }

    Result<ProcessOutcome> run(std::vector<std::string> arguments, const std::string& input) {
        arguments.insert(arguments.begin(), {program_, "-Y"});
        return tools_.processes.run(own_program(tools_, std::move(arguments), folder_, input), stop_);
    }

    const SignatureTools& tools_;
    const std::string& name_space_;
    const std::filesystem::path& folder_;
    const Stop& stop_;
    const std::string program_;
    const std::string signature_;
    const std::string allowed_;
};

SignatureAnswer check_gpg(const SignatureTools& tools, const std::string& program, const std::string& content,
                          const std::filesystem::path& folder, const Stop& stop) {
    const auto verified = tools.processes.run(
        own_program(tools, {program, "--batch", "--status-fd=1", "--verify", (folder / "signature").string(), "-"}, folder,
                    content),
        stop);
    SignatureAnswer answer;
    if (!verified.ok()) {
        answer.detail = verified.error().message;
        return answer;
    }
    constexpr std::string_view mark = "[GNUPG:] GOODSIG ";
    const std::size_t at = verified->out.find(mark);
    answer.good = verified->exit_code == 0 && at != std::string::npos;
    if (!answer.good) {
        answer.detail = first_words(verified->err);
        return answer;
    }
    answer.signer = SignatureAnswer::Signer::known;
    answer.detail = "Good signature by key " + first_words(verified->out.substr(at + mark.size()));
    return answer;
}

}  // namespace

Result<std::string> sign_statement(const SignatureTools& tools, const std::string& sign, const std::string& signer,
                                   const std::string& statement, const Stop& stop) {
    const GitConfiguration git(tools.repository);
    if (sign == "never" || (sign != "always" && !git.flag("commit.gpgsign"))) { return std::string(); }
    AF_TRY(const auto folder, TemporaryDirectory::make("sign"));
    AF_TRY(auto argv, signing_command(tools, git, signer, folder->path()));
    const auto outcome = tools.processes.run(own_program(tools, std::move(argv), folder->path(), statement), stop);
    if (!outcome.ok()) { return not_signed(outcome.error().message); }
    const std::size_t begin = outcome->out.find("-----BEGIN ");
    if (outcome->exit_code != 0 || begin == std::string::npos) {
        return not_signed(outcome->timed_out ? "the program did not return within 2 minutes (does it ask for a passphrase?)"
                                             : ellipsis(sanitize_utf8(outcome->err), 600));
    }
    return outcome->out.substr(begin);
}

SignatureAnswer check_signature(const SignatureTools& tools, const std::string& name_space, const std::string& content,
                                const std::string& signature, const Stop& stop) {
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
    if (signature.starts_with("-----BEGIN SSH SIGNATURE-----")) {
        return SshCheck(tools, git, name_space, (*folder)->path(), stop).check(content);
    }
    if (signature.starts_with("-----BEGIN PGP ")) {
        return check_gpg(tools, program_of(tools, git, "openpgp"), content, (*folder)->path(), stop);
    }
    if (signature.starts_with("-----BEGIN SIGNED MESSAGE-----")) {
        return check_gpg(tools, program_of(tools, git, "x509"), content, (*folder)->path(), stop);
    }
    answer.detail = "it is not a signature of gpg, ssh-keygen or gpgsm";
    return answer;
}

}  // namespace agentforge::kernel
