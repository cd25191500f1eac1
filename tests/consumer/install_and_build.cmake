# SPDX-License-Identifier: Apache-2.0
# install -> configure -> build -> run, each of which must succeed. The source tree plays no part:
# the consumer gets the prefix only.
file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/prefix)

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}: exit code ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

step(${CMAKE_COMMAND} --install ${SMTWIN_BINARY_DIR} --config ${SMTWIN_CONFIG} --prefix ${prefix})
step(${CMAKE_COMMAND} -S ${CONSUMER_SOURCE_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=${SMTWIN_CONFIG} -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
  -DCMAKE_CXX_FLAGS=${CXX_FLAGS} -DCMAKE_PREFIX_PATH=${prefix})
step(${CMAKE_COMMAND} --build ${WORK_DIR}/build --config ${SMTWIN_CONFIG})
step(${WORK_DIR}/build/consumer)
message(STATUS "consumer printed: ${output}")
if(NOT output MATCHES "rtx-pro-6000-server: 1 CTA per SM, limited by shared_memory")
  message(FATAL_ERROR "the consumer's answer is not the expected one")
endif()
step(${prefix}/bin/smtwin occupancy --gpu rtx-pro-6000-server --threads 128 --smem 61568)
