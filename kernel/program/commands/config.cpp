// SPDX-License-Identifier: Apache-2.0
// config show, get, set, migrate: show the settings in force and the origin of each, change one value in a file, and convert a
// file of an older format.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <ostream>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "config/edit.hpp"
#include "config/migrate.hpp"
#include "config/settings_schema.hpp"
#include "program/command_line.hpp"
#include "program/commands/config.hpp"
#include "program/project/handlers.hpp"
#include "program/project/project.hpp"
#include "program/project/project_folder.hpp"
#include "program/project/project_trust.hpp"
#include "program/project/service_settings.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

constexpr const char* no_value = "AF-CLI-070";

struct ConfigArguments {
    std::string key;
    std::optional<std::string> value;
    bool origin = false;
    bool user = false;
    bool unset = false;
};

struct ConfigInForce {
    ProjectPlace place;
    ProductPaths product;
    TrustedSettings loaded;
};

Result<ConfigInForce> read_config(Program& program) {
    ConfigInForce config;
    AF_TRY(config.place, ProjectPlace::find(program));
    AF_TRY(config.product, ProductPaths::find());
    AF_TRY(config.loaded, load_settings(program, config.place, config.product));
    warn_about_unknown_variables(program, *config.loaded.settings);
    warn_about_refused_settings(program.err, *config.loaded.settings);
    if (!config.loaded.trust.allowed()) {
        program.err << "agentforge: " << printable_lines(config.loaded.trust.refusal().to_string()) << "\n";
    }
    return config;
}

/// Lists the keys in order, with the JSON value of each.
void flatten_settings(const json::value& value, std::vector<std::string>& segments,
                      std::vector<std::pair<std::string, json::value>>& leaves) {
    const auto* object = value.if_object();
    if (object == nullptr || object->empty()) {
        if (!segments.empty() && object == nullptr) { leaves.emplace_back(join_key(segments), value); }
        return;
    }
    for (const auto& [key, inner] : *object) {
        segments.emplace_back(key);
        flatten_settings(inner, segments, leaves);
        segments.pop_back();
    }
}

/// True for values in free maps (headers, environment variables) with a name that suggests a secret. They are not shown.
bool is_secret_setting(const std::string& key) {
    if (!key.starts_with("mcp_servers.") && key.find(".settings.") == std::string::npos) { return false; }
    std::string last = key.substr(key.rfind('.') + 1);
    for (char& c : last) {
        if (c >= 'a' && c <= 'z') { c = static_cast<char>(c - 'a' + 'A'); }
    }
    for (const char* word : {"KEY", "TOKEN", "SECRET", "PASSWORD", "AUTHORIZATION"}) {
        if (last.find(word) != std::string::npos && !last.ends_with("_ENV")) { return true; }
    }
    return false;
}

std::string shown_value(const json::value& value) {
    if (const auto* text = value.if_string()) { return printable_lines(std::string(*text)); }
    return printable_lines(to_json_line(value));
}

/// Returns a value for the line of its key. A text of several lines is quoted.
std::string value_in_line(const json::value& value) {
    const std::string shown = shown_value(value);
    return shown.find('\n') == std::string::npos ? shown : printable_lines(to_json_line(value));
}

/// Returns the same error as for a flag of that name.
Error no_such_setting(const ProductPaths& product, const std::string& key) {
    Settings::Sources only;
    only.flags.emplace_back(key, "");
    const auto refused = Settings::load(product.config, only);
    Error error = refused.ok() ? Error{} : refused.error();  // Never ok: the caller looked the key up.
    error.where.clear();
    return error;
}

/// Returns the schema's entry for a key, or null. `*` matches any one segment. For a key inside a map, returns the map's entry.
const json::object* known_setting(const Settings& settings, const std::vector<std::string>& segments) {
    for (const json::value& entry : settings.known()) {
        const json::object& object = entry.get_object();
        const auto pattern = split_key(std::string(object.at("key").as_string()));
        const bool map = object.at("type").as_string() == "map";
        if (segments.size() < pattern.size() || (segments.size() > pattern.size() && !map)) { continue; }
        bool fits = true;
        for (std::size_t index = 0; index < pattern.size(); ++index) {
            fits = fits && (pattern[index] == "*" || pattern[index] == segments[index]);
        }
        if (fits) { return &object; }
    }
    return nullptr;
}

