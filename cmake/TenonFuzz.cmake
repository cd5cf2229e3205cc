# One libFuzzer program per target (clang only): bin/fuzz_NAME. The same targets run through GoogleTest as test_fuzz.
# Readers need no method: a library without them is built in a few minutes (target `fuzz_readers`); checkpoints and the
# server need everything (`fuzz_program`).
set(TENON_FUZZ_READERS scene obj stl ply off msh mesh rigid_ipc urdf mjcf run_file)
set(TENON_FUZZ_PROGRAM checkpoint http)

set(TENON_READER_SOURCES ${TENON_SOURCES})
list(FILTER TENON_READER_SOURCES INCLUDE REGEX "/src/(geometry|math|model|run|scene)/")
add_library(tenon_readers STATIC EXCLUDE_FROM_ALL ${TENON_READER_SOURCES})
target_include_directories(tenon_readers PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(tenon_readers PUBLIC EIGEN_MPL2_ONLY)
target_link_libraries(tenon_readers PUBLIC Eigen3::Eigen
  PRIVATE tenon_flags Tenon::metis Tenon::sqlite nlohmann_json::nlohmann_json fmt::fmt PNG::PNG EXPAT::EXPAT
          Threads::Threads)

function(tenon_fuzzer target kind source library)
  add_executable(fuzz_${target} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/fuzz/libfuzzer/main.cpp
                                                 ${CMAKE_SOURCE_DIR}/tests/fuzz/targets.cpp ${source})
  target_compile_definitions(fuzz_${target} PRIVATE TENON_FUZZ_TARGET="${target}" TENON_FUZZ_LIST=${kind}_targets
                                                     TENON_FUZZ_SEEDS=${kind}_seeds)
  target_include_directories(fuzz_${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(fuzz_${target} PRIVATE ${library} tenon_flags nlohmann_json::nlohmann_json fmt::fmt)
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
endfunction()

foreach(target ${TENON_FUZZ_READERS})
  tenon_fuzzer(${target} reader "" tenon_readers)
  list(APPEND readers fuzz_${target})
endforeach()
foreach(target ${TENON_FUZZ_PROGRAM})
  tenon_fuzzer(${target} program ${CMAKE_SOURCE_DIR}/tests/fuzz/program_targets.cpp tenon_serve)
  target_link_libraries(fuzz_${target} PRIVATE tenon Tenon::httplib ZLIB::ZLIB)
  list(APPEND program fuzz_${target})
endforeach()
add_custom_target(fuzz_readers DEPENDS ${readers})
add_custom_target(fuzz_program DEPENDS ${program})
