# `find_package(Tenon)` for C++ users.
include(CMakePackageConfigHelpers)
install(TARGETS tenon EXPORT TenonTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
