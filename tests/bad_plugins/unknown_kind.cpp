// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

FAULTY_ENTRY(factory.kind = 99)
