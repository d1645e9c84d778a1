// SPDX-License-Identifier: Apache-2.0
#include "sandbox/system_paths.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>

#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 17> paths{"/usr",
                                                 "/bin",
                                                 "/sbin",
                                                 "/lib",
                                                 "/lib32",
                                                 "/lib64",
                                                 "/libx32",
                                                 "/etc",
                                                 "/opt",
                                                 "/nix/store",
                                                 "/gnu/store",
                                                 "/proc",
                                                 "/sys/devices/system",
                                                 "/sys/fs/cgroup",
                                                 "/sys/kernel/mm",
                                                 "/run/systemd/resolve/stub-resolv.conf",
                                                 "/run/systemd/resolve/resolv.conf"};

/// The parts that programs need of an installation that is also a tool's own folder. The tool's settings and keys are in the same
/// folder.
constexpr std::array<std::string_view, 11> parts_of_hidden_installation{
    "bin", "lib", "lib64", "libexec", "share", "include", "shims", "versions", "version", "plugins", "pyvenv.cfg"};

std::vector<std::string> closed_to_others(const fs::path& folder) {
    std::vector<std::string> found;
    std::error_code error;
    auto entries = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
    for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
        const fs::file_status status = entries->symlink_status(error);
        if (error || (!fs::is_directory(status) && !fs::is_regular_file(status))) { continue; }
        if ((status.permissions() & fs::perms::others_read) != fs::perms::none) { continue; }
        found.push_back(entries->path().string());
        entries.disable_recursion_pending();
    }
    return found;
}

bool is_system(const fs::path& path) {
    return std::ranges::any_of(paths, [&](const std::string_view system) {
        return path == system || path.string().starts_with(std::string(system) + "/");
    });
}

class ProgramFolders {
public:
    explicit ProgramFolders(fs::path home) : home_(std::move(home)) {}

    void add_folder_on_path(const fs::path& folder) {
        add(folder);
        const fs::path clean = folder.filename().empty() ? folder.parent_path() : folder;
        if (clean.filename() != "bin" && clean.filename() != "sbin" && clean.filename() != "shims") { return; }
        if (clean.parent_path() == home_ / ".local") {
            add(clean.parent_path() / "lib");
        } else {
            add_installation(clean.parent_path());
        }
    }

    [[nodiscard]] std::vector<std::string> take() { return std::move(folders_); }

private:
    void add(const fs::path& path) {
        std::error_code error;
        const fs::path real = fs::canonical(path, error);
        if (error || is_system(real) || real == real.root_path() || is_home(real)) { return; }
        if (std::ranges::find(folders_, real.string()) == folders_.end()) { folders_.push_back(real.string()); }
    }

    void add_installation(const fs::path& path) {
        std::error_code error;
        const fs::path real = fs::canonical(path, error);
        if (error || is_system(real) || real == real.root_path() || is_home(real)) { return; }
        if (real.filename().string().starts_with('.')) {
            for (const std::string_view part : parts_of_hidden_installation) { add(real / part); }
            return;
        }
        for (auto entry = fs::directory_iterator(real, error); !error && entry != fs::directory_iterator();
             entry.increment(error)) {
            if (!entry->path().filename().string().starts_with('.')) { add(entry->path()); }
        }
    }

    [[nodiscard]] bool is_home(const fs::path& path) const {
        std::error_code error;
        return !home_.empty() && fs::equivalent(path, home_, error);
    }

    fs::path home_;
    std::vector<std::string> folders_;
};

}  // namespace

std::span<const std::string_view> system_paths() { return paths; }

const std::vector<std::string>& system_secrets() {
    static const std::vector<std::string> found = ::geteuid() == 0 ? closed_to_others("/etc") : std::vector<std::string>();
    return found;
}

std::vector<std::string> program_folders(const std::map<std::string, std::string>& environment) {
    const auto variable = [&](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::string() : found->second;
    };
    ProgramFolders folders(variable("HOME"));
    const std::string path = variable("PATH");
    for (std::string_view rest = path; !rest.empty();) {
        const std::size_t end = rest.find(':');
        const fs::path folder(rest.substr(0, end));
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        if (folder.is_absolute()) { folders.add_folder_on_path(folder); }
    }
    return folders.take();
}

}  // namespace agentforge::kernel
