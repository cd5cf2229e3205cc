# Sources named *_avx2.cpp hold kernels chosen at run time; only they may use AVX2 and FMA instructions.
# Kernels of small unrolled loops (chain_sweep*, the recursion of trees and its constraints, contacts of affine bodies, distances) need -O3: at -O2 those loops stay
# loops over memory and small matrix products stay calls. They do without the precompiled header, which is made at -O2 and
# brings that along.
foreach(source ${TENON_SOURCES})
  set(options "")
  if(source MATCHES "_avx2\\.cpp$")
    list(APPEND options -mavx2 -mfma)
  endif()
  if(source MATCHES "/(chain_sweep[a-z0-9_]*|articulated/(tree_recursion|tree_kernel[a-z0-9_]*|dual_rows|row_component|body_field|corotated|drives)|model/joint_rows|impulse/(wide_contacts[a-z0-9_]*|contact_finder|substeps|impulse_method)|model/rigid_state|solve/column_sums[a-z0-9_]*|geometry/collide/box_box|affine/(contact_(field|collect|curvature)|newton_system|pair_sum|friction|friction_update|island_newton|ccd_filter|search_direction|step_energy|candidates)|geometry/(distance|closest_point_lanes[a-z0-9_]*|separating_axis_lanes[a-z0-9_]*|ccd|overlap_[a-z]*))\\.cpp$" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    if(NOT TENON_SANITIZE)   # such a build is for findings, and takes minutes for some of these files with -O3
      list(APPEND options -O3)
    endif()
    set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(options)
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}")
  endif()
endforeach()