bool is_section_of_settings(const Settings& settings, const std::string& key) {
    for (const json::value& entry : settings.known()) {
        if (std::string_view(entry.get_object().at("key").as_string()).starts_with(key + ".")) { return true; }
    }
    return false;
}

json::object setting_json(const Settings& settings, const std::string& key, const json::value& value) {
    json::object object{{"key", key}, {"value", value}, {"layer", nullptr}, {"where", nullptr}};
    if (const auto origin = settings.origin(key)) {
        object["layer"] = origin->layer;
        object["where"] = origin->where;
    }
    return object;
}

int show_config(Program& program, const ConfigArguments& arguments) {
    const auto config = read_config(program);
    if (!config.ok()) { return program.fail(config.error()); }
    const Settings& settings = *config->loaded.settings;
    const auto segments = split_key(arguments.key);
    if (!arguments.key.empty() && (segments.empty() || (known_setting(settings, segments) == nullptr &&
                                                        !is_section_of_settings(settings, arguments.key)))) {
        return program.fail(no_such_setting(config->product, arguments.key));
    }
    std::vector<std::pair<std::string, json::value>> leaves;
    std::vector<std::string> at;
    flatten_settings(settings.all(), at, leaves);
    json::array list;
    for (auto& [key, value] : leaves) {
        if (!arguments.key.empty() && key != arguments.key && !key.starts_with(arguments.key + ".")) { continue; }
        if (is_secret_setting(key)) { value = "(hidden)"; }
        if (program.json_output) {
            list.push_back(setting_json(settings, key, value));
            continue;
        }
        const auto origin = settings.origin(key);
        std::string shown = key + " = " + value_in_line(value);
        if (arguments.origin && origin) {
            shown = fmt::format("{:<60} {:<12} {}", shown, origin->layer, printable(origin->where, 300));
        }
        program.out << shown << "\n";
    }
    if (program.json_output) { program.print_json({{"settings", std::move(list)}}); }
    return 0;
}

int get_config(Program& program, const ConfigArguments& arguments) {
    const auto config = read_config(program);
    if (!config.ok()) { return program.fail(config.error()); }
    const Settings& settings = *config->loaded.settings;
    const auto segments = split_key(arguments.key);
    const json::object* const known = segments.empty() ? nullptr : known_setting(settings, segments);
    if (known == nullptr) {
        Error error = no_such_setting(config->product, arguments.key);
        if (is_section_of_settings(settings, arguments.key)) {
            error.remedy = "this is a section: `agentforge config show " + arguments.key + "` shows its settings";
        }
        return program.fail(error);
    }
    json::value all = settings.all();
    const json::value* value = &all;
    for (const std::string& segment : segments) {
        const auto* object = value == nullptr ? nullptr : value->if_object();
        value = object == nullptr ? nullptr : object->if_contains(segment);
    }
    if (value == nullptr) {
        const std::string description = text_of(*known, "description");
        return program.fail(
            Error{"AF-CONF-041",
                  arguments.key + " is not set and has no default" + (description.empty() ? "" : " (" + description + ")"), "",
                  "set it with `agentforge config set " + arguments.key + " VALUE`", ErrorKind::not_found});
    }
    if (program.json_output) {
        program.print_json(setting_json(settings, arguments.key, *value));
        return 0;
    }
    if (const auto* list = value->if_array()) {
        for (const json::value& each : *list) { program.out << shown_value(each) << "\n"; }
    } else {
        program.out << shown_value(*value) << "\n";
    }
    if (const auto origin = settings.origin(arguments.key); origin && arguments.origin) {
        program.out << "  from " << origin->layer << ", " << origin->where << "\n";
    }
    return 0;
}

