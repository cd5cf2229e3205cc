# `find_package(Tenon)` for C++ users: the library, its headers, the verifier beside it, and the program.
include(CMakePackageConfigHelpers)
set(TENON_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)

install(TARGETS tenon EXPORT TenonTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT TenonTargets NAMESPACE Tenon:: DESTINATION ${TENON_CMAKE_FOLDER})

# The program finds the verifier beside itself, wherever the tree is moved to.
file(RELATIVE_PATH TENON_LIB_FROM_BIN /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
if(TARGET tenon_verify)
  install(TARGETS tenon_verify LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
set_target_properties(tenon_app tenon_bench PROPERTIES INSTALL_RPATH "$ORIGIN/${TENON_LIB_FROM_BIN}")
install(TARGETS tenon_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tenon_bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)

# The viewer's page, when `make view` has built it: the program looks for it from its own place.
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/tenon/viewer DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon OPTIONAL)

# What `tenon sweep --on` starts, found in the same way.
configure_file(${CMAKE_SOURCE_DIR}/apps/tenon/dask_sweep.py ${CMAKE_BINARY_DIR}/share/tenon/dask_sweep.py COPYONLY)
install(FILES apps/tenon/dask_sweep.py DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon)

configure_package_config_file(cmake/TenonConfig.cmake.in ${CMAKE_BINARY_DIR}/TenonConfig.cmake
  INSTALL_DESTINATION ${TENON_CMAKE_FOLDER})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TenonConfig.cmake ${CMAKE_BINARY_DIR}/TenonConfigVersion.cmake
  DESTINATION ${TENON_CMAKE_FOLDER})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tenon)
