# SPDX-License-Identifier: Apache-2.0
# agentforge_add_plugin(name KIND stage|tool|llm|escalation SOURCES … [MANIFEST plugin.json] [LIBRARIES …])
# Builds one plugin folder: <build>/plugins/<kind>/<name>/{<name>.so, plugin.json}; exports exactly one symbol.
function(agentforge_add_plugin name)
  cmake_parse_arguments(PLUGIN "" "KIND;MANIFEST" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT PLUGIN_MANIFEST)
    set(PLUGIN_MANIFEST plugin.json)
  endif()
  set(target plugin_${PLUGIN_KIND}_${name})
  set(directory ${PROJECT_BINARY_DIR}/plugins/${PLUGIN_KIND}/${name})
  add_library(${target} MODULE ${PLUGIN_SOURCES})
  target_link_libraries(${target} PRIVATE AgentForge::sdk ${PLUGIN_LIBRARIES})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${directory}
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  configure_file(${PLUGIN_MANIFEST} ${directory}/plugin.json COPYONLY)
endfunction()
