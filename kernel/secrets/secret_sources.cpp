// SPDX-License-Identifier: Apache-2.0
#include "secrets/secret_sources.hpp"

#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <cerrno>

#include "base/files.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::array<std::string_view, 16> secret_words{
    "KEY",    "KEYS", "TOKEN",      "TOKENS",      "SECRET",     "SECRETS", "PASSWORD", "PASSWORDS",
    "PASSWD", "PWD",  "PASSPHRASE", "CREDENTIALS", "CREDENTIAL", "APIKEY",  "AUTH",     "PAT"};
constexpr std::array<std::string_view, 7> harmless_ends{"_ENV", "_FILE", "_PATH", "_DIR", "_URL", "_ID", "_NAME"};
constexpr std::size_t shortest_value = 8;
constexpr std::size_t shortest_word = 16;
constexpr std::size_t shortest_number = 12;
constexpr std::uint64_t largest_file = 1UL << 20U;
constexpr std::size_t key_digits = 64;

std::string upper(std::string_view text) {
    std::string made(text);
    std::transform(made.begin(), made.end(), made.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return made;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Returns the password of `scheme://user:password@host`, or empty.
std::string_view address_password(std::string_view value) {
    const std::size_t scheme = value.find("://");
    if (scheme == std::string_view::npos) { return {}; }
    const std::size_t user = scheme + 3;
    const std::size_t end = std::min(value.find_first_of("/?#", user), value.size());
    const std::size_t at = value.substr(0, end).rfind('@');
    if (at == std::string_view::npos || at < user) { return {}; }
    const std::size_t colon = value.find(':', user);
    return colon < at ? value.substr(colon + 1, at - colon - 1) : std::string_view();
}

/// True for a file, or a name in an existing folder: `/run/secrets/token`. A key may also begin with a slash.
bool is_path(const std::string& value) {
    if (value.empty() || value.front() != '/') { return false; }
    std::error_code none;
    const std::filesystem::path parent = std::filesystem::path(value).parent_path();
    return std::filesystem::exists(value, none) || (parent != "/" && std::filesystem::exists(parent, none));
}

std::string unquoted(std::string_view value) {
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'')) {
        const std::size_t end = value.find(value.front(), 1);
        if (end != std::string_view::npos) { return std::string(value.substr(1, end - 1)); }
    }
    const std::size_t comment = value.find(" #");
    return std::string(trimmed(value.substr(0, comment)));
}

std::vector<Secret> values_of(std::string_view text, const std::string& file) {
    std::vector<Secret> named;
    std::vector<Secret> lines;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (line.empty() || line.front() == '#') { continue; }
        lines.push_back({file + "/" + std::to_string(number), std::string(line)});
        if (line.starts_with("export ")) { line = trimmed(line.substr(7)); }
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos || equals == 0) { continue; }
        const std::string_view name = trimmed(line.substr(0, equals));
        const std::string_view value = trimmed(line.substr(equals + 1));
        // `==` ends base64.
        if (name.empty() || is_digit(name.front()) || !std::all_of(name.begin(), name.end(), is_word) || value.empty() ||
            value == "=") {
            continue;
        }
        named.push_back({file + "/" + std::string(name), unquoted(value)});
    }
    return named.empty() ? lines : named;
}

}  // namespace

bool names_a_secret(std::string_view variable) {
    const std::string name = upper(variable);
    // Settings, such as the name of the variable that holds a key.
    if (name.starts_with("AGENTFORGE_") || name == "PWD") { return false; }
    if (std::any_of(harmless_ends.begin(), harmless_ends.end(), [&name](std::string_view end) { return name.ends_with(end); })) {
        return false;
    }
    std::size_t begin = 0;
    while (begin <= name.size()) {
        const std::size_t end = std::min(name.find('_', begin), name.size());
        const std::string_view word = std::string_view(name).substr(begin, end - begin);
        if (std::find(secret_words.begin(), secret_words.end(), word) != secret_words.end()) { return true; }
        begin = end + 1;
    }
    return false;
}

