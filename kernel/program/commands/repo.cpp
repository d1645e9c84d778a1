// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "aggregate/known_repositories.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "contracts/rules.hpp"
#include "git/repository.hpp"
#include "program/command_line.hpp"
#include "program/project/known_repositories.hpp"
#include "program/project/project.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

json::object repository_json(const KnownRepository& repository) {
    return {{"name", repository.name},
            {"path", repository.path.string()},
            {"default_branch", text_or_null(repository.default_branch)},
            {"contracts_path", text_or_null(repository.contracts_path)}};
}

/// Checks that the default branch and the folder for other repositories exist.
Result<void> check_offers(const KnownRepository& repository) {
    std::string folder = repository.contracts_path;
    if (folder.size() > 1 && folder.ends_with('/')) { folder.pop_back(); }
    if (const std::string problem = folder.empty() ? std::string() : relative_path_problem(folder); !problem.empty()) {
        return Error{"AF-CONF-074", "`" + printable(folder, 120) + "` is not a folder of the repository: it " + problem,
                     "--contracts-path", "give a path from the root of the repository, such as contracts", ErrorKind::invalid};
    }
    std::error_code unreadable;
    const bool of_the_checkout = !folder.empty() && repository.default_branch.empty();  // Another branch may have other folders.
    if (of_the_checkout && !std::filesystem::is_directory(repository.path / folder, unreadable)) {
        return Error{"AF-CONF-074", "the repository has no folder `" + printable(folder, 120) + "`", "--contracts-path",
                     "give an existing folder, as a path from the root of the repository", ErrorKind::invalid};
    }
    if (repository.default_branch.empty()) { return {}; }
    AF_TRY(const Repository opened, Repository::open(repository.path));
    AF_TRY(const auto commit, opened.branch_commit(repository.default_branch));
    if (commit) { return {}; }
    return Error{"AF-CONF-074", "the repository has no branch `" + printable(repository.default_branch, 120) + "`",
                 "--default-branch", "`git branch --list` there lists them", ErrorKind::invalid};
}

int add_repository(Program& program, const std::string& path, KnownRepository repository) {
    const auto known = known_repositories(program);
    if (!known.ok()) { return program.fail(known.error()); }
    const std::filesystem::path directory = program.directory;
    if (!path.empty()) {
        program.directory = std::filesystem::path(path).is_absolute() ? std::filesystem::path(path) : directory / path;
    }
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const auto all = known->list();
    if (!all.ok()) { return program.fail(all.error()); }
    if (repository.name.empty()) { repository.name = repository_name(place->root, *all); }
    repository.path = place->root;
    if (const auto offers = check_offers(repository); !offers.ok()) { return program.fail(offers.error()); }
    if (const auto added = known->add(repository); !added.ok()) { return program.fail(added.error()); }
    if (program.json_output) {
        program.print_json(repository_json(repository));
    } else {
        program.out << "Added `" << repository.name << "`: " << printable(repository.path.string()) << "\n";
    }
    return 0;
}

int list_repositories(Program& program) {
    const auto known = known_repositories(program);
    const auto all = known.ok() ? known->list() : Result<std::vector<KnownRepository>>(known.error());
    if (!all.ok()) { return program.fail(all.error()); }
    if (program.json_output) {
        json::array repositories;
        for (const KnownRepository& each : *all) { repositories.emplace_back(repository_json(each)); }
        program.print_json({{"repositories", std::move(repositories)}});
        return 0;
    }
    if (all->empty()) { program.out << "The list is empty. Add the current repository with: agentforge repo add\n"; }
    for (const KnownRepository& each : *all) { program.out << each.name << "  " << printable(each.path.string()) << "\n"; }
    return 0;
}

int remove_repository(Program& program, const std::string& name) {
    const auto known = known_repositories(program);
    const auto removed = known.ok() ? known->remove(name) : Result<KnownRepository>(known.error());
    if (!removed.ok()) { return program.fail(removed.error()); }
    if (program.json_output) {
        program.print_json(repository_json(*removed));
    } else {
        program.out << "Removed: " << removed->name << "  (" << printable(removed->path.string()) << " is unchanged)\n";
    }
    return 0;
}

}  // namespace

