// SPDX-License-Identifier: Apache-2.0
// Layered settings (Poco::Util), lowest to highest: built-in < ~/.agentforge/config.yaml < .agentforge/config/settings.yaml <
// environment AGENTFORGE_… < flags.
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

/// A setting in a project's file that the project may not set without the user's trust.
struct GuardedSetting {
    std::string key;
    json::value value;
    std::string where;
    json::value holds = nullptr;   ///< The value in force instead. Null: none.
    std::string holds_where = {};  ///< Where that value was written.
};
struct SettingOrigin {
    std::string layer;
    std::string where;
};  ///< "project", ".agentforge/config/settings.yaml:3:5"

class Settings {
public:
    struct Sources {
        std::string user_file;     ///< May be missing.
        std::string project_file;  ///< May be missing.
        /// The complete environment; AGENTFORGE_LLM_BACKEND → llm.backend.
        std::map<std::string, std::string> environment;
        std::vector<std::pair<std::string, std::string>> flags;  ///< Key → value, as YAML scalars.
        bool project_trusted = true;  ///< False: ignores what the project may set only with the user's trust.
    };
    /// Checks every key against the schema (config/settings_schema.yaml). Takes strings and paths of environment and flags
    /// literally, and parses other types as YAML. Errors: AF-CONF-020 unknown key with file, line, column and nearest key;
    /// AF-CONF-021 wrong type or value; AF-CONF-022 the schema file itself.
    [[nodiscard]] static Result<Settings> load(const std::string& product_directory, const Sources& sources);

    // Keys are dotted: `llm.replay.match`. A dot inside a segment (a free map's key) is written `%2E`, a percent sign `%25`.
    [[nodiscard]] std::string text(std::string_view key) const;               ///< "" if unset. A list as JSON text.
    [[nodiscard]] std::int64_t integer(std::string_view key) const;           ///< 0 if unset.
    [[nodiscard]] bool boolean(std::string_view key) const;                   ///< False if unset.
    [[nodiscard]] std::vector<std::string> list(std::string_view key) const;  ///< A string counts as a list of one.
    [[nodiscard]] json::object section(std::string_view key) const;           ///< Merged over the layers.
    [[nodiscard]] std::optional<SettingOrigin> origin(std::string_view key) const;
    /// Returns the text of a plain value in the layer below the one in force. Empty if no lower layer sets it.
    [[nodiscard]] std::optional<std::string> overridden(std::string_view key) const;
    /// True if `origin` of one key is a lower layer than that of another. An unset key is the lowest.
    [[nodiscard]] bool is_below(const std::optional<SettingOrigin>& origin, const std::optional<SettingOrigin>& other) const;
    [[nodiscard]] json::object all() const;  ///< All resolved settings, for task.yaml.
    /// Returns the AGENTFORGE_… variables that set nothing: typos, to be reported to the user.
    [[nodiscard]] const std::vector<std::string>& unknown_environment() const;
    /// Returns every AGENTFORGE_… variable with a meaning: those of the settings (`*` stands for any one word) and the others.
    [[nodiscard]] std::vector<std::string> variables() const;
    /// Returns the values in the project's file that need the user's trust: settings that reach beyond the sandbox, and values
    /// looser than the user's. Includes those that were ignored.
    [[nodiscard]] const std::vector<GuardedSetting>& guarded() const;
    /// Returns the settings in the project's file that only the user may set. They are never used.
    [[nodiscard]] const std::vector<GuardedSetting>& refused() const;
    /// Returns every setting, {key, type, project, description, default?}, for `config show` and the documentation.
    [[nodiscard]] const json::array& known() const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

/// Where the product's own files are: `$AGENTFORGE_HOME`, or beside the program (`../share/agentforge`), or the build tree.
struct ProductPaths {
    std::string config;       ///< agents/, pipelines/, contracts/, conformance/, languages/
    std::string plugins;      ///< Shipped plugins.
    std::string exec_helper;  ///< agentforge-exec
    /// Errors: `not_found` AF-CONF-023, `invalid` AF-CONF-024 the build tree's own note cannot be read.
    [[nodiscard]] static Result<ProductPaths> find();
    /// The same for a given $AGENTFORGE_HOME ("": unset) and program file.
    [[nodiscard]] static Result<ProductPaths> find_for(const std::string& home, const std::string& program);
};

/// Returns the first setting of the project that was ignored for lack of trust and matters for the run, unless the command line
/// or the environment sets it. Null: none. A setting that equals the value in force does not count.
[[nodiscard]] const GuardedSetting* first_missed(const Settings& settings, const std::vector<GuardedSetting>& left_out,
                                                 const std::function<bool(const std::string& key)>& concerns);

}  // namespace agentforge::kernel
