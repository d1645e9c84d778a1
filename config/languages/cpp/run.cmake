# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD=… -DRESULTS=… -DJOBS=… -P run.cmake: lists and runs the tests. Writes tests.json, ctest.xml, scripts.txt (all
# CTestTestfile.cmake) and inputs.json (cmakeFiles of CMake's file API) beside the recorders' files.
# Exits with 1 if a test failed, which is always so, because the canary fails.
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${BUILD}" --show-only=json-v1 OUTPUT_FILE "${RESULTS}/tests.json"
                RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "ctest could not list the tests")
endif()
file(GLOB logs "${BUILD}/agentforge/agentforge_unlisted_*.log")
file(COPY "${BUILD}/agentforge/programs.txt" "${BUILD}/agentforge/unlisted.txt" ${logs} DESTINATION "${RESULTS}")
# Other files with instructions for ctest and CMake.
file(WRITE "${RESULTS}/scripts.txt" "")
file(GLOB_RECURSE lists "${BUILD}/CTestTestfile.cmake")
foreach(list IN LISTS lists)
  file(READ "${list}" text)
  file(APPEND "${RESULTS}/scripts.txt" "${text}\n")
endforeach()
file(GLOB customs "${BUILD}/CTestCustom.*")
foreach(custom IN LISTS customs)
  file(APPEND "${RESULTS}/scripts.txt" "include(\"${custom}\")\n")
endforeach()
file(GLOB inputs "${BUILD}/.cmake/api/v1/reply/cmakeFiles-v1-*.json")
foreach(file IN LISTS inputs)
  configure_file("${file}" "${RESULTS}/inputs.json" COPYONLY)
endforeach()
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${BUILD}" --parallel "${JOBS}" --output-junit "${RESULTS}/ctest.xml"
                        --test-output-size-passed 4096 --test-output-size-failed 65536 --timeout 300 OUTPUT_QUIET RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "some tests failed")
endif()
