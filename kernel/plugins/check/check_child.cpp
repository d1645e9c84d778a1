// SPDX-License-Identifier: Apache-2.0
// The child of `plugins check`. Everything here may crash, hang or exit; the parent reports which call did.
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

#include "base/files.hpp"
#include "base/text.hpp"
#include "plugins/check/check.hpp"
#include "plugins/check/check_host.hpp"
#include "plugins/config_check.hpp"
#include "plugins/library.hpp"
#include "plugins/symbols.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t huge_text_bytes = 1UL << 20U;
constexpr std::size_t huge_entries = 1000;
constexpr std::size_t large_output_bytes = 8UL << 20U;
constexpr const char* author = "Report it to the plugin's author.";

// ---------------------------------------------------------------------------------- to the parent --

class Reporter {
public:
    explicit Reporter(int descriptor) : descriptor_(descriptor) {}

    void line(const json::object& record) const { raw(to_json_line(record) + "\n"); }
    void raw(std::string_view text) const noexcept {
        while (!text.empty()) {
            const ssize_t written = ::write(descriptor_, text.data(), text.size());
            if (written < 0 && errno == EINTR) { continue; }
            if (written <= 0) { return; }
            text.remove_prefix(static_cast<std::size_t>(written));
        }
    }

private:
    int descriptor_;
};

/// Ends the process when a call takes too long. There is no other way to end a call.
class Watchdog {
public:
    Watchdog(const Reporter& reporter, std::chrono::milliseconds limit)
        : reporter_(reporter), limit_(limit), thread_([this] { watch(); }) {}
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    ~Watchdog() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    void begin() { set(std::chrono::steady_clock::now() + limit_); }
    void end() { set(std::nullopt); }

private:
    void set(std::optional<std::chrono::steady_clock::time_point> until) {
        {
            const std::lock_guard lock(mutex_);
            until_ = until;
        }
        changed_.notify_all();
    }
    void watch() {
        std::unique_lock lock(mutex_);
        while (!over_) {
            if (!until_) {
                changed_.wait(lock);
            } else if (std::chrono::steady_clock::now() >= *until_) {
                reporter_.raw("{\"r\":\"hang\"}\n");  // Does not allocate: the hung thread may hold the allocator's lock.
                ::_exit(97);
            } else {
                const auto until = *until_;
                changed_.wait_until(lock, until);
            }
        }
    }

    const Reporter& reporter_;
    std::chrono::milliseconds limit_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<std::chrono::steady_clock::time_point> until_;
    bool over_ = false;
    std::thread thread_;
};

// -------------------------------------------------------------------------------------- the inputs --

enum class Input : unsigned char {
    valid = 1,
    required,
    empty,
    huge,
    entries,
    nulls,
    wrong_types,
    invalid_utf8,
    host_fails,
    cancelled
};

struct InputName {
    Input input;
    const char* name;
    bool broken;
};
/// `broken`: input that the host refuses before a plugin sees it. A plugin may throw on it, but must not crash or hang.
constexpr std::array<InputName, 10> inputs = {{{Input::valid, "valid", false},
                                               {Input::required, "required only", false},
                                               {Input::empty, "empty", false},
                                               {Input::huge, "1 MiB texts, lists of 1000", false},
                                               {Input::entries, "an object of 1000 entries", false},
                                               {Input::nulls, "null in place of every value", true},
                                               {Input::wrong_types, "values of other types", true},
                                               {Input::invalid_utf8, "invalid UTF-8", true},
                                               {Input::host_fails, "valid, every host call fails", false},
                                               {Input::cancelled, "valid, cancelled from the beginning", false}}};

const std::string& bad_utf8() {
    static const std::string text = "\xff\xfe\xc3(\xed\xa0\x80 text \xf4\x90\x80\x80";
    return text;
}

/// Returns a value that the schema itself gives.
std::optional<json::value> given_sample(const json::object& schema) {
    for (const char* key : {"const", "default"}) {
        if (const auto* value = schema.if_contains(key)) { return *value; }
    }
    for (const char* key : {"examples", "enum"}) {
        if (const auto* value = schema.if_contains(key); value != nullptr && value->is_array() && !value->get_array().empty()) {
            return value->get_array().front();
        }
    }
    return std::nullopt;
}

