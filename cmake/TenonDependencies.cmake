# Everything the library and its programs need, from the system's packages.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(CLI11 2 REQUIRED)
find_package(PNG REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CGAL REQUIRED)
find_package(EXPAT REQUIRED)
find_package(ZLIB REQUIRED)

# Debian builds it as a library: the macros it was built with must be ours too.
find_package(PkgConfig REQUIRED)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
add_library(Tenon::httplib ALIAS PkgConfig::HTTPLIB)

add_library(Tenon::sqlite ALIAS SQLite::SQLite3)

find_path(METIS_INCLUDE_DIR metis.h REQUIRED)
find_library(METIS_LIBRARY metis REQUIRED)
add_library(Tenon::metis UNKNOWN IMPORTED)
set_target_properties(Tenon::metis PROPERTIES IMPORTED_LOCATION ${METIS_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE_DIR})
