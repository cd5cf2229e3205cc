# Sources named *_avx2.cpp hold kernels chosen at run time; only they may use AVX2 and FMA instructions.
foreach(source ${TENON_SOURCES})
  if(source MATCHES "_avx2\\.cpp$")
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  endif()
endforeach()
