// SPDX-License-Identifier: Apache-2.0
// The library that `missing_library` was linked against and that is not installed.
__attribute__((visibility("default"))) int from_the_library_that_is_gone();
int from_the_library_that_is_gone() { return 1; }
