// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

FAULTY_ENTRY(descriptor.factory_count = 0xFFFFFFFFU)
