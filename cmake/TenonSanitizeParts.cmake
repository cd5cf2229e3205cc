# Sanitizers and assertions for some folders of src/ and tests/ alone. All other sources are compiled as in a release, which
# ccache knows: minutes instead of a build of everything. Eigen would allocate in another way where it sees ASan; what one
# kind of source allocates the other one frees, so that both must do as the release does.
foreach(part ${TENON_SANITIZE_PARTS})
  file(GLOB_RECURSE sources ${CMAKE_SOURCE_DIR}/src/${part}/*.cpp ${CMAKE_SOURCE_DIR}/tests/${part}/*.cpp)
  foreach(source ${sources})
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS
                 -O1 -g1 -UNDEBUG -DEIGEN_MALLOC_ALREADY_ALIGNED=1 -fsanitize=${TENON_SANITIZE} -fno-omit-frame-pointer)
  endforeach()
endforeach()
