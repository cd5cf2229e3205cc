# One libFuzzer program per reader (clang only): bin/fuzz_NAME. The same targets run through GoogleTest as test_fuzz.
set(TENON_FUZZ_TARGETS scene obj stl ply off msh mesh rigid_ipc run_file)
foreach(target ${TENON_FUZZ_TARGETS})
  add_executable(fuzz_${target} ${CMAKE_SOURCE_DIR}/tests/fuzz/libfuzzer/main.cpp
                                ${CMAKE_SOURCE_DIR}/tests/fuzz/targets.cpp)
  target_compile_definitions(fuzz_${target} PRIVATE TENON_FUZZ_TARGET="${target}")
  target_include_directories(fuzz_${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(fuzz_${target} PRIVATE tenon tenon_flags nlohmann_json::nlohmann_json fmt::fmt)
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
endforeach()
