// SPDX-License-Identifier: Apache-2.0
// A machine without free threads: during this object's lifetime, every new std::thread throws std::system_error.
#pragma once

#include <pthread.h>

namespace agentforge {

class NoThreads {
public:
    NoThreads() {
        pthread_getattr_default_np(&before_);
        pthread_attr_t none;
        pthread_getattr_default_np(&none);
        pthread_attr_setstacksize(&none, 1UL << 46U);  // More than there is memory for.
        pthread_setattr_default_np(&none);
        pthread_attr_destroy(&none);
    }
    ~NoThreads() {
        pthread_setattr_default_np(&before_);
        pthread_attr_destroy(&before_);
    }
    NoThreads(const NoThreads&) = delete;
    NoThreads& operator=(const NoThreads&) = delete;

private:
    pthread_attr_t before_{};
};

}  // namespace agentforge
