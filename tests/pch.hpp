// SPDX-License-Identifier: Apache-2.0
// The tests' one precompiled header: the kernel's, and the test framework.
#pragma once

#include "base/pch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
