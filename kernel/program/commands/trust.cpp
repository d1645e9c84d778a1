// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ostream>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "plugins/plugin_registry.hpp"
#include "program/command_line.hpp"
#include "program/project/project_trust.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

struct TrustArguments {
    bool show = false;
    bool revoke = false;
};

/// Returns the names and commands of the servers in a server file, as far as it can be read. Loading the servers refuses the
/// rest.
json::array servers_of(const std::filesystem::path& file) {
    json::array found;
    const auto bytes = read_file(file, 1ULL << 20U);
    const auto parsed = bytes.ok() ? parse_json(*bytes, file.string()) : Result<json::value>(bytes.error());
    const auto* top = parsed.ok() ? parsed->if_object() : nullptr;
    const json::value* list = top == nullptr ? nullptr : top->if_contains("mcpServers");
    if (list == nullptr || !list->is_object()) { return found; }
    for (const auto& [name, server] : list->get_object()) { found.push_back(json::object{{"name", name}, {"server", server}}); }
    return found;
}

json::array plugins_of(const ProjectTrust& trust) {
    json::array plugins;
    for (const std::string& folder : trust.plugin_folders) {
        for (const std::string& path : find_manifests(folder)) {
            const auto manifest = read_manifest(path);
            json::object entry{{"manifest", path}};
            if (manifest.ok()) {
                entry["id"] = manifest->id;
                entry["version"] = manifest->version;
            } else {
                entry["problem"] = manifest.error().to_string();
            }
            json::object files;
            const auto hashes = hash_folder(std::filesystem::path(path).parent_path().string());
            if (hashes.ok()) {
                for (const auto& [name, hash] : *hashes) { files[name] = hash; }
            } else {
                entry["problem"] = hashes.error().to_string();
            }
            entry["files"] = std::move(files);
            plugins.push_back(std::move(entry));
        }
    }
    return plugins;
}

json::object describe(const ProjectTrust& trust, std::string_view verdict) {
    json::array settings;
    for (const GuardedSetting& setting : trust.settings) {
        settings.push_back(json::object{{"key", setting.key},
                                        {"value", setting.value},
                                        {"where", setting.where},
                                        {"instead_of", setting.holds},
                                        {"instead_of_where", setting.holds_where}});
    }
    json::object files;
    for (const auto& [name, hash] : trust.subject.items) {
        if (name.starts_with("file ")) { files[name.substr(5)] = hash; }
    }
    json::array changed;
    for (const std::string& name : trust.changed) { changed.emplace_back(name); }
    return {{"project", trust.subject.root},
            {"verdict", verdict},
            {"fingerprint", trust.subject.fingerprint()},
            {"changed", std::move(changed)},
            {"settings", std::move(settings)},
            {"files", std::move(files)},
            {"plugins", plugins_of(trust)},
            {"servers", servers_of(std::filesystem::path(trust.subject.root) / server_file)}};
}

std::string text_of(const json::value& value) {
    return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
}

/// Returns the value in force while the project is not trusted, if any.
std::string instead_of(const json::value& setting) {
    const json::value& holds = setting.at("instead_of");
    if (holds.is_null()) { return ""; }
    return " instead of " + printable(text_of(holds), 300);
}

void print(std::ostream& out, const json::object& what) {
    out << "Project  " << printable(text_of(what.at("project")), 400) << ": " << text_of(what.at("verdict")) << "\n";
    for (const json::value& name : what.at("changed").get_array()) {
        out << "  changed: " << printable(text_of(name), 200) << "\n";
    }
    if (!what.at("settings").get_array().empty()) {
        out << "Settings of the project that reach beyond the sandbox, or are looser than yours\n";
    }
    for (const json::value& setting : what.at("settings").get_array()) {
        out << "  " << printable(text_of(setting.at("key")), 120) << " = " << printable(text_of(setting.at("value")), 1000)
            << "  (" << printable(text_of(setting.at("where")), 300) << ")" << instead_of(setting) << "\n";
    }
    if (!what.at("plugins").get_array().empty()) { out << "Plugins that run with your privileges\n"; }
    for (const json::value& plugin : what.at("plugins").get_array()) {
        const auto& entry = plugin.get_object();
        if (entry.contains("id")) {
            out << "  " << printable(text_of(entry.at("id")), 120) << " " << printable(text_of(entry.at("version")), 60) << "\n";
        }
        out << "    " << printable(text_of(entry.at("manifest")), 400) << "\n";
        if (entry.contains("problem")) { out << "    " << printable(text_of(entry.at("problem")), 600) << "\n"; }
        for (const auto& [name, hash] : entry.at("files").get_object()) {
            out << "    " << printable(text_of(hash), 200) << "  " << printable(name, 200) << "\n";
        }
    }
    if (!what.at("servers").get_array().empty()) { out << "Servers of " << server_file << "\n"; }
    for (const json::value& server : what.at("servers").get_array()) {
        out << "  " << printable(text_of(server.at("name")), 120) << ": " << printable(json::serialize(server.at("server")), 1000)
            << "\n";
    }
    if (!what.at("files").get_object().empty()) { out << "Files\n"; }
    for (const auto& [name, hash] : what.at("files").get_object()) {
        out << "  " << text_of(hash) << "  " << printable(name, 200) << "\n";
    }
}

