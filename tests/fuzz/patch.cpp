// SPDX-License-Identifier: Apache-2.0
#include "apply_patch/patch.hpp"

#include "fuzz/check.hpp"
#include "fuzz/targets.hpp"
#include "tools/hunks.hpp"

namespace agentforge::fuzz {

void patch(std::string_view bytes) {
    const auto nul = bytes.find('\0');
    const std::string_view content = nul == std::string_view::npos ? std::string_view() : bytes.substr(0, nul);
    const auto edits = agentforge::patch::read_patch(nul == std::string_view::npos ? bytes : bytes.substr(nul + 1));
    if (!edits.ok()) {
        must(edits.error().code == "AF-TOOL-050", "the only error is AF-TOOL-050, not " + edits.error().code);
        return;
    }
    must(!edits->empty(), "a patch that is read has edits");
    for (const FileEdit& edit : *edits) {
        must(!edit.path.empty(), "an edit names a file");
        must(edit.kind != FileEditKind::change || !edit.hunks.empty() || !edit.move_to.empty(), "a change changes or moves");
        if (edit.hunks.empty()) { continue; }
        for (const Hunk& hunk : edit.hunks) {
            must(hunk.whole_lines && (hunk.search.empty() || hunk.search.ends_with('\n')) &&
                     (hunk.replace.empty() || hunk.replace.ends_with('\n')),
                 "a hunk is made of whole lines");
            must(!hunk.search.empty() || !hunk.replace.empty(), "a hunk has lines");
        }
        const auto done = kernel::apply_hunks(content, edit.hunks, "file");
        if (!done.ok()) {
            must(done.error().code.starts_with("AF-TOOL-04"), "an error of edits, not " + done.error().code);
            continue;
        }
        must(done->content != content, "an edit that is done changes the text");
        must(done->regions.size() == edit.hunks.size(), "each hunk tells its lines");
        const auto whole = kernel::apply_hunks(content, edit.hunks, "file");
        must(whole.ok() && whole->content == done->content, "the same hunks give the same text");
    }
}

}  // namespace agentforge::fuzz
