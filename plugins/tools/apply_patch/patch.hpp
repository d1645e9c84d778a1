// SPDX-License-Identifier: Apache-2.0
// Reads the patch format of Codex's apply_patch:
//
//   *** Begin Patch
//   *** Update File: textkit/slug.py
//   *** Move to: textkit/slugs.py        (optional)
//   @@ def slugify(text):                (a line above the place; several go from the outermost in; optional in the first hunk)
//    kept line
//   -line to remove
//   +line to add
//   *** End of File                      (the hunk reaches to the end of the file; optional)
//   *** Add File: textkit/new.py
//   +its lines
//   *** Delete File: textkit/old.py
//   *** End Patch
#pragma once

#include <agentforge/edits.hpp>

#include <string_view>
#include <vector>

namespace agentforge::patch {

/// Returns the patch as edits of files, without reading any file. Tolerates white space around marks, CRLF line ends, a code
/// fence or here-document around the patch, an empty line instead of an empty kept one, and the line numbers of `@@ -1,2 +1,3
/// @@`. Errors: `invalid` AF-TOOL-050 with the line, its text and what was expected. Cost: linear.
[[nodiscard]] Result<std::vector<FileEdit>> read_patch(std::string_view text);

}  // namespace agentforge::patch
