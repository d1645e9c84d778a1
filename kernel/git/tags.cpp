// SPDX-License-Identifier: Apache-2.0
#include "git/tags.hpp"

#include <algorithm>

#include "git/library.hpp"

namespace agentforge::kernel {

using namespace git;

Result<std::vector<Tag>> tags_of(const std::filesystem::path& repository) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    git_reference_iterator* raw = nullptr;
    if (const int code = git_reference_iterator_glob_new(&raw, handle.get(), "refs/tags/*"); code < 0) {
        return failure(code, "list tags");
    }
    const ReferenceIteratorHandle iterator(raw);
    std::vector<Tag> tags;
    git_reference* reference = nullptr;
    while (git_reference_next(&reference, raw) == 0) {
        const ReferenceHandle found(reference);
        git_object* object = nullptr;
        if (git_reference_peel(&object, reference, GIT_OBJECT_COMMIT) < 0) { continue; }
        const ObjectHandle commit(object);
        tags.push_back({git_reference_shorthand(reference), to_text(*git_object_id(object))});
    }
    std::ranges::sort(tags, {}, &Tag::name);
    return tags;
}

}  // namespace agentforge::kernel
