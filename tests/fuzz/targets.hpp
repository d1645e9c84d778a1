// SPDX-License-Identifier: Apache-2.0
// What the fuzzers try: each takes any bytes, and aborts with a message where a promise does not hold.
//
// fuzz_events.cpp, fuzz_protocol.cpp and fuzz_patch.cpp hand them to libFuzzer (`scripts/fuzz`); properties_test.cpp gives them
// the corpora, every split or mutation of those, and random bytes, as far as a second goes.
#pragma once

#include <string_view>

namespace agentforge::fuzz {

/// Server-sent events: however the bytes are cut, the same events or the same error come out, and no event is longer than the
/// bound. The first byte says how they are cut.
void events(std::string_view bytes);

/// The text protocol: any text is an action or an AF-AGENT-02x error; an action that is written is read back the same.
/// The first byte says whether the answer was cut off.
void protocol(std::string_view bytes);

/// Patches: any text is edits or AF-TOOL-050, and what is read can be put into a text or is refused with an AF-TOOL-04x error.
/// The text to be patched stands before the first NUL, the patch after it.
void patch(std::string_view bytes);

}  // namespace agentforge::fuzz
