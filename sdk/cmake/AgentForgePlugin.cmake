# SPDX-License-Identifier: Apache-2.0
# agentforge_add_plugin(name KIND stage|tool|llm|escalation SOURCES … [MANIFEST plugin.json] [LIBRARIES …]
#                       [OUTPUT_DIRECTORY folder] [NO_INSTALL] [NO_PCH])
#
# Builds one plugin folder, <build>/plugins/<kind>/<name>/{<name>.so, plugin.json}, as target
# plugin_<kind>_<name>. The library exports exactly one symbol, links with nothing undefined, and
# hides the symbols of the static libraries in it, so that two plugins never see each other.
#
# Plugins share one precompiled <agentforge/plugin.hpp>. NO_PCH leaves it out for a plugin that needs
# flags of its own (another -std, -pthread); -DAGENTFORGE_PLUGIN_PCH=OFF leaves it out for all.
option(AGENTFORGE_PLUGIN_PCH "Plugins share one precompiled <agentforge/plugin.hpp>" ON)

function(agentforge_add_plugin name)
  cmake_parse_arguments(PLUGIN "NO_INSTALL;NO_PCH" "KIND;MANIFEST;OUTPUT_DIRECTORY" "SOURCES;LIBRARIES" ${ARGN})
  if(PLUGIN_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "agentforge_add_plugin(${name}): unknown argument '${PLUGIN_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT PLUGIN_KIND MATCHES "^(stage|tool|llm|escalation)$")
    message(FATAL_ERROR "agentforge_add_plugin(${name}): KIND is '${PLUGIN_KIND}'; it must be stage, tool, llm or escalation")
  endif()
  if(NOT PLUGIN_SOURCES)
    message(FATAL_ERROR "agentforge_add_plugin(${name}): SOURCES names no file")
  endif()
  if(NOT PLUGIN_MANIFEST)
    set(PLUGIN_MANIFEST plugin.json)
  endif()
  get_filename_component(manifest ${PLUGIN_MANIFEST} ABSOLUTE)
  if(NOT EXISTS ${manifest})
    message(FATAL_ERROR "agentforge_add_plugin(${name}): the manifest ${manifest} is missing; a plugin without one is never loaded")
  endif()
  # What the host would refuse later is refused here: the manifest names another library.
  file(READ ${manifest} manifest_text)
  string(JSON manifest_library ERROR_VARIABLE manifest_error GET "${manifest_text}" library)
  if(manifest_error OR NOT manifest_library STREQUAL "${name}.so")
    message(FATAL_ERROR "agentforge_add_plugin(${name}): \"library\" in ${manifest} must be \"${name}.so\", found '${manifest_library}'")
  endif()

  set(target plugin_${PLUGIN_KIND}_${name})
  if(NOT PLUGIN_OUTPUT_DIRECTORY)
    set(PLUGIN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins/${PLUGIN_KIND}/${name})
  endif()
  set(script ${PROJECT_BINARY_DIR}/agentforge_plugin.map)
  if(NOT EXISTS ${script})
    file(WRITE ${script} "{\n  global: agentforge_plugin;\n  local: *;\n};\n")
  endif()

  add_library(${target} MODULE ${PLUGIN_SOURCES})
  target_link_libraries(${target} PRIVATE AgentForge::sdk ${PLUGIN_LIBRARIES})
  target_link_options(${target} PRIVATE "LINKER:--version-script=${script}" LINKER:-z,defs LINKER:--exclude-libs,ALL)
  set_target_properties(${target} PROPERTIES
    PREFIX "" SUFFIX ".so" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${PLUGIN_OUTPUT_DIRECTORY}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON
    CXX_EXTENSIONS OFF DEFINE_SYMBOL "" BUILD_RPATH_USE_ORIGIN ON
    # <prefix>/lib/agentforge/plugins/<kind>/<name> → <prefix>/lib
    INSTALL_RPATH "$ORIGIN/../../../..")
  configure_file(${manifest} ${PLUGIN_OUTPUT_DIRECTORY}/plugin.json COPYONLY)

  if(AGENTFORGE_PLUGIN_PCH AND NOT PLUGIN_NO_PCH)
    if(NOT TARGET agentforge_plugin_pch)
      file(WRITE ${PROJECT_BINARY_DIR}/agentforge_plugin_pch.cpp "// Carries the precompiled header that plugins share.\n")
      add_library(agentforge_plugin_pch OBJECT ${PROJECT_BINARY_DIR}/agentforge_plugin_pch.cpp)
      target_link_libraries(agentforge_plugin_pch PRIVATE AgentForge::sdk)
      set_target_properties(agentforge_plugin_pch PROPERTIES
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
      target_precompile_headers(agentforge_plugin_pch PRIVATE <agentforge/plugin.hpp> <algorithm> <optional> <string> <vector>)
    endif()
    target_precompile_headers(${target} REUSE_FROM agentforge_plugin_pch)
  endif()

  if(NOT PLUGIN_NO_INSTALL)
    include(GNUInstallDirs)
    set(folder ${CMAKE_INSTALL_LIBDIR}/agentforge/plugins/${PLUGIN_KIND}/${name})
    install(TARGETS ${target} LIBRARY DESTINATION ${folder})
    install(FILES ${manifest} DESTINATION ${folder} RENAME plugin.json)
  endif()
endfunction()

# agentforge_add_plugin_test(name SOURCES … [LIBRARIES …])
#
# A GoogleTest program for a plugin, with the fake host of <agentforge/testing/fake_host.hpp>; each case is a case of ctest.
# Where GoogleTest is not installed, it says so and builds nothing. BUILD_TESTING=OFF leaves it out without a word.
macro(agentforge_add_plugin_test name)
  enable_testing()   # Holds for the calling folder, hence a macro.
  _agentforge_add_plugin_test(${name} ${ARGN})
endmacro()

function(_agentforge_add_plugin_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(TEST_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "agentforge_add_plugin_test(${name}): unknown argument '${TEST_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT TEST_SOURCES)
    message(FATAL_ERROR "agentforge_add_plugin_test(${name}): SOURCES names no file")
  endif()
  if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
    return()
  endif()
  find_package(GTest)
  if(NOT GTest_FOUND)
    message(WARNING "GoogleTest was not found, so ${name} is not built and the plugin is not tested (Debian: libgtest-dev)")
    return()
  endif()
  include(GoogleTest)
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE AgentForge::testing AgentForge::sdk ${TEST_LIBRARIES} GTest::gtest_main)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST)
endfunction()
