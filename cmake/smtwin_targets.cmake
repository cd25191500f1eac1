# SPDX-License-Identifier: Apache-2.0
# smtwin_library(NAME [folders...]): static library smtwin_NAME from all .cpp of the folder it is
# called in and of the named subfolders; headers are found as "folder/file.hpp" from the root.
function(smtwin_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # At -O3 GCC 12 sees copies inside std::string that cannot happen (GCC bugs 105329, 105651).
    foreach(flag restrict array-bounds stringop-overflow stringop-overread)
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-${flag}>)
    endforeach()
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
      # Sanitized builds of <regex> (GCC bug 105562).
      target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
    endif()
  endif()
  if(SMTWIN_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  endif()
endfunction()

function(smtwin_library name)
  set(sources)
  set(headers)
  foreach(folder "" ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
    list(APPEND sources ${found})
    file(GLOB found CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.hpp")
    list(APPEND headers ${found})
  endforeach()
  list(REMOVE_DUPLICATES sources)
  list(REMOVE_DUPLICATES headers)
  add_library(smtwin_${name} STATIC ${sources})
  add_library(smtwin::${name} ALIAS smtwin_${name})
  set_target_properties(smtwin_${name} PROPERTIES EXPORT_NAME ${name})
  # Each public header must compile alone: target all_verify_interface_header_sets.
  target_sources(smtwin_${name} PUBLIC FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  target_compile_features(smtwin_${name} PUBLIC cxx_std_20)
  set_target_properties(smtwin_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  smtwin_warnings(smtwin_${name})
endfunction()
