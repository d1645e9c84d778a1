// SPDX-License-Identifier: Apache-2.0
// Layered settings (Poco::Util), lowest to highest: built-in < ~/.agentforge/config.yaml <
// .agentforge/config/settings.yaml < environment AGENTFORGE_… < flags.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// A setting in a project's file that the project may not set by itself.
struct GuardedSetting {
    std::string key;
    json::value value;
    std::string where;
    json::value holds = nullptr;   ///< The value in force instead; null: none.
    std::string holds_where = {};  ///< Where that value was written.
};
struct SettingOrigin {
    std::string layer;
    std::string where;
};  ///< "project", ".agentforge/config/settings.yaml:3:5"

class Settings {
public:
    struct Sources {
        std::string user_file;                                   ///< May be missing.
        std::string project_file;                                ///< May be missing.
        std::map<std::string, std::string> environment;          ///< Whole environment; AGENTFORGE_LLM_BACKEND → llm.backend.
        std::vector<std::pair<std::string, std::string>> flags;  ///< Key → value, YAML scalars.
        bool project_trusted = true;  ///< False: leaves out what the project may set only with the user's trust.
    };
    /// Every key is checked against the schema (config/settings_schema.yaml). Errors: AF-CONF-020 unknown key with
    /// file, line, column and nearest key; AF-CONF-021 wrong type or value; AF-CONF-022 the schema file itself.
    /// Strings and paths of environment and flags are taken as they are; other types are read as YAML.
    [[nodiscard]] static Result<Settings> load(const std::string& product_directory, const Sources& sources);

    // Keys are dotted: `llm.replay.match`. A dot inside a segment (a free map's key) is written `%2E`, a percent sign `%25`.
    [[nodiscard]] std::string text(std::string_view key) const;               ///< "" where unset; JSON text of a list.
    [[nodiscard]] std::int64_t integer(std::string_view key) const;           ///< 0 where unset.
    [[nodiscard]] bool boolean(std::string_view key) const;                   ///< False where unset.
    [[nodiscard]] std::vector<std::string> list(std::string_view key) const;  ///< A string is a list of one.
    [[nodiscard]] json::object section(std::string_view key) const;           ///< Merged over the layers.
    [[nodiscard]] std::optional<SettingOrigin> origin(std::string_view key) const;
    /// What the layer before the one in force says of a setting that is a plain value, as text; empty where none below it says
    /// anything.
    [[nodiscard]] std::optional<std::string> overridden(std::string_view key) const;
    /// Whether `origin` of one key is of a lower layer than that of another; one that nobody sets is the lowest.
    [[nodiscard]] bool is_below(const std::optional<SettingOrigin>& origin, const std::optional<SettingOrigin>& other) const;
    [[nodiscard]] json::object all() const;  ///< The resolved whole; goes into the task.
    /// AGENTFORGE_… variables that set nothing and mean nothing: typing errors, to be named to the user.
    [[nodiscard]] const std::vector<std::string>& unknown_environment() const;
    /// Every AGENTFORGE_… variable that means something: those of the settings (`*` stands for any one word) and the others.
    [[nodiscard]] std::vector<std::string> variables() const;
    /// Values in the project's file that need the user's trust: settings that reach beyond the sandbox, and values looser than
    /// the user's; including those that were left out.
    [[nodiscard]] const std::vector<GuardedSetting>& guarded() const;
    /// Settings in the project's file that only the user may set. They are never used.
    [[nodiscard]] const std::vector<GuardedSetting>& refused() const;
    /// Every setting there is: {key, type, project, description, default?}, for `config show` and the documentation.
    [[nodiscard]] const json::array& known() const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

/// Where the product's own files lie: `$AGENTFORGE_HOME`, or beside the program (`../share/agentforge`), or the build tree.
struct ProductPaths {
    std::string config;       ///< agents/, pipelines/, contracts/, conformance/, languages/
    std::string plugins;      ///< Shipped plugins.
    std::string exec_helper;  ///< agentforge-exec
    /// Errors: `not_found` AF-CONF-023, `invalid` AF-CONF-024 where the build tree's own note cannot be read.
    [[nodiscard]] static Result<ProductPaths> find();
    /// The same for a given $AGENTFORGE_HOME ("": unset) and program file.
    [[nodiscard]] static Result<ProductPaths> find_for(const std::string& home, const std::string& program);
};

/// The first of the project's settings left out for want of trust that concerns the run, and for which neither the command line
/// nor the environment says what holds instead; null: none. One that says what is in force anyway is not missed.
[[nodiscard]] const GuardedSetting* first_missed(const Settings& settings, const std::vector<GuardedSetting>& left_out,
                                                 const std::function<bool(const std::string& key)>& concerns);

}  // namespace agentforge::kernel
