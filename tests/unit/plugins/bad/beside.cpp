// SPDX-License-Identifier: Apache-2.0
// A library that a plugin contains.
extern "C" __attribute__((visibility("default"))) const char* agentforge_test_beside() { return "from beside"; }
