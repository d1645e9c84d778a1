// SPDX-License-Identifier: Apache-2.0
#include "git/tree_edit.hpp"

namespace agentforge::kernel::git {

namespace {

struct Node {
    const TreeEdit* edit = nullptr;
    std::map<std::string, Node, std::less<>> children;
};

Error bad_path(std::string_view path, std::string_view why) {
    return Error{"AF-GIT-015", "git cannot record the path `" + std::string(path) + "`: " + std::string(why), std::string(path),
                 "Use a relative path without `..` and `.git`, and each name either for a file or for a folder",
                 ErrorKind::invalid};
}

/// Returns the tree's new id, or empty if nothing is left in it.
Result<std::optional<git_oid>> apply(git_repository* repository, git_tree* base, const Node& node, const std::string& prefix) {
    git_treebuilder* raw = nullptr;
    if (const int code = git_treebuilder_new(&raw, repository, base); code < 0) { return failure(code, "read a tree"); }
    const TreeBuilderHandle builder(raw);
    for (const auto& [name, child] : node.children) {
        const std::string path = prefix + name;
        std::optional<TreeEntry> now;
        if (child.edit != nullptr && child.edit->entry) {
            now = child.edit->entry;
        } else if (!child.children.empty()) {
            TreeHandle below;
            const git_tree_entry* old = base == nullptr ? nullptr : git_tree_entry_byname(base, name.c_str());
            if (old != nullptr && git_tree_entry_type(old) == GIT_OBJECT_TREE) {
                AF_TRY(below, find_tree(repository, *git_tree_entry_id(old)));
            } else if (old != nullptr && child.edit == nullptr &&
                       std::none_of(child.children.begin(), child.children.end(), [](const auto& entry) {
                           return !entry.second.children.empty() || entry.second.edit->entry.has_value();
                       })) {
                continue;  // Removing `a/b` changes nothing if `a` is a file.
            }
            AF_TRY(const std::optional<git_oid> id, apply(repository, below.get(), child, path + "/"));
            if (id) { now = TreeEntry{*id, GIT_FILEMODE_TREE}; }
        }
        if (now) {
            if (git_treebuilder_insert(nullptr, builder.get(), name.c_str(), &now->id, now->mode) < 0) {
                const git_error* error = git_error_last();
                return bad_path(path, error != nullptr ? error->message : "the name is not allowed");
            }
        } else if (git_treebuilder_get(builder.get(), name.c_str()) != nullptr) {
            git_treebuilder_remove(builder.get(), name.c_str());
        }
    }
    if (git_treebuilder_entrycount(builder.get()) == 0) { return std::optional<git_oid>(); }
    git_oid id{};
    if (const int code = git_treebuilder_write(&id, builder.get()); code < 0) { return failure(code, "write a tree"); }
    return std::optional<git_oid>(id);
}

}  // namespace

bool is_recordable_path(std::string_view path) {
    if (path.empty() || path.find('\0') != std::string_view::npos) { return false; }
    while (true) {
        const std::size_t slash = path.find('/');
        const std::string_view name = path.substr(0, slash);
        if (name.empty() || name == "." || name == ".." || (name.size() == 4 && strncasecmp(name.data(), ".git", 4) == 0)) {
            return false;
        }
        if (slash == std::string_view::npos) { return true; }
        path.remove_prefix(slash + 1);
    }
}

Result<git_oid> apply_edits(git_repository* repository, const git_oid& tree, const std::vector<TreeEdit>& edits) {
    if (edits.empty()) { return git_oid(tree); }
    Node root;
    for (const TreeEdit& edit : edits) {
        if (!is_recordable_path(edit.path)) { return bad_path(edit.path, "it is not a plain relative path"); }
        Node* node = &root;
        std::string_view rest = edit.path;
        while (true) {
            const std::size_t slash = rest.find('/');
            node = &node->children.try_emplace(std::string(rest.substr(0, slash))).first->second;
            if (slash == std::string_view::npos) { break; }
            rest.remove_prefix(slash + 1);
        }
        node->edit = &edit;
    }
    for (const TreeEdit& edit : edits) {  // A path that would be both a file and a folder.
        if (!edit.entry) { continue; }
        const Node* node = &root;
        std::string_view rest = edit.path;
        for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
            node = &node->children.find(rest.substr(0, slash))->second;
            if (node->edit != nullptr && node->edit->entry) {
                return bad_path(edit.path, "`" + node->edit->path + "` is a file");
            }
            rest.remove_prefix(slash + 1);
        }
    }
    AF_TRY(const TreeHandle base, find_tree(repository, tree));
    AF_TRY(const std::optional<git_oid> id, apply(repository, base.get(), root, {}));
    if (id) { return git_oid(*id); }
    git_treebuilder* raw = nullptr;  // The empty tree.
    if (const int code = git_treebuilder_new(&raw, repository, nullptr); code < 0) { return failure(code, "write a tree"); }
    const TreeBuilderHandle builder(raw);
    git_oid empty{};
    if (const int code = git_treebuilder_write(&empty, builder.get()); code < 0) { return failure(code, "write a tree"); }
    return empty;
}

namespace {
struct Visit {
    const std::function<void(std::string, const TreeEntry&)>* call;
};
}  // namespace

Result<void> for_each_file(git_repository* repository, const git_oid& tree,
                           const std::function<void(std::string path, const TreeEntry&)>& visit) {
    AF_TRY(const TreeHandle root, find_tree(repository, tree));
    Visit payload{&visit};
    const auto callback = [](const char* folder, const git_tree_entry* entry, void* data) {
        if (git_tree_entry_type(entry) != GIT_OBJECT_TREE) {
            (*static_cast<Visit*>(data)->call)(std::string(folder) + git_tree_entry_name(entry),
                                               TreeEntry{*git_tree_entry_id(entry), git_tree_entry_filemode(entry)});
        }
        return 0;
    };
    if (const int code = git_tree_walk(root.get(), GIT_TREEWALK_PRE, callback, &payload); code < 0) {
        return failure(code, "read a tree");
    }
    return {};
}

std::optional<TreeEntry> entry_at(git_tree* tree, const std::string& path) {
    git_tree_entry* raw = nullptr;
    if (git_tree_entry_bypath(&raw, tree, path.c_str()) < 0) { return std::nullopt; }
    const TreeEntryHandle entry(raw);
    return TreeEntry{*git_tree_entry_id(raw), git_tree_entry_filemode(raw)};
}

}  // namespace agentforge::kernel::git
