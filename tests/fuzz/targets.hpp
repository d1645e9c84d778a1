// SPDX-License-Identifier: Apache-2.0
// The fuzz targets: each takes any bytes, and aborts with a message if a promise is broken.
//
// fuzz_events.cpp, fuzz_protocol.cpp and fuzz_patch.cpp pass them to libFuzzer (`scripts/fuzz`). properties_test.cpp runs them on
// the corpora, on every split or mutation of those, and on random bytes, for about a second.
#pragma once

#include <string_view>

namespace agentforge::fuzz {

/// Server-sent events: however the bytes are split, the same events or the same error result, and no event exceeds the bound. The
/// first byte decides the split.
void events(std::string_view bytes);

/// The text protocol: any text is an action or an AF-AGENT-02x error, and a written action is read back unchanged. The first byte
/// says whether the answer was cut off.
void protocol(std::string_view bytes);

/// Patches: any text is edits or AF-TOOL-050, and edits apply to a text or are refused with an AF-TOOL-04x error. The text to
/// patch comes before the first NUL, the patch after it.
void patch(std::string_view bytes);

}  // namespace agentforge::fuzz
