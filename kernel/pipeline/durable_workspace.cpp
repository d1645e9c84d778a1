// SPDX-License-Identifier: Apache-2.0
#include "pipeline/durable_workspace.hpp"

#include "base/text.hpp"
#include "pipeline/codec.hpp"

namespace agentforge::kernel {

template <class T, class Run, class Decode>
Result<T> DurableWorkspace::ask(std::string_view name, const json::object& input, Run run, Decode decode) {
    AF_TRY(const json::value value, calls_.durable("workspace." + std::string(name), input, [&]() -> Result<json::value> {
        if (calls_.files() == nullptr) { return no_role_for("the workspace"); }
        return run(*calls_.files());
    }));
    return decode(value.as_object());
}

template <class Run>
Result<Change> DurableWorkspace::write(std::string_view name, const json::object& input, Run run) {
    return ask<Change>(
        name, input,
        [&](RoleWorkspace& files) -> Result<json::value> {
            AF_TRY(const Change change, run(files));
            AF_CHECK(calls_.snapshot(files.take_changes()));
            return json::value(to_json(change));
        },
        change_from_json);
}

Result<FileView> DurableWorkspace::read(std::string_view path, const ReadOptions& options) {
    return ask<FileView>(
        "read",
        {{"path", path}, {"first_line", options.first_line}, {"last_line", options.last_line}, {"max_bytes", options.max_bytes}},
        [&](RoleWorkspace& files) -> Result<json::value> {
            AF_TRY(FileView view, files.read(path, options));
            view.content = sanitize_utf8(view.content);
            return json::value(to_json(view));
        },
        view_from_json);
}

Result<Listing> DurableWorkspace::list(std::string_view directory, const ListOptions& options) {
    return ask<Listing>(
        "list", {{"directory", directory}, {"recursive", options.recursive}, {"glob", options.glob}, {"limit", options.limit}},
        [&](RoleWorkspace& files) -> Result<json::value> {
            AF_TRY(const Listing listing, files.list(directory, options));
            return json::value(to_json(listing));
        },
        listing_from_json);
}

Result<SearchHits> DurableWorkspace::search(const SearchQuery& query) {
    return ask<SearchHits>(
        "search",
        {{"pattern", query.pattern},
         {"literal", query.literal},
         {"ignore_case", query.ignore_case},
         {"glob", query.glob},
         {"limit", query.limit}},
        [&](RoleWorkspace& files) -> Result<json::value> {
            AF_TRY(const SearchHits hits, files.search(query));
            return json::value(to_json(hits));
        },
        hits_from_json);
}

bool DurableWorkspace::exists(std::string_view path) {
    const auto found = ask<bool>(
        "exists", {{"path", path}},
        [&](RoleWorkspace& files) -> Result<json::value> {
            return json::value(json::object{{"exists", files.exists(path)}});
        },
        [](const json::object& value) { return value.at("exists").as_bool(); });
    return found.ok() && *found;
}

Result<Change> DurableWorkspace::create(std::string_view path, std::string_view content, bool overwrite) {
    return write("create", {{"path", path}, {"content", content}, {"overwrite", overwrite}},
                 [&](RoleWorkspace& files) { return files.create(path, content, overwrite); });
}

Result<Change> DurableWorkspace::edit(std::string_view path, std::string_view search, std::string_view replace) {
    return write("edit", {{"path", path}, {"search", search}, {"replace", replace}},
                 [&](RoleWorkspace& files) { return files.edit(path, search, replace); });
}

Result<Change> DurableWorkspace::move(std::string_view from, std::string_view to) {
    return write("move", {{"from", from}, {"to", to}}, [&](RoleWorkspace& files) { return files.move(from, to); });
}

Result<Change> DurableWorkspace::remove(std::string_view path) {
    return write("remove", {{"path", path}}, [&](RoleWorkspace& files) { return files.remove(path); });
}

}  // namespace agentforge::kernel