/// Reads a line of standard input. Returns nothing at its end, or if the user interrupts.
std::optional<std::string> read_answer(const CancelToken* cancel) {
    std::string line;
    while (cancel == nullptr || !cancel->requested()) {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        // A signal interrupts the wait, or arrived just before it, so the token is checked again.
        if (::poll(&input, 1, 100) <= 0) { continue; }
        char c = 0;
        if (::read(STDIN_FILENO, &c, 1) != 1) { return std::nullopt; }
        if (c == '\n') { return line; }
        line += c;
    }
    return std::nullopt;
}

/// True for commands that run programs named by the project while a person waits.
bool may_ask(const Program& program) {
    static constexpr std::array asking{"start", "resume", "approve", "feedback", "resolve", "rebase", "setup"};
    return program.in_is_terminal && program.err_is_terminal && !program.json_output && !program.stream_output &&
           !program.quiet && program.detached < 0 && std::ranges::find(asking, program.command_name) != asking.end();
}

int run_trust(Program& program, const TrustArguments& arguments) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    auto store = open_trust_store(program, *place);
    if (!store.ok()) { return program.fail(store.error()); }
    if (arguments.revoke) {  // Works even if the project's files are invalid.
        const auto known = store->revoke(place->root.string());
        if (!known.ok()) { return program.fail(known.error()); }
        if (program.json_output) {
            program.print_json({{"project", place->root.string()}, {"revoked", *known}});
        } else {
            program.out << (*known ? "No longer trusted: " : "Was not trusted: ") << place->root.string() << "\n";
        }
        return 0;
    }
    const auto product = ProductPaths::find();
    if (!product.ok()) { return program.fail(product.error()); }
    auto loaded = load_settings(program, *place, *product);
    if (!loaded.ok()) { return program.fail(loaded.error()); }
    warn_about_refused_settings(program.err, *loaded->settings);
    ProjectTrust& trust = loaded->trust;
    trust.verdict = store->verdict(trust.subject);
    trust.changed = store->differences(trust.subject);
    if (!arguments.show && !trust.subject.empty()) {
        if (const auto remembered = store->trust(trust.subject, SystemClock().now()); !remembered.ok()) {
            return program.fail(remembered.error());
        }
        trust.verdict = TrustVerdict::trusted;
        trust.changed.clear();
    }
    const json::object what = describe(trust, to_string(trust.verdict));
    if (program.json_output) {
        program.print_json(what);
        return 0;
    }
    print(program.out, what);
    if (trust.verdict == TrustVerdict::nothing_to_trust) {
        program.out << "Its files name no plugins, servers or programs.\n";
    } else if (arguments.show && trust.verdict != TrustVerdict::trusted) {
        program.out << "Allow all of this with: " << program.with_place("agentforge trust") << "\n";
    } else if (!arguments.show) {
        program.out << "AgentForge asks again when any of this changes. Withdraw it with: "
                    << program.with_place("agentforge trust --revoke") << "\n";
    }
    return 0;
}

}  // namespace

Result<TrustedSettings> resolve_trust(Program& program, const ProjectPlace& place, const ProductPaths& product,
                                      TrustedSettings loaded) {
    warn_about_refused_settings(program.err, *loaded.settings);
    if (loaded.trust.allowed()) { return loaded; }
    const auto refused = [&program, &loaded] {
        program.err << "agentforge: " << printable_lines(loaded.trust.refusal().to_string()) << "\n";
    };
    if (!may_ask(program)) {
        refused();
        return loaded;
    }
    AF_TRY(const std::string state, state_directory(program.environment));
    AF_TRY(TrustStore declined, TrustStore::open(state, place.root.string(), "declined.yaml"));
    if (declined.verdict(loaded.trust.subject) == TrustVerdict::trusted) {
        refused();
        return loaded;
    }
    print(program.err, describe(loaded.trust, to_string(loaded.trust.verdict)));
    program.err
        << "The project's own files would run this with your privileges. Allow it?\n"
           "  y      yes, until any of it changes\n  o      only this once\n  n      no, and do not ask again until it changes\n  Enter  not now\n> "
        << std::flush;
    const auto answer = read_answer(program.cancel);
    if (program.cancel != nullptr && program.cancel->requested()) {
        return Error{"AF-CLI-122", "interrupted while asking whether to trust the project; nothing was done", place.root.string(),
                     "Answer it, or run this first: agentforge trust", ErrorKind::cancelled};
    }
    const std::string word = !answer || answer->empty() ? "" : std::string(1, static_cast<char>(answer->front() | 0x20));
    if (word == "y") {
        AF_TRY(TrustStore store, open_trust_store(program, place));
        AF_CHECK(store.trust(loaded.trust.subject, SystemClock().now()));
    } else if (word == "o") {
        program.trust_project = true;
    } else {
        if (word == "n") { AF_CHECK(declined.trust(loaded.trust.subject, SystemClock().now())); }
        refused();
        return loaded;
    }
    return load_settings(program, place, product);
}

void add_trust(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<TrustArguments>();
    const Command command =
        add_subcommand(app, "trust", "Allow the plugins, servers and commands that this project's own files name");
    const Option show = add_flag(*command, "--show", arguments->show, "Only show what would be allowed");
    add_flag(*command, "--revoke", arguments->revoke, "Withdraw the permission")->excludes(show);
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Example:  agentforge trust --show");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_trust(program, *arguments); }; });
}

}  // namespace agentforge::kernel