std::string weakness(std::string_view value) {
    if (value.size() < shortest_value) { return "it is shorter than " + std::to_string(shortest_value) + " bytes"; }
    if (value.find("://") != std::string_view::npos) { return "it is an address"; }
    const bool word = std::all_of(value.begin(), value.end(),
                                  [](char c) { return is_letter(c) || c == '-' || c == '_' || c == '.' || c == ' '; });
    if (word && value.size() < shortest_word) {
        return "it is a word of fewer than " + std::to_string(shortest_word) + " letters";
    }
    const bool number =
        std::all_of(value.begin(), value.end(), [](char c) { return is_digit(c) || c == '.' || c == '-' || c == ':'; });
    if (number && value.size() < shortest_number) {
        return "it is a number of fewer than " + std::to_string(shortest_number) + " digits";
    }
    if (std::all_of(value.begin(), value.end(), [&value](char c) { return c == value.front(); })) {
        return "it is one character only";
    }
    return {};
}

Result<KnownSecrets> find_secrets(const SecretSources& sources) {
    KnownSecrets found;
    std::vector<Secret> candidates = sources.values;
    const auto listed = [](const std::vector<std::string>& names, const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const auto& [name, value] : sources.environment) {
        if (value.empty() || listed(sources.public_variables, name)) { continue; }
        if (const std::string_view password = address_password(value); !password.empty()) {
            candidates.push_back({name, std::string(password)});
        }
        if (listed(sources.variables, name) || names_a_secret(name)) { candidates.push_back({name, value}); }
    }
    for (const std::filesystem::path& file : sources.files) {
        struct stat status {};
        if (::stat(file.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
            found.missing.push_back(file.string());
            continue;
        }
        const auto refused = [&file](const std::string& why) {
            return Error{"AF-SEC-002", "a file of secrets cannot be used: " + why, file.string(),
                         "make it readable, or remove it from secrets.files", ErrorKind::invalid};
        };
        if (!S_ISREG(status.st_mode)) { return refused("it is not a regular file"); }
        if (static_cast<std::uint64_t>(status.st_size) > largest_file) { return refused("it is larger than 1 MiB"); }
        const auto text = read_file(file);
        if (!text.ok()) { return refused(text.error().message); }
        for (Secret& secret : values_of(*text, file.filename().string())) { candidates.push_back(std::move(secret)); }
    }
    for (Secret& secret : candidates) {
        if (is_path(secret.value)) { continue; }
        if (const std::string why = weakness(secret.value); why.empty()) {
            found.secrets.push_back(std::move(secret));
        } else if (!secret.value.empty() && why != "it is an address") {
            found.too_weak.push_back(secret.name + ": " + why);
        }
    }
    return found;
}

Result<std::string> redaction_key(const std::string& state_directory, IdSource& ids) {
    const std::filesystem::path file = std::filesystem::path(state_directory) / "redaction.key";
    const auto refused = [&file](const std::string& why, ErrorKind kind) {
        return Error{"AF-SEC-006", "the key for placeholders of secrets is not usable: " + why, file.string(),
                     "make the folder writable, or remove the file so that a new one is created", kind};
    };
    for (unsigned attempt = 0; attempt < 2; ++attempt) {
        const auto text = read_file(file);
        if (text.ok()) {
            const std::string key = text->substr(0, text->find('\n'));
            const bool good = key.size() == key_digits && key.find_first_not_of("0123456789abcdef") == std::string::npos;
            return good ? Result<std::string>(key)
                        : Result<std::string>(refused("it does not contain 64 hexadecimal digits", ErrorKind::corrupt));
        }
        if (text.error().kind != ErrorKind::not_found || attempt > 0) { return refused(text.error().message, ErrorKind::io); }
        if (auto made = make_directories(file.parent_path()); !made.ok()) { return refused(made.error().message, ErrorKind::io); }
        if (auto made = create_file_exclusive(file, ids.random_hex(key_digits) + "\n", Durability::synced, 0600);
            !made.ok() && made.error().kind != ErrorKind::conflict) {
            return refused(made.error().message, ErrorKind::io);
        }
    }
    return refused("it was removed right after it was created", ErrorKind::io);
}

}  // namespace agentforge::kernel
