# SPDX-License-Identifier: Apache-2.0
# SMTWIN_CUDA=AUTO|ON|OFF. AUTO uses nvcc when one is found; ON without one is an error.
set(SMTWIN_HAVE_CUDA OFF)
if(NOT SMTWIN_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "SMTWIN_CUDA=${SMTWIN_CUDA}: write AUTO, ON or OFF")
endif()
if(NOT SMTWIN_CUDA STREQUAL OFF)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "90a;120a" CACHE STRING "GPU architectures to compile for")
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(SMTWIN_HAVE_CUDA ON)
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
