# One test program per folder of tests/, each file in it found by itself.
find_package(GTest REQUIRED)
include(GoogleTest)

file(GLOB TEST_FOLDERS CONFIGURE_DEPENDS LIST_DIRECTORIES true ${CMAKE_SOURCE_DIR}/tests/*)
foreach(folder ${TEST_FOLDERS})
  if(NOT IS_DIRECTORY ${folder})
    continue()
  endif()
  get_filename_component(name ${folder} NAME)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  if(NOT sources)
    continue()
  endif()
  add_executable(test_${name} ${sources})
  list(APPEND TENON_TEST_PROGRAMS test_${name})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR})
  target_link_libraries(test_${name} PRIVATE tenon tenon_flags GTest::gtest GTest::gtest_main
                                             nlohmann_json::nlohmann_json fmt::fmt Tenon::sqlite)
  if(TARGET tenon_verify)
    target_link_libraries(test_${name} PRIVATE tenon_verify)
  endif()
  # Only the files that need the folder's name get it: the others compile alike everywhere, which ccache knows.
  foreach(source ${sources})
    file(STRINGS ${source} needed REGEX "TENON_PROGRAM|TENON_SOURCE_DIR|program\\.hpp|sweep/support\\.hpp")
    if(needed)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
                   TENON_SOURCE_DIR="${CMAKE_SOURCE_DIR}" TENON_PROGRAM="${CMAKE_BINARY_DIR}/bin/tenon")
    endif()
  endforeach()
  if(name STREQUAL "robots" AND TENON_BENCH_PEERS)   # compares with MuJoCo where it is installed
    find_path(MUJOCO_INCLUDE_DIR mujoco/mujoco.h)
    find_library(MUJOCO_LIBRARY mujoco)
    if(MUJOCO_INCLUDE_DIR AND MUJOCO_LIBRARY)
      set_property(SOURCE ${folder}/panda_test.cpp ${folder}/mjcf_peer_test.cpp APPEND PROPERTY COMPILE_DEFINITIONS TENON_HAVE_MUJOCO)
      target_link_libraries(test_${name} PRIVATE ${MUJOCO_LIBRARY})
    endif()
  endif()
  if(name MATCHES "^(serve|fuzz)$")
    target_link_libraries(test_${name} PRIVATE tenon_serve Tenon::httplib ZLIB::ZLIB)
  endif()
  if(name MATCHES "^(app|run|sweep)$")
    add_dependencies(test_${name} tenon_app tenon_bench)   # it runs the program
  endif()
  gtest_discover_tests(test_${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
endforeach()

# The package as a user meets it: installed, found, linked, run.
add_test(NAME install.example COMMAND ${CMAKE_SOURCE_DIR}/tests/install_test.sh ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}
                                      $<$<BOOL:${CCACHE}>:${CCACHE}>)
set_tests_properties(install.example PROPERTIES TIMEOUT 300)

# The viewer's page in a browser: skipped (77) where Node's packages, Chromium or the built page are missing.
if(TARGET tenon_app)
  add_test(NAME viewer.browser COMMAND ${CMAKE_SOURCE_DIR}/scripts/view-test $<TARGET_FILE:tenon_app>)
  set_tests_properties(viewer.browser PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800 RUN_SERIAL TRUE)
  # Exports as other programs read them: skipped where those are missing.
  add_test(NAME export.readers COMMAND ${CMAKE_SOURCE_DIR}/scripts/export-test $<TARGET_FILE:tenon_app>)
  set_tests_properties(export.readers PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

# A sweep on a local Dask cluster that loses a worker: skipped (77) where python3-distributed is missing.
if(TARGET tenon_app)
  add_test(NAME sweep.dask COMMAND ${CMAKE_SOURCE_DIR}/tests/sweep/dask_test.py $<TARGET_FILE:tenon_app>)
  set_tests_properties(sweep.dask PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

# Links and commands in the documentation are true.
if(TARGET tenon_app)
  add_test(NAME docs.check COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-docs $<TARGET_FILE:tenon_app>)
  # Every command of the tutorials, of README.md and of the other pages, run.
  add_test(NAME docs.commands COMMAND ${CMAKE_SOURCE_DIR}/scripts/run-docs $<TARGET_FILE:tenon_app>)
  set_tests_properties(docs.commands PROPERTIES TIMEOUT 900)
endif()

# Includes follow the drawing of the layers.
add_test(NAME layers.check COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-layers ${CMAKE_SOURCE_DIR})
add_test(NAME words.check COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-words ${CMAKE_SOURCE_DIR})
