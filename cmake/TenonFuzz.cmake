# One libFuzzer program per target (clang only): bin/fuzz_NAME. The same targets run through GoogleTest as test_fuzz.
# What reads is compiled with sanitizers and coverage (TENON_READER_SOURCES); solvers and geometry, which no input reaches
# before it was accepted, come from the libraries that `make build` left in TENON_FUZZ_BASE: a build of minutes.
set(TENON_FUZZ_MESHES obj stl ply off msh mesh)
set(TENON_FUZZ_READERS scene rigid_ipc urdf mjcf run_file)
set(TENON_FUZZ_PROGRAM checkpoint http)
set(TENON_FUZZ_BASE "${CMAKE_SOURCE_DIR}/build" CACHE PATH "Build folder with the libraries that are not fuzzed")

set(TENON_READER_SOURCES ${TENON_SOURCES})
list(FILTER TENON_READER_SOURCES INCLUDE REGEX
  "/src/(scene/(reader[a-z_]*|load|value|param_value|write|shape_geometry)|scene/import/[a-z_]+|run/(run_reader|recording)|geometry/(mesh_io[a-z_]*|tet_mesh_io)|math/(error|whole_file))\\.cpp$")
set(TENON_LOADER_SOURCES ${TENON_SOURCES})   # what methods keep in checkpoints
list(FILTER TENON_LOADER_SOURCES INCLUDE REGEX
  "/src/methods/(method|[a-z]+/(adaptive_method|resting|method|contacts|affine_method|candidate_cache|impulse_method|sleeping|contact_finder|volume_method))\\.cpp$")
add_library(tenon_readers STATIC EXCLUDE_FROM_ALL ${TENON_READER_SOURCES})
add_library(tenon_loaders STATIC EXCLUDE_FROM_ALL ${TENON_LOADER_SOURCES})
add_library(tenon_served STATIC EXCLUDE_FROM_ALL ${TENON_SERVE_SOURCES})
# GCC and clang lay out nlohmann's ordered objects differently: symbols of their own keep the two apart.
foreach(source ${TENON_READER_SOURCES} ${TENON_LOADER_SOURCES} ${TENON_SERVE_SOURCES})
  file(STRINGS ${source} needed REGEX "nlohmann|serve/model_json\\.hpp")
  if(needed)
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS NLOHMANN_JSON_NAMESPACE_NO_VERSION=1)
  endif()
endforeach()
foreach(library tenon_readers tenon_loaders tenon_served)
  target_include_directories(${library} PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_definitions(${library} PUBLIC EIGEN_MPL2_ONLY)
endforeach()
target_link_libraries(tenon_readers PUBLIC Eigen3::Eigen PRIVATE tenon_flags Tenon::metis Tenon::sqlite
  nlohmann_json::nlohmann_json fmt::fmt PNG::PNG EXPAT::EXPAT Threads::Threads
  INTERFACE ${TENON_FUZZ_BASE}/libtenon.a)
target_link_libraries(tenon_loaders PUBLIC tenon_readers PRIVATE tenon_flags fmt::fmt nlohmann_json::nlohmann_json)
target_link_libraries(tenon_served PUBLIC tenon_readers PRIVATE tenon_flags Tenon::httplib nlohmann_json::nlohmann_json
  fmt::fmt Tenon::sqlite ZLIB::ZLIB INTERFACE ${TENON_FUZZ_BASE}/libtenon_verify.so)

set(TENON_MESH_SOURCES ${TENON_SOURCES})
list(FILTER TENON_MESH_SOURCES INCLUDE REGEX "/src/(geometry/(mesh_io[a-z_]*|tet_mesh_io|shapes_build|mesh_check)|math/error)\\.cpp$")
add_library(tenon_meshes STATIC EXCLUDE_FROM_ALL ${TENON_MESH_SOURCES})
target_include_directories(tenon_meshes PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(tenon_meshes PUBLIC EIGEN_MPL2_ONLY)
target_link_libraries(tenon_meshes PUBLIC Eigen3::Eigen PRIVATE tenon_flags fmt::fmt)

# The targets themselves, once for all programs; main.cpp is told which of them it runs.
foreach(kind mesh reader program)
  add_library(fuzz_${kind}_list OBJECT EXCLUDE_FROM_ALL
    ${CMAKE_SOURCE_DIR}/tests/fuzz/$<IF:$<STREQUAL:${kind},reader>,targets,${kind}_targets>.cpp)
  target_include_directories(fuzz_${kind}_list PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src
                                                       ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(fuzz_${kind}_list PRIVATE EIGEN_MPL2_ONLY)
  target_link_libraries(fuzz_${kind}_list PRIVATE Eigen3::Eigen tenon_flags nlohmann_json::nlohmann_json fmt::fmt)
endforeach()

# `kind` names the lists of targets and seeds that the target is in.
function(tenon_fuzzer target kind library)
  add_executable(fuzz_${target} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/fuzz/libfuzzer/main.cpp
    $<TARGET_OBJECTS:fuzz_mesh_list>)
  if(NOT kind STREQUAL "mesh")
    target_sources(fuzz_${target} PRIVATE $<TARGET_OBJECTS:fuzz_${kind}_list>)
  endif()
  target_compile_definitions(fuzz_${target} PRIVATE TENON_FUZZ_TARGET="${target}" TENON_FUZZ_LIST=${kind}_targets
                                                     TENON_FUZZ_SEEDS=${kind}_seeds)
  target_include_directories(fuzz_${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(fuzz_${target} PRIVATE ${library} tenon_flags nlohmann_json::nlohmann_json fmt::fmt)
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
endfunction()

foreach(target ${TENON_FUZZ_MESHES})
  tenon_fuzzer(${target} mesh tenon_meshes)
  list(APPEND meshes fuzz_${target})
endforeach()
foreach(target ${TENON_FUZZ_READERS})
  tenon_fuzzer(${target} reader tenon_readers)
  list(APPEND program fuzz_${target})
endforeach()
foreach(target ${TENON_FUZZ_PROGRAM})
  tenon_fuzzer(${target} program tenon_loaders)
  target_link_libraries(fuzz_${target} PRIVATE tenon_served tenon_readers Tenon::httplib ZLIB::ZLIB)
  list(APPEND program fuzz_${target})
endforeach()
add_custom_target(fuzz_meshes DEPENDS ${meshes})
add_custom_target(fuzz_program DEPENDS ${program})