/// Parses a value and checks it against the schema, as for a flag.
Result<json::value> value_of_text(const ConfigInForce& config, const std::string& key, const std::string& text) {
    Settings::Sources only;
    only.flags.emplace_back(key, text);
    const auto segments = split_key(key);
    AF_TRY(const Settings schema, Settings::load(config.product.config, {}));
    if (const json::object* known = segments.empty() ? nullptr : known_setting(schema, segments)) {
        // In a free map: checks the map with only this value, as for a flag.
        const auto map_depth = split_key(std::string(known->at("key").as_string())).size();
        if (segments.size() == map_depth && text.find_first_not_of(" \t\r\n") == std::string::npos &&
            !known->contains("default")) {
            return Error{no_value, "the value for " + printable(key, 120) + " is empty", "",
                         "give one, or remove the setting with --unset", ErrorKind::invalid};
        }
        if (segments.size() > map_depth) {
            AF_TRY(const YamlDocument inner, parse_yaml(text, ""));
            json::value value = inner.value;
            for (std::size_t index = segments.size(); index-- > map_depth;) {
                value = json::object{{segments[index], std::move(value)}};
            }
            only.flags.back() = {join_key({segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(map_depth)}),
                                 to_json_line(value)};
        }
    }
    auto loaded = Settings::load(config.product.config, only);
    if (!loaded.ok()) {
        Error error = loaded.error();
        error.where = error.where.starts_with("flag ") ? "" : error.where;
        return error;
    }
    json::value all = loaded->all();
    const json::value* value = &all;
    for (const std::string& segment : segments) { value = &value->as_object().at(segment); }
    // Checks what the schema cannot: the formats of times, authors and branches, which `start` would refuse.
    const auto by_key = [](Error error) {
        if (error.where.starts_with("flag ")) { error.where.erase(0, 5); }
        return error;
    };
    if (const auto limits = read_limits(loaded->section("limits"), [](const std::string& limit) { return limit; });
        !limits.ok()) {
        return by_key(limits.error());
    }
    if (const auto delivery = load_delivery(*loaded); !delivery.ok()) { return by_key(delivery.error()); }
    return *value;
}

/// Locks a folder for its lifetime, so two commands cannot change one file at once. If it cannot be locked, continues without.
class FolderLock {
public:
    explicit FolderLock(const std::filesystem::path& folder)
        : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        while (folder_.valid() && ::flock(folder_.get(), LOCK_EX) != 0 && errno == EINTR) {}
    }

private:
    FileDescriptor folder_;
};

/// One change of one setting in one file.
class SettingChange {
public:
    SettingChange(Program& program, const ConfigArguments& arguments)
        : program_(program), arguments_(arguments), segments_(split_key(arguments.key)) {}

    Result<void> make();
    void print();

private:
    Result<void> check_arguments();
    Result<void> find_file();
    Result<void> read_value();
    Result<void> lock_folder();
    Result<void> rewrite_file();
    [[nodiscard]] std::string remark();

    Program& program_;
    const ConfigArguments& arguments_;
    const std::vector<std::string> segments_;
    ConfigInForce config_;
    bool in_project_ = false;
    std::filesystem::path file_;
    json::value value_;
    std::optional<FolderLock> lock_;
    bool changed_ = false;
};

Result<void> SettingChange::make() {
    AF_CHECK(check_arguments());
    AF_CHECK(find_file());
    AF_CHECK(read_value());
    AF_CHECK(lock_folder());
    return rewrite_file();
}

Result<void> SettingChange::check_arguments() {
    if (arguments_.unset != arguments_.value.has_value()) { return {}; }
    return Error{no_value,
                 arguments_.unset ? "a value and --unset cannot be used together"
                                  : "no value is given for " + printable(arguments_.key, 120),
                 "", "give the value as the second argument, or remove the setting with --unset", ErrorKind::invalid};
}

Result<void> SettingChange::find_file() {
    const auto place = ProjectPlace::find(program_);
    in_project_ = place.ok();
    if (in_project_) { config_.place = *place; }
    if (!in_project_ && !arguments_.user) { return place.error(); }
    AF_TRY(config_.product, ProductPaths::find());
    const std::string home = program_.environment.contains("HOME") ? program_.environment.at("HOME") : "";
    if (arguments_.user && home.empty()) {
        return Error{"AF-CONF-042", "cannot find your own settings: HOME is not set", "", "set HOME, or omit --user",
                     ErrorKind::unavailable};
    }
    file_ = arguments_.user ? std::filesystem::path(home) / ".agentforge" / "config.yaml"
                            : config_.place.agentforge / "config" / "settings.yaml";
    return {};
}

