// SPDX-License-Identifier: Apache-2.0
#include "aggregate/known_repositories.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view name_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
constexpr std::size_t max_name_size = 64;

Error wrong(const YamlDocument& document, const std::string& pointer, const std::string& what) {
    return Error{"AF-CONF-070", "the list of repositories cannot be used: " + what, document.where(pointer),
                 "each entry needs a unique `name` and a unique absolute `path`; `agentforge repo add` writes them",
                 ErrorKind::invalid};
}

Result<KnownRepository> read_entry(const YamlDocument& document, const json::value& entry, const std::string& at) {
    if (!entry.is_object()) { return wrong(document, at, "an entry is not a map"); }
    KnownRepository repository;
    for (const auto& field : entry.get_object()) {
        const std::string key(field.key());
        if (key != "name" && key != "path" && key != "default_branch" && key != "contracts_path") {
            return wrong(document, at + "/" + key + "#", "unknown key `" + ellipsis(key, 60) + "`");
        }
        if (!field.value().is_string()) { return wrong(document, at + "/" + key, "`" + key + "` is not text"); }
        if (key == "name") { repository.name = std::string_view(field.value().get_string()); }
        if (key == "path") { repository.path = std::string(field.value().get_string()); }
        if (key == "default_branch") { repository.default_branch = std::string_view(field.value().get_string()); }
        if (key == "contracts_path") { repository.contracts_path = std::string_view(field.value().get_string()); }
    }
    if (!is_repository_name(repository.name)) { return wrong(document, at, "`name` is missing or invalid"); }
    if (!repository.path.is_absolute()) { return wrong(document, at, "`path` is missing, or not absolute"); }
    return repository;
}

bool collides(const KnownRepository& one, const KnownRepository& other) {
    return one.name == other.name || one.path == other.path;
}

}  // namespace

bool is_repository_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= max_name_size && name.find_first_not_of(name_letters) == std::string_view::npos &&
           name.front() != '.' && name.front() != '-';
}

Error unknown_repository(std::string_view name, const std::vector<KnownRepository>& known, const std::string& where) {
    std::vector<std::string> names;
    for (const KnownRepository& each : known) { names.push_back(each.name); }
    const std::string near = nearest(name, names);
    return Error{"AF-CONF-073", "no repository is known as `" + ellipsis(sanitize_utf8(name), 80) + "`", where,
                 (near.empty() ? "" : "did you mean `" + near + "`? ") + "`agentforge repo list` lists them",
                 ErrorKind::not_found};
}

std::string repository_name(const fs::path& path, const std::vector<KnownRepository>& taken) {
    std::string name = path.filename().string();
    std::ranges::replace_if(
        name, [](char c) { return name_letters.find(c) == std::string_view::npos; }, '-');
    while (!name.empty() && (name.front() == '.' || name.front() == '-')) { name.erase(0, 1); }
    name = name.empty() ? "repository" : name.substr(0, max_name_size - 4);
    const auto is_taken = [&](const std::string& wanted) {
        return std::ranges::find(taken, wanted, &KnownRepository::name) != taken.end();
    };
    if (!is_taken(name)) { return name; }
    unsigned number = 2;
    while (is_taken(name + "-" + std::to_string(number))) { ++number; }
    return name + "-" + std::to_string(number);
}

Result<std::vector<KnownRepository>> KnownRepositories::list() const {
    std::vector<KnownRepository> repositories;
    std::error_code none;
    if (!fs::exists(file_, none)) { return repositories; }
    AF_TRY(const YamlDocument document, load_yaml(file_.string()));
    const auto* top = document.value.if_object();
    const json::value* entries = top != nullptr && top->size() == 1 ? top->if_contains("repositories") : nullptr;
    if (entries == nullptr || !entries->is_array()) {
        return wrong(document, "", "it must contain the list `repositories` and nothing else");
    }
    for (std::size_t index = 0; index < entries->get_array().size(); ++index) {
        const std::string at = "/repositories/" + std::to_string(index);
        AF_TRY(KnownRepository repository, read_entry(document, entries->get_array()[index], at));
        const auto is_listed = [&](const KnownRepository& other) { return collides(repository, other); };
        if (std::ranges::any_of(repositories, is_listed)) { return wrong(document, at, "its name or its path appears twice"); }
        repositories.push_back(std::move(repository));
    }
    return repositories;
}

Result<void> KnownRepositories::save(const std::vector<KnownRepository>& repositories) const {
    json::array entries;
    for (const KnownRepository& each : repositories) {
        json::object entry{{"name", each.name}, {"path", each.path.string()}};
        if (!each.default_branch.empty()) { entry["default_branch"] = each.default_branch; }
        if (!each.contracts_path.empty()) { entry["contracts_path"] = each.contracts_path; }
        entries.emplace_back(std::move(entry));
    }
    AF_CHECK(make_directories(file_.parent_path()));
    return write_file_atomic(file_,
                             "# The repositories that `agentforge` knows by name: agentforge repo add, list, remove.\n" +
                                 to_yaml(json::object{{"repositories", std::move(entries)}}),
                             Durability::synced, 0600);
}

Result<void> KnownRepositories::add(const KnownRepository& repository) const {
    if (!is_repository_name(repository.name)) {
        return Error{"AF-CONF-071", "`" + ellipsis(sanitize_utf8(repository.name), 80) + "` is not a valid repository name", "",
                     "use at most 64 letters, digits, `.`, `_` and `-`", ErrorKind::invalid};
    }
    AF_TRY(std::vector<KnownRepository> all, list());
    for (const KnownRepository& other : all) {
        if (!collides(repository, other)) { continue; }
        return Error{
            "AF-CONF-072",
            (other.path == repository.path ? "the repository is already known as `" : "another repository has the name `") +
                other.name + "`",
            other.path.string(), "give another name, or remove that one: agentforge repo remove " + other.name,
            ErrorKind::conflict};
    }
    all.push_back(repository);
    return save(all);
}

Result<KnownRepository> KnownRepositories::remove(std::string_view name) const {
    AF_TRY(std::vector<KnownRepository> all, list());
    const auto found = std::ranges::find(all, name, &KnownRepository::name);
    if (found == all.end()) { return unknown_repository(name, all, file_.string()); }
    KnownRepository removed = *found;
    all.erase(found);
    AF_CHECK(save(all));
    return removed;
}

}  // namespace agentforge::kernel
