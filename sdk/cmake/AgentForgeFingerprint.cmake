# SPDX-License-Identifier: Apache-2.0
# agentforge_abi_fingerprint(out <include folder>): what AGENTFORGE_ABI_FINGERPRINT expands to under the
# compiler and the flags of the calling folder. A preprocessor run, because only the compiler knows.
function(agentforge_abi_fingerprint out include)
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/agentforge_fingerprint.cpp)
  file(WRITE ${probe} "#include <agentforge/abi.hpp>\nagentforge_fingerprint_is: AGENTFORGE_ABI_FINGERPRINT\n")
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}")
  get_directory_property(options COMPILE_OPTIONS)
  get_directory_property(definitions COMPILE_DEFINITIONS)
  # Warnings say nothing about the layout, and one of them must not fail the probe.
  list(FILTER options EXCLUDE REGEX "^-W|^-fpch|\\$<")
  list(FILTER definitions EXCLUDE REGEX "\\$<")
  list(TRANSFORM definitions PREPEND -D)
  set(includes -I${include})
  foreach(folder ${Boost_INCLUDE_DIRS})
    if(folder IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      continue()   # -isystem /usr/include breaks libstdc++'s #include_next
    endif()
    list(APPEND includes -isystem ${folder})
  endforeach()
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -E -P -x c++ -std=c++20 ${flags} ${options} ${definitions} ${includes} ${probe}
    OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT text MATCHES "agentforge_fingerprint_is:([^\n]*\n?[^\n]*)")
    message(FATAL_ERROR "The ABI fingerprint could not be computed: ${CMAKE_CXX_COMPILER} -E answered ${status}\n${errors}")
  endif()
  string(REGEX MATCHALL "\"[^\"]*\"" parts "${CMAKE_MATCH_1}")
  list(JOIN parts "" fingerprint)
  string(REPLACE "\"" "" fingerprint "${fingerprint}")
  if(NOT fingerprint MATCHES "^AGENTFORGE_[A-Za-z0-9_.]+$")
    message(FATAL_ERROR "The ABI fingerprint has a form the linker does not take: '${fingerprint}'")
  endif()
  set(${out} ${fingerprint} PARENT_SCOPE)
endfunction()
