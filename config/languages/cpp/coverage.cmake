# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=… -DBUILD=… -DRESULTS=… -DJOBS=… -P coverage.cmake: builds the tree with GCC's counters, runs its tests, and writes gcov's
# output to RESULTS/gcov.json, one JSON object a line. Failing tests count, too.
set(COVERAGE ON)
unset(ENV{AGENTFORGE_RECORD})       # Programs that run here record nothing.
include("${CMAKE_CURRENT_LIST_DIR}/build.cmake")
file(READ "${BUILD}/agentforge/compiler.txt" compiler)
if(NOT compiler MATCHES "^GNU ([0-9]+)[^ ]* ([^\n]+)")
  string(STRIP "${compiler}" compiler)
  message(FATAL_ERROR "agentforge: not measured: coverage is counted by gcov, for GCC only, and the project is built by ${compiler}")
endif()
set(version "${CMAKE_MATCH_1}")
get_filename_component(folder "${CMAKE_MATCH_2}" DIRECTORY)
find_program(gcov NAMES "gcov-${version}" gcov HINTS "${folder}")
if(NOT gcov)
  message(FATAL_ERROR "agentforge: not measured: gcov is not installed")
endif()
file(GLOB_RECURSE counters "${BUILD}/*.gcda")
if(counters)
  file(REMOVE ${counters})
endif()
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${BUILD}" --parallel "${JOBS}" --timeout 300 -E "^agentforge-canary-" OUTPUT_QUIET ERROR_QUIET)
# Objects that no test used have no counters, and count as not run.
file(GLOB_RECURSE notes "${BUILD}/*.gcno")
if(NOT notes)
  message(FATAL_ERROR "nothing was built that counts")
endif()
execute_process(COMMAND "${gcov}" --json-format --stdout ${notes} WORKING_DIRECTORY "${RESULTS}" OUTPUT_FILE "${RESULTS}/gcov.json" ERROR_QUIET
                RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "gcov failed")
endif()