Result<KnownRepositories> known_repositories(const Program& program) {
    const auto home = program.environment.find("HOME");
    if (home == program.environment.end() || home->second.empty() || home->second.front() != '/') {
        return Error{"AF-CLI-003", "cannot find the list of repositories: HOME is not set", "HOME",
                     "set HOME to an absolute path", ErrorKind::unavailable};
    }
    return KnownRepositories(std::filesystem::path(home->second) / ".agentforge" / "repos.yaml");
}

Result<std::filesystem::path> sets_folder(const Program& program) {
    AF_TRY(const KnownRepositories known, known_repositories(program));
    return known.file().parent_path() / "sets";
}

Result<KnownRepository> find_known_repository(const Program& program, std::string_view name) {
    AF_TRY(const KnownRepositories known, known_repositories(program));
    AF_TRY(const std::vector<KnownRepository> all, known.list());
    const auto found = std::ranges::find(all, name, &KnownRepository::name);
    if (found == all.end()) { return unknown_repository(name, all, known.file().string()); }
    return *found;
}

Result<std::vector<KnownRepository>> all_repositories(const Program& program) {
    std::vector<KnownRepository> all;
    if (const auto known = known_repositories(program); known.ok()) { AF_TRY(all, known->list()); }
    const auto place = ProjectPlace::find(program);
    const auto is_here = [&](const KnownRepository& each) { return place.ok() && each.path == place->root; };
    if (place.ok() && std::ranges::none_of(all, is_here)) {
        all.insert(all.begin(), {repository_name(place->root, all), place->root});
    }
    if (all.empty()) {
        return Error{"AF-CLI-203", place.error().message + ", and your list of repositories is empty", place.error().where,
                     "go to a repository, or add one to the list: agentforge repo add FOLDER", ErrorKind::not_found};
    }
    return all;
}

void add_repo(CLI::App& app, Program& program) {
    const Command group =
        add_subcommand(app, "repo", "Change the list of repositories that --repo, status --all and the dashboard know by name");
    group->require_subcommand();
    group->footer("Examples:\n  agentforge repo add\n  agentforge repo list");

    auto path = std::make_shared<std::string>();
    auto added = std::make_shared<KnownRepository>();
    const Command add = add_subcommand(*group, "add", "Add a repository to the list");
    add_option(*add, "path", *path, "A folder in the repository (default: the current repository)")->type_name("PATH");
    add_option(*add, "--name", added->name, "Its name in the list (default: its folder's name)")->type_name("NAME");
    add_option(*add, "--default-branch", added->default_branch,
               "The branch for dependencies that name no version (default: the branch of HEAD)")
        ->type_name("BRANCH");
    add_option(*add, "--contracts-path", added->contracts_path,
               "The folder with the artifacts that other repositories may use (default: anywhere)")
        ->type_name("FOLDER");
    add_flag(*add, "--json", program.json_output, "Print JSON");
    add->footer("Example:  agentforge repo add ../backend --name backend-service");
    add->callback([&program, path, added] {
        program.command = [&program, path, added] { return add_repository(program, *path, *added); };
    });

    const Command list = add_subcommand(*group, "list", "List the repositories");
    add_flag(*list, "--json", program.json_output, "Print JSON");
    list->footer("Example:  agentforge repo list --json");
    list->callback([&program] {
        program.pages = true;
        program.command = [&program] { return list_repositories(program); };
    });

    auto removed = std::make_shared<std::string>();
    const Command remove = add_subcommand(*group, "remove", "Remove a repository from the list; its files do not change");
    add_option(*remove, "name", *removed, "Its name")->type_name("NAME")->required();
    add_flag(*remove, "--json", program.json_output, "Print JSON");
    remove->footer("Example:  agentforge repo remove backend-service");
    remove->callback(
        [&program, removed] { program.command = [&program, removed] { return remove_repository(program, *removed); }; });
}

}  // namespace agentforge::kernel
