# Sources named *_avx2.cpp hold kernels chosen at run time; only they may use AVX2 and FMA instructions.
# Kernels of small unrolled loops (chain_sweep*) need -O3: at -O2 those loops stay loops over memory.
foreach(source ${TENON_SOURCES})
  set(options "")
  if(source MATCHES "_avx2\\.cpp$")
    list(APPEND options -mavx2 -mfma)
  endif()
  if(source MATCHES "/chain_sweep[a-z0-9_]*\\.cpp$" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    list(APPEND options -O3)
  endif()
  if(options)
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}")
  endif()
endforeach()
