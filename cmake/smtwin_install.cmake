# SPDX-License-Identifier: Apache-2.0
# install + find_package(smtwin): headers under include/smtwin/, data under share/smtwin/.
include(CMakePackageConfigHelpers)
set(smtwin_libraries smtwin_arch smtwin_kernels smtwin_model smtwin_validate)
install(TARGETS ${smtwin_libraries} EXPORT smtwin-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smtwin)
install(TARGETS smtwin_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/smtwin)
install(EXPORT smtwin-targets NAMESPACE smtwin:: FILE smtwin-config.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/smtwin)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/smtwin-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/smtwin-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/smtwin)
