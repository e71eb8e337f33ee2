# Defines kainjow_mustache, which upstream ships no CMake package for. Header-only.
find_path(KAINJOW_MUSTACHE_INCLUDE_DIR kainjow/mustache.hpp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(kainjow_mustache REQUIRED_VARS KAINJOW_MUSTACHE_INCLUDE_DIR)
if(kainjow_mustache_FOUND AND NOT TARGET kainjow_mustache)
  add_library(kainjow_mustache INTERFACE IMPORTED)
  set_target_properties(kainjow_mustache PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${KAINJOW_MUSTACHE_INCLUDE_DIR})
endif()
