# Headers that nearly every file includes, compiled once for the library, for the program, for the benchmarks and once for all tests.
set(TENON_COMMON_HEADERS <algorithm> <array> <cmath> <functional> <map> <memory> <optional> <string> <vector>
    <fmt/format.h> <Eigen/Core> <Eigen/Geometry>)
target_precompile_headers(tenon PRIVATE ${TENON_COMMON_HEADERS})
foreach(source ${TENON_SOURCES})
  if(source MATCHES "_avx2\\.cpp$")   # other instructions than the precompiled header
    set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
endforeach()
target_precompile_headers(tenon_app PRIVATE ${TENON_COMMON_HEADERS})
target_precompile_headers(tenon_bench PRIVATE ${TENON_COMMON_HEADERS})
list(REMOVE_ITEM TENON_TEST_PROGRAMS test_app)   # waits for the program: the others must not wait for it
foreach(program ${TENON_TEST_PROGRAMS} test_app)
  if(NOT TENON_TEST_HEADERS)
    set(TENON_TEST_HEADERS ${program})
    target_precompile_headers(${program} PRIVATE ${TENON_COMMON_HEADERS} <gtest/gtest.h>)
  else()
    target_precompile_headers(${program} REUSE_FROM ${TENON_TEST_HEADERS})
  endif()
endforeach()
