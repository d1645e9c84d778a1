// SPDX-License-Identifier: Apache-2.0
// Reads the patch format of Codex's apply_patch:
//
//   *** Begin Patch
//   *** Update File: textkit/slug.py
//   *** Move to: textkit/slugs.py        (may be left away)
//   @@ def slugify(text):                (a line that heads the place; several go from the outermost in; the first hunk needs no
//   @@)
//    kept line
//   -line to take away
//   +line to add
//   *** End of File                      (the hunk reaches to the end of the file; may be left away)
//   *** Add File: textkit/new.py
//   +its lines
//   *** Delete File: textkit/old.py
//   *** End Patch
#pragma once

#include <agentforge/edits.hpp>

#include <string_view>
#include <vector>

namespace agentforge::patch {

/// The patch as edits of files; nothing is looked up. White space around marks, CRLF line ends, a code fence or here-document
/// around the patch, an empty line in place of an empty kept one, and the line numbers of `@@ -1,2 +1,3 @@` are let pass.
/// Errors: `invalid` AF-TOOL-050 with the line, what stands there and what was expected. Cost: linear.
[[nodiscard]] Result<std::vector<FileEdit>> read_patch(std::string_view text);

}  // namespace agentforge::patch