Result<void> SettingChange::read_value() {
    if (!arguments_.unset) {
        AF_TRY(value_, value_of_text(config_, arguments_.key, *arguments_.value));
        return {};
    }
    AF_TRY(const Settings schema, Settings::load(config_.product.config, {}));
    if (segments_.empty() || known_setting(schema, segments_) == nullptr) {
        return no_such_setting(config_.product, arguments_.key);
    }
    return {};
}

/// Creates the folder, because a missing folder cannot be locked. With --unset, a missing folder means nothing to remove.
Result<void> SettingChange::lock_folder() {
    if (!arguments_.unset) { AF_CHECK(make_directories(file_.parent_path())); }
    lock_.emplace(file_.parent_path());
    return {};
}

Result<void> SettingChange::rewrite_file() {
    std::string before;
    std::error_code missing;
    if (std::filesystem::exists(file_, missing)) { AF_TRY(before, read_file(file_)); }
    AF_TRY(const std::string after, arguments_.unset ? unset_in_yaml(before, file_.string(), segments_)
                                                     : set_in_yaml(before, file_.string(), segments_, value_));
    changed_ = after != before;
    if (!changed_) { return {}; }
    if (!arguments_.user) { AF_CHECK(prepare_project_folder(config_.place, true)); }
    return replace_users_file(file_, after);
}

/// Returns why the written value has no effect yet: a higher layer overrides it, or the project is not trusted. Else empty.
std::string SettingChange::remark() {
    if (!in_project_ || arguments_.unset) { return ""; }
    const auto loaded = load_settings(program_, config_.place, config_.product);
    if (!loaded.ok()) { return "cannot load all settings: " + loaded.error().to_string(); }
    const auto origin = loaded->settings->origin(arguments_.key);
    if (!origin || origin->layer == "built-in") { return "it takes effect once you trust the project: agentforge trust"; }
    if (origin->layer == (arguments_.user ? "user" : "project")) { return ""; }
    return "it has no effect: " + origin->layer + " overrides it (" + origin->where + ")";
}

void SettingChange::print() {
    const std::string remark = this->remark();
    if (program_.json_output) {
        json::object object{
            {"key", arguments_.key}, {"value", value_}, {"file", file_.string()}, {"changed", changed_}, {"remark", nullptr}};
        if (!remark.empty()) { object["remark"] = remark; }
        program_.print_json(object);
        return;
    }
    if (!changed_) {
        program_.out << "Nothing to change in " << file_.string() << "\n";
    } else if (arguments_.unset) {
        program_.out << "Removed " << arguments_.key << " from " << file_.string() << "\n";
    } else {
        program_.out << arguments_.key << " = " << value_in_line(value_) << "  in " << file_.string() << "\n";
    }
    if (!remark.empty()) { program_.err << "agentforge: " << printable_lines(remark) << "\n"; }
}

int set_config(Program& program, const ConfigArguments& arguments) {
    SettingChange change(program, arguments);
    if (const auto made = change.make(); !made.ok()) {
        const int code = program.fail(made.error());
        return made.error().code == no_value ? 2 : code;
    }
    change.print();
    return 0;
}

int migrate_config(Program& program) {
    const auto place = ProjectPlace::find(program);
    const auto product = ProductPaths::find();
    if (!product.ok()) { return program.fail(product.error()); }
    const auto schema = SettingsSchema::load(product->config + "/settings_schema.yaml");
    if (!schema.ok()) { return program.fail(schema.error()); }
    std::vector<std::filesystem::path> files;
    if (const auto home = program.environment.find("HOME"); home != program.environment.end() && !home->second.empty()) {
        files.push_back(std::filesystem::path(home->second) / ".agentforge" / "config.yaml");
    }
    if (place.ok()) { files.push_back(place->agentforge / "config" / "settings.yaml"); }
    // Reads all files before it writes any: if one cannot be changed, none is.
    std::vector<std::pair<std::filesystem::path, Migration>> migrations;
    std::vector<FolderLock> locks;
    json::array list;
    for (const std::filesystem::path& file : files) {
        std::error_code error;
        if (!std::filesystem::exists(file, error)) { continue; }
        locks.emplace_back(file.parent_path());
        const auto text = read_file(file);
        if (!text.ok()) { return program.fail(text.error()); }
        auto migration = migrate_settings(*schema, *text, file.string());
        if (!migration.ok()) { return program.fail(migration.error()); }
        if (!migration->changes.empty()) { migrations.emplace_back(file, std::move(*migration)); }
    }
    for (const auto& [file, migration] : migrations) {
        if (const auto written = replace_users_file(file, migration.text); !written.ok()) {
            return program.fail(written.error());
        }
        for (const std::string& change : migration.changes) {
            list.push_back(json::object{{"file", file.string()}, {"change", change}});
            if (!program.json_output) { program.out << file.string() << ": " << printable(change, 300) << "\n"; }
        }
    }
    if (program.json_output) {
        program.print_json({{"changes", std::move(list)}});
    } else if (migrations.empty()) {
        program.out << "Nothing to change: the settings have the current format.\n";
    }
    return 0;
}

}  // namespace

