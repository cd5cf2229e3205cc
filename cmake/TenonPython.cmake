# The Python module, as an importable package under build/python; left out where pybind11 or Python's headers are missing.
# `python3` on PATH may be another Python than the one with NumPy and pytest.
set(TENON_PYTHON /usr/bin/python3 CACHE FILEPATH "Python interpreter that the module is built for")
set(PYBIND11_FINDPYTHON ON)
set(Python_EXECUTABLE ${TENON_PYTHON})
find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
if(Python_FOUND)
  find_package(pybind11 2.10 QUIET CONFIG)
endif()
if(NOT Python_FOUND OR NOT pybind11_FOUND)
  message(STATUS "No Python module: pybind11-dev and python3-dev (for ${TENON_PYTHON}) are needed for it")
  return()
endif()

file(GLOB TENON_PYTHON_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/*.cpp)
pybind11_add_module(tenon_python MODULE NO_EXTRAS ${TENON_PYTHON_SOURCES})
set_target_properties(tenon_python PROPERTIES OUTPUT_NAME _tenon
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/tenon CXX_VISIBILITY_PRESET hidden)
file(GLOB TENON_PYTHON_GLUE ${CMAKE_SOURCE_DIR}/python/bind_*.cpp)
set_source_files_properties(${TENON_PYTHON_GLUE} PROPERTIES COMPILE_OPTIONS -O1)   # templates: half the time to compile
target_compile_definitions(tenon_python PRIVATE TENON_VERSION="${PROJECT_VERSION}")
target_include_directories(tenon_python PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/python)
target_link_libraries(tenon_python PRIVATE tenon tenon_flags fmt::fmt)
# The library's functions call each other directly, and nobody else's of the same name.
target_link_options(tenon_python PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic)

# The package's Python files beside the module.
file(GLOB TENON_PYTHON_FILES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/tenon/*)
foreach(file ${TENON_PYTHON_FILES})
  if(NOT IS_DIRECTORY ${file})
    get_filename_component(name ${file} NAME)
    configure_file(${file} ${CMAKE_BINARY_DIR}/python/tenon/${name} COPYONLY)
  endif()
endforeach()

file(GLOB TENON_PYTHON_TESTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/python/test_*.py)
if(TENON_TESTS AND TENON_PYTHON_TESTS)
  add_test(NAME python.tests COMMAND ${Python_EXECUTABLE} -m pytest -q -p no:cacheprovider ${CMAKE_SOURCE_DIR}/tests/python)
  set_tests_properties(python.tests PROPERTIES TIMEOUT 300
    ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python;TENON_PROGRAM=${CMAKE_BINARY_DIR}/bin/tenon;PYTHONDONTWRITEBYTECODE=1")
endif()