/// Returns the type of a schema, or the first of its types. Empty if it names none.
std::string type_in(const json::object& schema) {
    const auto* value = schema.if_contains("type");
    if (value != nullptr && value->is_array() && !value->get_array().empty()) { value = &value->get_array().front(); }
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

double number_in(const json::object& schema, const char* key, double fallback) {
    const auto* value = schema.if_contains(key);
    return value != nullptr && value->is_number() ? value->to_number<double>() : fallback;
}

json::value sample(const json::value& schema_value, std::string_view name, bool required_only, unsigned depth = 0);

json::array sample_array(const json::object& schema, std::string_view name, bool required_only, unsigned depth) {
    json::array array;
    const auto* items = schema.if_contains("items");
    const auto count = std::clamp(number_in(schema, "minItems", 1), required_only ? 0.0 : 1.0, 100.0);
    while (static_cast<double>(array.size()) < count) {
        array.push_back(items == nullptr ? json::value("text") : sample(*items, name, required_only, depth + 1));
    }
    return array;
}

json::object sample_object(const json::object& schema, bool required_only, unsigned depth) {
    json::object object;
    const auto* required = schema.if_contains("required");
    const auto* properties = schema.if_contains("properties");
    if (properties == nullptr || !properties->is_object()) { return object; }
    for (const auto& [key, property] : properties->get_object()) {
        const bool needed = required != nullptr && required->is_array() &&
                            std::ranges::find(required->get_array(), json::value(key)) != required->get_array().end();
        if (needed || !required_only) { object[key] = sample(property, key, required_only, depth + 1); }
    }
    return object;
}

std::string sample_text(const json::object& schema, std::string_view name) {
    std::string text = name == "path" ? "src/app.py" : "text";
    const double least = number_in(schema, "minLength", 0);
    if (least > static_cast<double>(text.size()) && least < 100'000) { text.resize(static_cast<std::size_t>(least), 'x'); }
    return text;
}

/// Makes up a value for a schema as well as it can. Prefers `default`, `examples`, `const` and `enum`.
json::value sample(const json::value& schema_value, std::string_view name, bool required_only, unsigned depth) {
    if (!schema_value.is_object() || depth > 20) { return "text"; }
    const json::object& schema = schema_value.get_object();
    if (auto given = given_sample(schema)) { return *std::move(given); }
    const std::string type = type_in(schema);
    if (type == "integer") { return static_cast<std::int64_t>(number_in(schema, "minimum", 1)); }
    if (type == "number") { return number_in(schema, "minimum", 1); }
    if (type == "boolean") { return true; }
    if (type == "null") { return nullptr; }
    if (type == "array") { return sample_array(schema, name, required_only, depth); }
    if (type == "object" || schema.contains("properties")) { return sample_object(schema, required_only, depth); }
    return json::value(sample_text(schema, name));
}

/// Makes the value invalid or huge.
void spoil(json::value& value, Input input, unsigned depth = 0) {
    if (value.is_object() && depth < 20 && (depth == 0 || (input != Input::nulls && input != Input::wrong_types))) {
        for (auto& member : value.get_object()) { spoil(member.value(), input, depth + 1); }
        if (input == Input::entries && depth == 0) {
            for (std::size_t index = 0; index < huge_entries; ++index) {
                value.get_object()["entry_" + std::to_string(index)] = "text";
            }
        }
        return;
    }
    if (value.is_array() && depth < 20 && input != Input::nulls && input != Input::wrong_types) {
        if (input == Input::huge && !value.get_array().empty()) {
            const json::value first = value.get_array().front();
            value.get_array().resize(huge_entries, first);
            return;
        }
        for (auto& item : value.get_array()) { spoil(item, input, depth + 1); }
        return;
    }
    switch (input) {
        case Input::huge:
            if (value.is_string()) { value = json::string(huge_text_bytes, 'x'); }
            break;
        case Input::nulls:
            value = nullptr;
            break;
        case Input::invalid_utf8:
            if (value.is_string()) { value = json::string_view(bad_utf8()); }
            break;
        case Input::wrong_types:
            if (value.is_string()) {
                value = json::array{1, json::object{{"a", nullptr}}};
            } else if (value.is_number()) {
                value = "text";
            } else {
                value = -1.5;
            }
            break;
        default:
            break;
    }
}

std::string text_for(Input input, std::string_view plain) {
    switch (input) {
        case Input::empty:
            return {};
        case Input::huge:
            return std::string(huge_text_bytes, 'x');
        case Input::invalid_utf8:
            return bad_utf8();
        default:
            return std::string(plain);
    }
}

Error host_error() { return {"AF-EXEC-001", "the host of `plugins check` fails every request", "", "", ErrorKind::io}; }

// -------------------------------------------------------------------------------------- the check --

class Exercise {
public:
    Exercise(const CheckHooks& hooks, const json::object& task, int report)
        : hooks_(hooks),
          reporter_(report),
          limit_(std::chrono::milliseconds(task.at("call_limit_ms").to_number<std::int64_t>())),
          manifest_path_(task.at("manifest").as_string()) {
        for (const json::value& one : task.at("left_out").as_array()) { left_out_.insert(one.to_number<std::uint64_t>()); }
    }

    void run() {
        close_network();
        redirect_output();
        const auto manifest = read_manifest(manifest_path_);
        if (!manifest.ok()) { return finding("manifest", CheckStatus::error, manifest.error()); }
        manifest_ = *manifest;
        library_ = manifest_.directory + "/" + manifest_.library;
        Watchdog watchdog(reporter_, limit_);
        watchdog_ = &watchdog;
        if (!resolve() || !load()) { return done(); }
        check_settings_schema();
        for (std::uint32_t index = 0; index < descriptor_->factory_count; ++index) { exercise(descriptor_->factories[index]); }
        done();
    }

private:
    struct Object {
        std::string name;
        AgentforgeDestroy destroy = nullptr;
        void* pointer = nullptr;
    };

    // Records a finished call.

    void done() {
        watchdog_ = nullptr;
        reporter_.line({{"r", "done"}, {"calls", calls_}});
    }

    void finding(std::string_view step, CheckStatus status, const Error& error, std::string_view found = {},
                 std::string_view expected = {}) {
        json::object record{{"r", "finding"},
                            {"step", step},
                            {"status", to_string(status)},
                            {"object", object_},
                            {"method", method_},
                            {"input", input_},
                            {"code", error.code},
                            {"message", ellipsis(sanitize_utf8(error.message), 2000)},
                            {"where", ellipsis(sanitize_utf8(error.where), 500)},
                            {"remedy", error.remedy},
                            {"found", ellipsis(sanitize_utf8(found), 500)},
                            {"expected", expected}};
        reporter_.line(record);
    }
    void pass(std::string_view step, std::string message) {
        reporter_.line({{"r", "pass"}, {"step", step}, {"object", object_}, {"message", std::move(message)}});
    }

    /// Runs one call into the plugin. Returns false if it was skipped or threw.
    template <class Call>
    bool call(std::string_view step, const char* method, std::string_view input, bool may_throw, Call&& body) {
        const std::uint64_t number = next_++;
        method_ = method;
        input_ = std::string(input);
        if (left_out_.contains(number)) { return false; }
        reporter_.line({{"r", "at"}, {"n", number}, {"step", step}, {"object", object_}, {"method", method_}, {"input", input_}});
        if (watchdog_ != nullptr) { watchdog_->begin(); }
        std::string thrown;
        bool threw = true;
        try {
            body();
            threw = false;
        } catch (const std::exception& failure) { thrown = failure.what() == nullptr ? "" : failure.what(); } catch (...) {
            thrown = "something that is not a std::exception";
        }
        if (watchdog_ != nullptr) { watchdog_->end(); }
        ++calls_;
        if (threw) {
            finding(
                step, may_throw ? CheckStatus::warning : CheckStatus::error,
                {"AF-CHECK-013", whose() + " threw in " + method_ + "()" + given() + ": " + ellipsis(sanitize_utf8(thrown), 300),
                 library_,
                 may_throw ? "The host refuses such input first; read arguments with agentforge::Arguments, which does not throw."
                           : "Catch it in the plugin and return a failed result: no exception may leave a plugin.",
                 ErrorKind::internal},
                "an exception", "a returned result");
        }
        check_output(step);
        return !threw;
    }

    [[nodiscard]] std::string whose() const {
        return object_.empty() ? "The plugin `" + manifest_.id + "`" : "The " + object_ + " of plugin `" + manifest_.id + "`";
    }
    [[nodiscard]] std::string given() const { return input_.empty() ? "" : " with the input \"" + input_ + "\""; }

    void wrong_result(std::string_view step, CheckStatus status, const std::string& what, std::string_view found,
                      std::string_view expected, const char* remedy) {
        finding(step, status,
                {"AF-CHECK-016", whose() + " " + what + " in " + method_ + "()" + given(), library_, remedy, ErrorKind::invalid},
                found, expected);
    }

    // Process isolation.

    void close_network() {
        // Must run before any thread starts. A new network namespace has no way out. If the system forbids it, the report says
        // so.
        const bool closed = ::unshare(CLONE_NEWNET) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
        reporter_.line({{"r", "fact"}, {"network_closed", closed}});
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        ::prctl(PR_SET_DUMPABLE, 0);
    }

    /// Redirects standard output to a memory file, which grows if a call writes to it.
    void redirect_output() {
        out_ = ::memfd_create("stdout", MFD_CLOEXEC);
        if (out_ < 0) { return; }
        ::dup2(out_, STDOUT_FILENO);
        ::fcntl(out_, F_SETFL, O_APPEND);
    }

    void check_output(std::string_view step) {
        std::fflush(stdout);
        struct stat status {};
        if (out_ < 0 || ::fstat(out_, &status) != 0 || status.st_size <= written_) { return; }
        std::string text(static_cast<std::size_t>(std::min<off_t>(status.st_size - written_, 200)), '\0');
        const ssize_t got = ::pread(out_, text.data(), text.size(), written_);
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        const auto bytes = status.st_size - written_;
        written_ = status.st_size;
        finding("output", CheckStatus::error,
                {"AF-CHECK-014",
                 whose() + " wrote " + std::to_string(bytes) + " bytes to standard output in " +
                     (method_.empty() ? std::string(step) : method_ + "()") + given(),
                 library_, "Use the context's log() or progress(): standard output is the program's answer.", ErrorKind::invalid},
                text, "nothing on standard output");
    }

    // Loading.

    /// Looks for every undefined symbol where the dynamic linker will: in the program, then in the library's dependencies.
    bool resolve() {
        const auto contents = read_symbols(library_);
        if (!contents.ok()) {
            finding("undefined", CheckStatus::error, contents.error());
            return false;
        }
        const NeededLibraries libraries = open_needed(*contents);
        for (const std::string& library : libraries.missing) {
            report_unresolved("it needs the library `" + library + "`, which is not installed",
                              "Install that library, or rebuild the plugin against the one that is there.", "no " + library,
                              library + " in the library path");
        }
        const std::vector<std::string> missing = undefined_symbols(*contents, libraries.handles);
        // The symbols of a missing library are missing with it.
        if (!missing.empty() && libraries.missing.empty()) { report_undefined(missing); }
        if (!missing.empty() || !libraries.missing.empty()) { return false; }
        pass("undefined", "each symbol that it needs is there");
        return true;
    }

    struct NeededLibraries {
        std::vector<void*> handles;  ///< Never closed.
        std::vector<std::string> missing;
    };

    static NeededLibraries open_needed(const DynamicLibrary& library) {
        NeededLibraries libraries;
        for (const std::string& needed : library.needed) {
            void* handle = nullptr;
            for (const std::string& folder : library.search) {
                if (handle == nullptr) { handle = ::dlopen((folder + "/" + needed).c_str(), RTLD_LAZY | RTLD_LOCAL); }
            }
            if (handle == nullptr) { handle = ::dlopen(needed.c_str(), RTLD_LAZY | RTLD_LOCAL); }
            if (handle == nullptr) {
                libraries.missing.push_back(needed);
            } else {
                libraries.handles.push_back(handle);
            }
        }
        return libraries;
    }

    /// Returns the symbols that neither the program nor the opened libraries define, in readable form.
    static std::vector<std::string> undefined_symbols(const DynamicLibrary& library, const std::vector<void*>& handles) {
        const auto provided = [&](const DynamicSymbol& symbol) {
            if (::dlsym(RTLD_DEFAULT, symbol.name.c_str()) != nullptr) { return true; }
            return std::ranges::any_of(handles, [&](void* handle) {
                return (!symbol.version.empty() && ::dlvsym(handle, symbol.name.c_str(), symbol.version.c_str()) != nullptr) ||
                       ::dlsym(handle, symbol.name.c_str()) != nullptr;
            });
        };
        std::vector<std::string> undefined;
        for (const DynamicSymbol& symbol : library.symbols) {
            if (!symbol.defined && !symbol.weak && !provided(symbol)) { undefined.push_back(readable_symbol(symbol.name)); }
        }
        return undefined;
    }

    void report_undefined(const std::vector<std::string>& symbols) {
        std::string names;
        for (std::size_t index = 0; index < std::min<std::size_t>(symbols.size(), 5); ++index) {
            names += (index == 0 ? "`" : ", `") + symbols[index] + "`";
        }
        if (symbols.size() > 5) { names += " and " + std::to_string(symbols.size() - 5) + " more"; }
        report_unresolved(
            "it needs the symbol" + std::string(symbols.size() == 1 ? " " : "s ") + names +
                ", which neither it nor its libraries define",
            "Link the plugin with -Wl,-z,defs (agentforge_add_plugin does) and name every library it uses in LIBRARIES.", names,
            "nothing undefined");
    }

    void report_unresolved(const std::string& why, const std::string& remedy, const std::string& found,
                           const std::string& expected) {
        finding("undefined", CheckStatus::error,
                {"AF-PLUG-011", "The plugin library cannot be opened: " + why, library_, remedy, ErrorKind::unavailable}, found,
                expected);
    }

    bool load() {
        Error failure;
        bool opened = false;
        bool accepted = false;
        const auto begin = std::chrono::steady_clock::now();
        call("load", "load", "", false, [&] {
            // Same mode as the host's. The handle is never closed.
            if (::dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
                failure = explain_load_failure(::dlerror(), manifest_);
            } else {
                opened = true;
            }
        });
        const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
        if (!opened) {
            if (!failure.code.empty()) {
                finding(failure.code == "AF-PLUG-012" ? "fingerprint" : "load", CheckStatus::error, failure);
            }
            return false;
        }
        reporter_.line({{"r", "fact"}, {"load_us", took}});
        call("descriptor", "agentforge_plugin", "", false, [&] {
            auto descriptor = open_library(manifest_);
            if (!descriptor.ok()) {
                failure = std::move(descriptor).error();
            } else {
                descriptor_ = *descriptor;
                accepted = true;
            }
        });
        method_.clear();
        input_.clear();
        if (accepted) {
            pass(
                "descriptor",
                "ABI, sizes, fingerprint, id, version, licence, kinds, names and interface versions agree with plugin.json and this host");
        } else if (!failure.code.empty()) {
            finding("descriptor", CheckStatus::error, failure);
        }
        return accepted;
    }

    void check_settings_schema() {
        method_.clear();
        if (manifest_.config_schema.empty()) { return pass("config_schema", "there is none, so settings are not checked"); }
        if (auto good = check_config_schema(manifest_); !good.ok()) {
            finding("config_schema", CheckStatus::error, good.error(), ellipsis(json::serialize(manifest_.config_schema), 300),
                    "a JSON Schema of an object");
        } else {
            pass("config_schema", "it is a JSON Schema");
        }
    }

    /// Checks a schema as for a manifest's config_schema: finds first any fault that the validator would abort on.
    [[nodiscard]] Result<void> schema_is_good(const json::object& schema) const {
        PluginManifest holder;
        holder.id = manifest_.id;
        holder.config_schema = schema;
        auto good = check_config_schema(holder);
        if (good.ok()) { return {}; }
        Error error = std::move(good).error();
        if (const auto at = error.message.find(" JSON Schema: "); at != std::string::npos) {
            error.message = error.message.substr(at + std::string_view(" JSON Schema: ").size());
        }
        if (error.message.starts_with("config_schema.")) {
            error.message = error.message.substr(std::string_view("config_schema.").size());
        }
        return error;
    }

    // Objects.

    void exercise(const AgentforgeFactory& factory) {
        const auto kind = static_cast<PluginKind>(factory.kind);
        object_ = std::string(to_string(kind)) + " `" + factory.name + "`";
        void* made = create(factory);
        if (made == nullptr) { return; }
        const std::string name = factory.name;
        switch (kind) {
            case PluginKind::stage:
                exercise_stage(*static_cast<Stage*>(made), name);
                break;
            case PluginKind::tool:
                exercise_tool(*static_cast<Tool*>(made), name);
                break;
            case PluginKind::llm:
                if (factory.interface_version == llm_v2_interface_version) {
                    exercise_backend(*static_cast<LLMBackendV2*>(made), name);
                } else {
                    exercise_backend(*static_cast<LLMBackend*>(made), name);
                }
                break;
            case PluginKind::escalation:
                exercise_handler(*static_cast<EscalationHandler*>(made), name);
                break;
        }
        destroy(factory, made, "after all calls");
        object_.clear();
        method_.clear();
        input_.clear();
    }

    struct Made {
        void* object = nullptr;
        std::string reason;
        bool called = false;
    };

    Made create_once(const AgentforgeFactory& factory, const char* settings, std::string_view input, std::size_t room = 1024) {
        constexpr char canary = 0x5A;
        std::array<char, 1024 + 64> buffer{};
        buffer.fill(canary);
        if (room > 0) { buffer[0] = '\0'; }
        Made made;
        made.called = call("create", "create", input, false,
                           [&] { made.object = factory.create(settings, room == 0 ? nullptr : buffer.data(), room); });
        const auto beyond =
            std::find_if(buffer.begin() + static_cast<std::ptrdiff_t>(room), buffer.end(), [&](char c) { return c != canary; });
        if (beyond != buffer.end()) {
            wrong_result("create", CheckStatus::error,
                         "wrote beyond the " + std::to_string(room) + " bytes that it was given for its message", "more",
                         std::to_string(room) + " bytes at the most", "Write at most `error_size` bytes, NUL included.");
        }
        if (room > 0) {
            const std::size_t length = strnlen(buffer.data(), room);
            if (made.called && made.object == nullptr && length == room) {
                wrong_result("create", CheckStatus::error, "left its message without a NUL",
                             "no NUL in " + std::to_string(room) + " bytes", "a string that ends in NUL",
                             "End the message with NUL.");
            }
            made.reason = sanitize_utf8({buffer.data(), length});
        }
        return made;
    }

    void* create(const AgentforgeFactory& factory) {
        Made made = create_once(factory, "{}", "no settings");
        if (!made.called) { return nullptr; }
        std::string tried = "no settings";
        if (made.object == nullptr && !manifest_.config_schema.empty()) {
            tried += " and with settings made from its config_schema";
            made =
                create_once(factory, json::serialize(sample(manifest_.config_schema, "", true)).c_str(), "the required settings");
            if (made.called && made.object == nullptr) {
                made = create_once(factory, json::serialize(sample(manifest_.config_schema, "", false)).c_str(), "all settings");
            }
        }
        if (made.object == nullptr) {
            if (made.called) {
                finding(
                    "create", CheckStatus::error,
                    {"AF-PLUG-016",
                     "The plugin `" + manifest_.id + "` could not make its " + object_ + " with " + tried + ": " +
                         (made.reason.empty() ? "it gave no reason" : made.reason),
                     library_,
                     made.reason.empty()
                         ? "Write a message into `error` before null is returned."
                         : "Make it work without settings, or give its config_schema a `default` or `examples` for what it needs.",
                     ErrorKind::invalid},
                    "null", "an object");
            }
            return nullptr;
        }
        // Input that the host never passes, but that a hand-written factory must survive.
        std::string large = "{";
        for (std::size_t index = 0; index < huge_entries; ++index) {
            large += (index == 0 ? "\"entry_" : ",\"entry_") + std::to_string(index) + "\":\"" + std::string(1024, 'x') + "\"";
        }
        large += "}";
        for (const auto& [settings, input] :
             std::vector<std::pair<std::string, const char*>>{{"{\"no_such_setting\":1}", "a setting that does not exist"},
                                                              {"[1]", "settings that are not an object"},
                                                              {"{\"", "settings that are not JSON"},
                                                              {large, "huge settings"}}) {
            const Made other = create_once(factory, settings.c_str(), input);
            if (other.object != nullptr) { destroy(factory, other.object, input); }
        }
        const Made silent = create_once(factory, "[1]", "broken settings and no room for a message", 0);
        if (silent.object != nullptr) { destroy(factory, silent.object, "broken settings and no room for a message"); }
        const Made small = create_once(factory, "[1]", "broken settings and room for 8 bytes", 8);
        if (small.object != nullptr) { destroy(factory, small.object, "broken settings and room for 8 bytes"); }
        pass("create", "it is created, and broken settings are accepted or refused properly");
        return made.object;
    }

    void destroy(const AgentforgeFactory& factory, void* object, std::string_view input) {
        if (call("destroy", "destroy", input, false, [&] { factory.destroy(object); }) && input == "after all calls") {
            pass("destroy", "it is destroyed");
        }
    }

    void check_name(const char* function, const std::string& found, const std::string& expected) {
        if (found == expected) { return; }
        finding("describe", CheckStatus::error,
                {"AF-PLUG-017",
                 "The plugin `" + manifest_.id + "` provides the " + object_ + ", but its " + function + "() says `" +
                     ellipsis(sanitize_utf8(found), 80) + "`",
                 library_, "Use the same name in both places.", ErrorKind::invalid},
                found, expected);
    }
    void check_text(std::string_view step, const char* what, const std::string& text) {
        if (!is_valid_utf8(text) && input_ != inputs[static_cast<std::size_t>(Input::invalid_utf8) - 1].name) {
            wrong_result(step, CheckStatus::warning, std::string("gave ") + what + " that is not valid UTF-8", text, "UTF-8",
                         "Return UTF-8: the host replaces all other bytes.");
        }
        if (text.size() > large_output_bytes) {
            wrong_result(step, CheckStatus::warning,
                         std::string("gave ") + what + " of " + std::to_string(text.size()) + " bytes",
                         std::to_string(text.size()) + " bytes", "at most " + std::to_string(large_output_bytes) + " bytes",
                         "Cut it: the host keeps only its beginning and its end.");
        }
    }
    void check_error(const Error& error) {
        if (error.code.empty() || error.message.empty()) {
            wrong_result("calls", CheckStatus::warning, "gave an error without a code or a message", error.to_string(),
                         "a code and a sentence", "Fill `code` and `message`.");
        }
        check_text("calls", "an error", error.message);
    }
    void check_memory(const json::object& object) {
        if (object.storage().is_deallocate_trivial()) {
            wrong_result("calls", CheckStatus::error, "returned a JSON value with its own memory resource",
                         "a monotonic or static resource", "the default memory resource",
                         "Build values that cross the boundary with the default resource; see <agentforge/json.hpp>.");
        }
    }
    void check_context(const CheckHost& host) {
        const auto misuses = host.misuses();
        for (std::size_t index = 0; index < std::min<std::size_t>(misuses.size(), 3); ++index) {
            finding("calls", CheckStatus::error,
                    {"AF-CHECK-015", whose() + " broke the rules of its context: " + misuses[index], library_,
                     "Use a context only on the thread of the call that received it, and only during it.", ErrorKind::invalid},
                    misuses[index], "calls from the call's own thread");
        }
    }

    void prepare(CheckHost& host, Input input) const {
        host.set_deadline(std::chrono::steady_clock::now() + limit_ / 2);
        if (input == Input::cancelled) { host.cancel(); }
        if (input == Input::host_fails) { host.fail_every_request(host_error()); }
    }
    /// Reports an error if the folder cannot be created.
    std::optional<CheckFolder> make_folder() {
        auto folder = CheckFolder::make(hooks_.workspace);
        if (folder.ok()) { return std::move(folder).value(); }
        finding("calls", CheckStatus::error, folder.error());
        return std::nullopt;
    }
    static ProcessResult program_that_prints(std::string text) {
        ProcessResult result;
        result.exit_code = 0;
        result.out = std::move(text);
        return result;
    }

    // Tools.

    void exercise_tool(Tool& tool, const std::string& name) {
        ToolSpec spec;
        if (!call("describe", "spec", "", false, [&] { spec = tool.spec(); })) { return; }
        check_name("spec", spec.name, name);
        check_text("describe", "a description", spec.description);
        if (spec.description.empty()) {
            wrong_result("describe", CheckStatus::warning, "has no description", "nothing", "one or two sentences for the model",
                         "Fill `description`: the model chooses by it.");
        }
        if ((static_cast<unsigned>(spec.effects) & ~31U) != 0) {
            wrong_result("describe", CheckStatus::error, "declares effects that do not exist",
                         std::to_string(static_cast<unsigned>(spec.effects)), "flags of ToolEffect",
                         "Use the flags of ToolEffect.");
        }
        if (!has(spec.effects, ToolEffect::completes)) { check_tool_schema(spec); }
        pass("describe", "spec() agrees with plugin.json");
        const json::value valid = sample(
            spec.parameters.empty() ? json::value(json::object{{"type", "object"}}) : json::value(spec.parameters), "", false);
        for (const InputName& one : inputs) {
            json::object arguments = arguments_for(spec, valid, one.input);
            json::object checked = arguments;
            const bool fits = has(spec.effects, ToolEffect::completes)
                                  ? !one.broken
                                  : hooks_.arguments(spec.name, spec.parameters, checked).ok();
            auto folder = make_folder();
            if (!folder) { return; }
            CheckToolContext host(*folder);
            prepare(host, one.input);
            host.files.limit_effects(spec.effects, spec.name);
            host.process = program_that_prints(text_for(one.input, "done\n"));
            std::optional<ToolResult> result;  // Constructed, not assigned: an assignment would copy into our memory.
            host.open();
            call("calls", "call", one.name, !fits, [&] { result.emplace(tool.call(arguments, host)); });
            host.close();
            if (result) { check_tool_result(*result); }
            if (const auto undeclared = host.files.undeclared(); undeclared && fits) {
                finding("calls", CheckStatus::error, *undeclared);
            }
            check_context(host);
        }
        method_ = "call";
        input_.clear();
        pass("calls", "call() returned for " + std::to_string(inputs.size()) + " inputs, or what it did is reported");
    }

    void check_tool_schema(const ToolSpec& spec) {
        const auto bad = [&](const std::string& why, const std::string& found, const char* expected) {
            finding("describe", CheckStatus::error,
                    {"AF-CHECK-008",
                     "The parameters of " + object_ + " of plugin `" + manifest_.id +
                         "` are not a schema that the host can apply: " + why,
                     library_, "Correct ToolSpec::parameters; `agentforge help docs/plugins.md` lists the keywords.",
                     ErrorKind::invalid},
                    found, expected);
        };
        json::object none;
        if (spec.parameters.empty()) { return; }
        if (auto good = schema_is_good(spec.parameters); !good.ok()) {
            return bad(good.error().message, ellipsis(json::serialize(spec.parameters), 300), "a JSON Schema of an object");
        }
        if (const auto* type = spec.parameters.if_contains("type"); type == nullptr || *type != json::value("object")) {
            bad("its `type` is not `object`", type == nullptr ? "no type" : json::serialize(*type), "\"type\": \"object\"");
        }
        if (auto applied = hooks_.arguments(spec.name, spec.parameters, none);
            !applied.ok() && applied.error().code == "AF-TOOL-008") {
            bad(applied.error().message, ellipsis(json::serialize(spec.parameters), 300), "a JSON Schema of an object");
        }
        json::object whole = sample(json::value(spec.parameters), "", false).is_object()
                                 ? sample(json::value(spec.parameters), "", false).get_object()
                                 : json::object{};
        if (auto applied = hooks_.arguments(spec.name, spec.parameters, whole);
            !applied.ok() && applied.error().code == "AF-TOOL-008") {
            bad(applied.error().message, ellipsis(json::serialize(spec.parameters), 300), "a JSON Schema of an object");
        }
        const auto* properties = spec.parameters.if_contains("properties");
        for (const std::string& parameter : spec.path_parameters) {
            if (properties == nullptr || !properties->is_object() || !properties->get_object().contains(parameter)) {
                bad("`path_parameters` names `" + parameter + "`, which is not a property", parameter, "names of properties");
            }
        }
    }

    static json::object arguments_for(const ToolSpec& spec, const json::value& valid, Input input) {
        json::value made = valid.is_object() ? valid : json::value(json::object{});
        if (input == Input::required) { made = sample(json::value(spec.parameters), "", true); }
        if (input == Input::empty) { made = json::object{}; }
        if (!made.is_object()) { made = json::object{}; }
        const std::set<std::string> paths(spec.path_parameters.begin(), spec.path_parameters.end());
        if (input == Input::valid || input == Input::required || input == Input::host_fails || input == Input::cancelled) {
            for (const std::string& parameter : paths) {
                if (auto* value = made.get_object().if_contains(parameter); value != nullptr && value->is_string()) {
                    *value = "src/app.py";
                }
            }
        } else {
            spoil(made, input);
        }
        return std::move(made.get_object());
    }

    void check_tool_result(const ToolResult& result) {
        check_text("calls", "an output", result.output);
        check_text("calls", "a summary", result.summary);
        check_memory(result.data);
        if (result.error) { check_error(*result.error); }
        if (result.success && result.error) {
            wrong_result("calls", CheckStatus::warning, "says that it succeeded and gives an error", "success and an error",
                         "one of the two", "Use ToolResult::done or ToolResult::failed.");
        }
        if (!result.success && !result.error) {
            wrong_result("calls", CheckStatus::warning, "failed without an error", "no error", "ToolResult::failed with a reason",
                         "Say why: the model acts on it.");
        }
    }

    // Stages.

    void exercise_stage(Stage& stage, const std::string& name) {
        StageInfo info;
        if (!call("describe", "info", "", false, [&] { info = stage.info(); })) { return; }
        check_name("info", info.name, name);
        check_text("describe", "a description", info.description);
        pass("describe", "info() agrees with plugin.json");
        for (const InputName& one : inputs) { stage_once(stage, info, one); }
        method_.clear();
        input_.clear();
        pass("calls", "its life cycle ran for " + std::to_string(inputs.size()) + " inputs, or what it did is reported");
    }

    void stage_once(Stage& stage, const StageInfo& info, const InputName& one) {
        const json::object answer = sample_answer(info, one.input);
        auto folder = make_folder();
        if (!folder) { return; }
        CheckStageContext host(*folder);
        prepare(host, one.input);
        fill_stage_input(host, info, one);
        set_answers(host, one.input, answer);
        host.open();
        run_life_cycle(stage, host, one, answer);
        host.close();
        check_context(host);
    }

    static json::object sample_input_artifact(const StageInfo& info, Input input) {
        json::object artifact;
        if (input != Input::empty) {
            for (const std::string& field : info.required_input_fields) { artifact[field] = "text"; }
            artifact["files"] = json::array{"src/app.py"};
            artifact["title"] = "Add a slugify function";
        }
        return spoiled(std::move(artifact), input);
    }
    static json::object sample_answer(const StageInfo& info, Input input) {
        json::object answer;
        for (const std::string& field : info.output_fields) { answer[field] = "text"; }
        return spoiled(std::move(answer), input);
    }
    static json::object spoiled(json::object object, Input input) {
        json::value value(std::move(object));
        spoil(value, input);
        return std::move(value.get_object());
    }

    static void fill_stage_input(CheckStageContext& host, const StageInfo& info, const InputName& one) {
        const json::object artifact = sample_input_artifact(info, one.input);
        host.stage_input.stage = info.name;
        host.stage_input.request = text_for(one.input, "Add a slugify function.");
        host.stage_input.goal_type = one.input == Input::empty ? "" : "feature";
        host.stage_input.input_artifact = artifact;
        host.stage_input.artifacts["earlier"] = artifact;
        if (one.broken || one.input == Input::huge || one.input == Input::entries) {
            host.stage_input.feedback = text_for(one.input, "Shorter.");
            host.stage_input.resolution = artifact;
            host.stage_input.previous_attempt = artifact;
            host.stage_input.previous_errors = {text_for(one.input, "A field is missing.")};
        }
    }

    /// `answer`: the artifact for `validate_output` if `execute` returned none.
    void run_life_cycle(Stage& stage, CheckStageContext& host, const InputName& one, const json::object& answer) {
        std::optional<StageResult> result;  // Constructed, not assigned: an assignment would copy into our memory.
        bool ready = false;
        if (!call("calls", "initialize", one.name, one.broken, [&] { ready = stage.initialize(host).ok(); }) || !ready) {
            return;
        }
        Validation validation;
        if (call("calls", "validate_input", one.name, one.broken, [&] { validation = stage.validate_input(host); }) &&
            validation.valid()) {
            if (call("calls", "execute", one.name, one.broken, [&] { result.emplace(stage.execute(host)); })) {
                check_stage_result(*result);
            }
        }
        call("calls", "validate_output", one.name, one.broken,
             [&] { static_cast<void>(stage.validate_output(host, result && result->artifact ? *result->artifact : answer)); });
        call("calls", "finalize", one.name, one.broken,
             [&] { stage.finalize(host, result ? *result : StageResult::failed(host_error())); });
    }

    static void set_answers(CheckStageContext& host, Input input, const json::object& answer) {
        host.agent.artifact = answer;
        host.agent.tool_uses.push_back({"complete", answer, true, "handed in"});
        host.agent.steps = 1;
        host.agent.text =
            input == Input::valid ? "```json\n" + json::serialize(answer) + "\n```\n" : text_for(input, "no artifact here");
        host.process = program_that_prints(text_for(input, "done\n"));
        host.contract_answer = answer;
    }

    void check_stage_result(const StageResult& result) {
        constexpr const char* remedy = "Return StageResult::completed, failed, escalate or cycle.";
        const bool waits = result.escalated() || !result.cycle_to.empty();
        if (result.error) { check_error(*result.error); }
        if (result.artifact) { check_memory(*result.artifact); }
        if (result.status == StageStatus::completed && (waits || !result.artifact)) {
            wrong_result("calls", CheckStatus::error,
                         waits ? "says that it completed and that it must wait" : "completed without an artifact",
                         "no verdict that can be acted on", "one verdict", remedy);
        } else if (result.status == StageStatus::failed && !result.error) {
            wrong_result("calls", CheckStatus::error, "failed and gave no reason", "no error", "an Error", remedy);
        } else if (result.status == StageStatus::running || (result.status == StageStatus::pending && !waits)) {
            wrong_result("calls", CheckStatus::error, "returned without a verdict", "pending", "one verdict", remedy);
        }
    }

    // Backends.

    static CompletionRequest sample_request(const InputName& one) {
        CompletionRequest request;
        request.system = text_for(one.input, "You answer in one word.");
        request.user = text_for(one.input, "Say hello.");
        request.place = {"task-fake", "stage", "role", 1, 1, 1};
        if (one.input != Input::empty && one.input != Input::required) {
            json::value schema =
                json::object{{"type", "object"}, {"properties", json::object{{"a", json::object{{"type", "string"}}}}}};
            if (one.broken) { spoil(schema, one.input); }
            request.tools.resize(one.input == Input::entries ? huge_entries : 1,
                                 {"tool", text_for(one.input, "A tool."), schema.get_object()});
        }
        return request;
    }

    void exercise_backend(LLMBackend& backend, const std::string& name) {
        BackendInfo info;
        if (!call("describe", "info", "", false, [&] { info = backend.info(); })) { return; }
        check_name("info", info.name, name);
        check_text("describe", "a description", info.description);
        if (!info.config_schema.empty()) {
            if (auto good = schema_is_good(info.config_schema); !good.ok()) {
                finding("describe", CheckStatus::error,
                        {"AF-CHECK-007",
                         "The `config_schema` of " + object_ + " of plugin `" + manifest_.id +
                             "` is not a JSON Schema: " + good.error().message,
                         library_, "Correct BackendInfo::config_schema.", ErrorKind::invalid},
                        ellipsis(json::serialize(info.config_schema), 300), "a JSON Schema of an object");
            }
        }
        pass("describe", "info() agrees with plugin.json");
        for (const InputName& one : inputs) {
            if (one.input == Input::host_fails) { continue; }  // A backend has no host calls.
            const CompletionRequest request = sample_request(one);
            CheckCallContext host;
            prepare(host, one.input);
            CheckSink sink(host);
            host.open();
            call("calls", "complete", one.name, one.broken, [&] {
                const auto completion = backend.complete(request, one.input == Input::required ? nullptr : &sink, host);
                if (!completion.ok()) { return check_error(completion.error()); }
                check_text("calls", "an answer", completion->text);
                check_memory(completion->diagnostics);
            });
            host.close();
            check_context(host);
        }
        CheckCallContext host;
        prepare(host, Input::valid);
        call("calls", "check", "", false, [&] {
            if (const auto checked = backend.check(host); !checked.ok()) { check_error(checked.error()); }
        });
        check_context(host);
        method_.clear();
        pass("calls", "complete() and check() returned, or what they did is reported");
    }

    // Escalation handlers.

    void exercise_handler(EscalationHandler& handler, const std::string& name) {
        std::string found;
        if (!call("describe", "name", "", false, [&] { found = handler.name(); })) { return; }
        check_name("name", found, name);
        pass("describe", "name() agrees with plugin.json");
        const std::string folder = std::filesystem::current_path().string() + "/.agentforge/escalations";
        std::error_code ignored;
        std::filesystem::create_directories(folder, ignored);
        for (const InputName& one : inputs) {
            if (one.input == Input::host_fails) { continue; }
            json::value context = json::object{{"evidence", "text"}, {"files", json::array{"src/app.py"}}};
            if (one.input == Input::empty) { context = json::object{}; }
            spoil(context, one.input);
            Escalation escalation{"ESC-20260101-000000-0001",
                                  "task-check",
                                  text_for(one.input, "stage"),
                                  text_for(one.input, "It is unclear."),
                                  text_for(one.input, "Which one?"),
                                  {},
                                  context.get_object(),
                                  "2026-01-01T00:00:00Z",
                                  one.input == Input::empty ? "" : folder};
            if (one.input == Input::valid) { escalation.options = {"this", "that"}; }
            ApprovalRequest approval{"APR-20260101-000000-0001", "task-check",         text_for(one.input, "specify"),
                                     context.get_object(),       std::string(64, 'a'), "2026-01-01T00:00:00Z",
                                     escalation.directory};
            CheckCallContext host;
            prepare(host, one.input);
            host.set_deadline(std::chrono::steady_clock::now());  // One poll: people never block a thread.
            const auto checked = [&](const auto& result) {
                if (!result.ok()) { check_error(result.error()); }
            };
            host.open();
            call("calls", "notify", one.name, one.broken, [&] { checked(handler.notify(escalation, host)); });
            call("calls", "wait_for_resolution", one.name, one.broken,
                 [&] { checked(handler.wait_for_resolution(escalation, host)); });
            call("calls", "notify_approval", one.name, one.broken, [&] { checked(handler.notify_approval(approval, host)); });
            call("calls", "wait_for_approval", one.name, one.broken, [&] { checked(handler.wait_for_approval(approval, host)); });
            host.close();
            check_context(host);
        }
        method_.clear();
        input_.clear();
        pass("calls", "its four calls returned, or what they did is reported");
    }

    const CheckHooks& hooks_;
    Reporter reporter_;
    std::chrono::milliseconds limit_;
    std::string manifest_path_;
    std::set<std::uint64_t> left_out_;
    PluginManifest manifest_;
    std::string library_;
    const AgentforgeDescriptor* descriptor_ = nullptr;
    Watchdog* watchdog_ = nullptr;
    std::string object_;
    std::string method_;
    std::string input_;
    std::uint64_t next_ = 0;
    std::uint64_t calls_ = 0;
    int out_ = -1;
    off_t written_ = 0;
};

}  // namespace

int exercise_plugin(const CheckHooks& hooks) {
    const auto text = read_file("/proc/self/fd/3", 1ULL << 20U);
    json::error_code failure;
    const json::value task = text.ok() ? json::parse(*text, failure) : json::value();
    if (!text.ok() || failure || !task.is_object()) { return 2; }
    // Out of reach of a plugin that closes low descriptors.
    const int report = ::fcntl(4, F_DUPFD_CLOEXEC, 200);
    if (report < 0) { return 2; }
    ::close(3);
    ::close(4);
    Exercise(hooks, task.get_object(), report).run();
    ::_exit(0);  // Skips destructors: leftovers of the plugin must not run here.
}

}  // namespace agentforge::kernel
