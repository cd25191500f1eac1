# SPDX-License-Identifier: Apache-2.0
# SMTWIN_CUDA=AUTO|ON|OFF. AUTO uses nvcc when one is found; ON without one is an error.
set(SMTWIN_HAVE_CUDA OFF)
if(NOT SMTWIN_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "SMTWIN_CUDA=${SMTWIN_CUDA}: write AUTO, ON or OFF")
endif()
if(NOT SMTWIN_CUDA STREQUAL OFF)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    # Machine code only: PTX of 90a or 120a runs on no other architecture.
    set(CMAKE_CUDA_ARCHITECTURES "90a-real;120a-real" CACHE STRING "GPU architectures")
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(SMTWIN_HAVE_CUDA ON)
    # CMake 3.25 thinks that nvcc 13 stops at C++17 and refuses the C++20 that our libraries ask of
    # whatever links them.
    if(NOT cuda_std_20 IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
      list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
  elseif(SMTWIN_CUDA STREQUAL ON)
    message(FATAL_ERROR "SMTWIN_CUDA=ON, but no CUDA compiler was found: put nvcc on PATH, set "
                        "CUDACXX, or configure with SMTWIN_CUDA=OFF")
  endif()
endif()
# The occupancy oracle is a header of the toolkit and needs no compiler: look for it in any case.
find_path(SMTWIN_CUDA_OCCUPANCY_DIR cuda_occupancy.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV CUDA_PATH ENV CUDA_HOME
  PATHS /usr/local/cuda /usr/local/cuda/targets/x86_64-linux /usr
  PATH_SUFFIXES include)
message(STATUS "smtwin: CUDA ${SMTWIN_HAVE_CUDA}, cuda_occupancy.h ${SMTWIN_CUDA_OCCUPANCY_DIR}")

# smtwin_cuda_library(NAME SOURCES...): static library smtwin_NAME of .cu and .cpp files that see
# the CUDA runtime. Machine code is embedded uncompressed, so that whatever reads registers and
# spills from it needs no toolkit. Source lines for a profiler (CMAKE_CUDA_FLAGS=-lineinfo) would
# make it five times as large.
function(smtwin_cuda_library name)
  add_library(smtwin_${name} STATIC ${ARGN})
  add_library(smtwin::${name} ALIAS smtwin_${name})
  target_include_directories(smtwin_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_include_directories(smtwin_${name} SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  target_compile_options(smtwin_${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --compress-mode=none>)
  set_target_properties(smtwin_${name} PROPERTIES CUDA_RUNTIME_LIBRARY Static
    CUDA_SEPARABLE_COMPILATION OFF)
  smtwin_warnings(smtwin_${name})
endfunction()

# smtwin_cuda_variants(TARGET TEMPLATE NAME=VALUE...): adds one .cu to TARGET, TEMPLATE with each
# @NAME@ replaced. Many small files compile side by side.
function(smtwin_cuda_variants target template)
  get_filename_component(stem ${template} NAME)
  string(REPLACE ".cu.in" "" stem ${stem})
  foreach(pair ${ARGN})
    string(REGEX MATCH "^([A-Z_]+)=(.*)$" matched ${pair})
    set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    string(APPEND stem "_${CMAKE_MATCH_2}")
  endforeach()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${stem}.cu)
  configure_file(${template} ${file} @ONLY)
  target_sources(${target} PRIVATE ${file})
endfunction()