int set_user_setting(Program& program, const std::string& key, const std::string& value) {
    return set_config(program, ConfigArguments{.key = key, .value = value, .user = true});
}

void warn_about_unknown_variables(Program& program, const Settings& settings) {
    const std::vector<std::string> webhook = webhook_variables(settings);
    for (const std::string& name : settings.unknown_environment()) {
        if (std::find(webhook.begin(), webhook.end(), name) != webhook.end()) { continue; }
        const std::string near = nearest(name, settings.variables());
        program.err << "agentforge: the environment variable " << printable(name, 120) << " has no effect (unknown name)"
                    << (near.empty() ? "" : "; did you mean " + near + "?") << "\n";
    }
}

void add_config(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<ConfigArguments>();
    const Command group = add_subcommand(app, "config", "Show and change settings, and show where each comes from");
    group->require_subcommand();
    group->footer("Examples:\n  agentforge config show --origin\n  agentforge config set llm.backend anthropic");

    const Command show = add_subcommand(*group, "show", "Show the effective settings, including defaults");
    add_option(*show, "key", arguments->key, "Only this setting or section")->type_name("KEY");
    add_flag(*show, "--origin", arguments->origin, "Also show where each comes from: layer, file, line and column");
    add_flag(*show, "--json", program.json_output, "Print JSON");
    show->footer("Examples:\n  agentforge config show --origin\n  agentforge config show llm");
    show->callback([&program, arguments] {
        program.pages = true;
        program.command = [&program, arguments] { return show_config(program, *arguments); };
    });

    const Command get = add_subcommand(*group, "get", "Print one setting's value, for scripts; exit with code 1 if it has none");
    add_option(*get, "key", arguments->key, "The setting, such as llm.backend")->type_name("KEY")->required();
    add_flag(*get, "--origin", arguments->origin, "Also show where it comes from");
    add_flag(*get, "--json", program.json_output, "Print JSON");
    get->footer("Example:  agentforge config get pipeline.default");
    get->callback([&program, arguments] { program.command = [&program, arguments] { return get_config(program, *arguments); }; });

    const Command set = add_subcommand(*group, "set", "Set a value in the project's file; comments and other settings are kept");
    add_option(*set, "key", arguments->key, "The setting, such as llm.backend")->type_name("KEY")->required();
    add_option_function(
        *set, "value", [arguments](const std::string& value) { arguments->value = value; }, "Its value; a list as [a, b]")
        ->type_name("VALUE")
        ->may_be_empty();  // Replaces a default.
    add_flag(*set, "--user", arguments->user, "Write to your own file instead, ~/.agentforge/config.yaml, for all projects");
    add_flag(*set, "--unset", arguments->unset, "Remove it from the file");
    add_flag(*set, "--json", program.json_output, "Print JSON");
    set->footer(
        "Examples:\n  agentforge config set llm.backend anthropic\n  agentforge config set limits.max_cost_usd 2.50 --user\n  agentforge config set llm.model --unset");
    const Command migrate = add_subcommand(
        *group, "migrate", "Convert your settings and the project's to the current format; everything else is kept");
    add_flag(*migrate, "--json", program.json_output, "Print JSON");
    migrate->footer("Example:  agentforge config migrate");
    migrate->callback([&program] { program.command = [&program] { return migrate_config(program); }; });

    set->callback([&program, arguments] { program.command = [&program, arguments] { return set_config(program, *arguments); }; });
}

}  // namespace agentforge::kernel
