/* SPDX-License-Identifier: Apache-2.0 */
/* Records a plain C test: a program that passes when main returns 0. See recorder.h. */
#include "recorder.h"

#include <assert.h>

int __real_main(int argc, char** argv, char** environment);

static const char* const agentforge_sources[] = {AGENTFORGE_SOURCES};

__attribute__((constructor(101))) static void agentforge_start(void) { agentforge_begin("plain", agentforge_sources); }

int __wrap_main(int argc, char** argv, char** environment) {
    int code;
    if (agentforge_canary) {
#if AGENTFORGE_ASSERTS
        assert(0 == 1 && "the canary");
        code = 0; /* Assertions are compiled out: what the tests assert is not checked. */
#else
        code = 1;
#endif
    } else {
        code = __real_main(argc, argv, environment);
    }
    agentforge_main_returned(code);
    return code;
}
