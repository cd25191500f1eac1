# SPDX-License-Identifier: Apache-2.0
# install + find_package(smtwin): headers under include/smtwin/, data under share/smtwin/, the
# program in bin/. A user of the libraries must find libelf, which the readers of machine code link;
# other third-party libraries are header-only and stay inside. tests/consumer proves it.
include(CMakePackageConfigHelpers)
set(SMTWIN_INSTALL_DATADIR ${CMAKE_INSTALL_DATADIR}/smtwin)
set(SMTWIN_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/smtwin)

install(TARGETS smtwin_arch smtwin_kernels smtwin_model smtwin_validate EXPORT smtwin-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smtwin)
install(TARGETS smtwin_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY data/ DESTINATION ${SMTWIN_INSTALL_DATADIR})
install(EXPORT smtwin-targets NAMESPACE smtwin:: DESTINATION ${SMTWIN_INSTALL_CMAKEDIR})

configure_package_config_file(cmake/smtwin-config.cmake.in
  ${PROJECT_BINARY_DIR}/smtwin-config.cmake
  INSTALL_DESTINATION ${SMTWIN_INSTALL_CMAKEDIR}
  PATH_VARS SMTWIN_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/smtwin-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/smtwin-config.cmake
  ${PROJECT_BINARY_DIR}/smtwin-config-version.cmake
  DESTINATION ${SMTWIN_INSTALL_CMAKEDIR})
