# A room's sources are what lies in its folder: X_test.cpp is a test, X_benchmark.cpp a benchmark, X_fuzz.cpp what a fuzzer calls, any other file the
# library's.
# What a target may include is its own rooms and those of what it links, and nothing else: the law of docs/design.md. No
# target has the source folder itself on its path, but a tree of links to its rooms, so that the lines are the same everywhere.
#
# sextant_sources(RESULT library|test|benchmark|fuzz [IN FOLDER...] [EXCEPT REGEX...])
#   Those below the folders, the room's own unless said, but for those that match.
# sextant_rooms(TARGET SCOPE ROOM...)
#   #include "ROOM/..." for TARGET (and those that link it, if SCOPE is PUBLIC or INTERFACE). ROOM is a folder of the project, as in "lib/spec".
# sextant_library(NAME [IN FOLDER...] [EXCEPT REGEX...] [SOURCES SOURCE...] [PUBLIC ...] [PRIVATE ...])
#   A static library `sextant_NAME`, known to the rest as `sextant::NAME`, made of the sources in the folders, or of those
#   listed. Its rooms are the folders; the sources that are listed have those of what they link.
# sextant_precompile(TARGET HEADER...)
#   Most sources of the target include these headers of others, which are then read once.
# sextant_unite(TARGET COUNT|FOLDERS|BY HEADER)
#   Sources are compiled COUNT at a time, or those of a folder at once, where most of their cost is what they share: the templates of headers. Four
#   units of 8 sources of properties/ take 31 s, one of 32 takes 20. Their names without linkage are then one scope's, and differ; by folders, a new
#   source moves none of another folder. By a header, those that include it are one unit, so that its templates are made once, and the others are
#   another. Those that Highway takes once per target stand alone. Not in builds without precompiled headers, which see that each source stands alone.
# sextant_optimize(TARGET LEVEL)
#   A release's optimization where CMake's -O3 costs more of a build than it saves of a run: no loop of the target takes long.
# sextant_test(ROOM [EXCEPT REGEX...] [BESIDES SOURCE...] [SLOW PATTERN...] LIBRARIES ...)
#   One test program `ROOM_test` made of the room's tests, united, and of other sources besides. Tests carry their room as a label: ctest -L reference.
#   Those that a pattern of GoogleTest's filter takes have ROOM-slow: `ci/test --whole` runs them, `ci/test` does not.
#   All are compiled alike, with OpenMP or not, so that the headers of others are read once for all of them.
#   With the headers read before, GCC 12 warns of bounds inside std::string's copies that cannot be passed (GCC bug 105651 too).

# sextant_fuzz([BESIDES SOURCE...] LIBRARIES ...)
#   Where SEXTANT_FUZZ is on, a program for each X_fuzz.cpp of the room, called X_fuzz, that libFuzzer drives: ci/fuzz. Of a room whose library
#   takes long to build, it has the sources that it needs besides.

# -ffp-contract=off: GCC contracts a*b+c to a fused operation by default where the target has one, so the
# same source would give other bits on another machine. Where a kernel wants a fused operation it says
# std::fma. No -ffast-math, which lib/numeric/standard_arithmetic.hpp refuses: the error bounds stated in the headers
# assume arithmetic as written. Functions that others call round to nearest whatever mode they find.
# -frounding-math is not needed: what it would keep the compiler from folding is computed in round-to-nearest, by functions
# that StandardArithmetic's owners call (MPFI rounds outward inside MPFR, in software).
function(sextant_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow -ffp-contract=off)
  # Vectors of SVE and RVV have no size that the compiler knows, so that no struct, a double-double say, can hold them: 64-bit Arm runs on NEON.
  # SSE4 has the vectors of SSSE3, and processors with the latter alone are of 2008 and before: not worth a fifth of the kernels' build.
  set(targets_left_out "HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV|HWY_SSSE3")
  target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=(${targets_left_out})")
  # GCC collects its garbage first at 128 MB and then over and over, a tenth of its time; below 1 GB it now does not. The largest unit takes 1.2 GB, not 1.0.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>)
  # GCC 12 warns of overlapping copies inside std::string's operator+ that cannot happen (GCC bug 105651, mended in 13).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  # GCC 13 and 14 take Boost's shift of a wide integer to run past its limbs, by a count of limbs that cannot be.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(${target} PRIVATE -Wno-array-bounds)
  endif()
  if(SEXTANT_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(SEXTANT_SANITIZE)
    # Instrumented code confuses GCC's flow analysis (its manual says so under -fsanitize): these two then warn of the library.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> -Wno-array-bounds)
    target_compile_options(${target} PRIVATE -fsanitize=${SEXTANT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${SEXTANT_SANITIZE})
  endif()
endfunction()

function(sextant_sources result kind)
  cmake_parse_arguments(ARG "" "" "IN;EXCEPT" ${ARGN})
  if(NOT ARG_IN)
    set(ARG_IN .)
  endif()
  list(TRANSFORM ARG_IN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  list(TRANSFORM ARG_IN APPEND "/*.cpp")
  file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${ARG_IN})
  if(kind STREQUAL "library")
    list(FILTER found EXCLUDE REGEX "_(test|benchmark|fuzz)\\.cpp$")
  else()
    list(FILTER found INCLUDE REGEX "_${kind}\\.cpp$")
  endif()
  foreach(pattern IN LISTS ARG_EXCEPT)
    list(FILTER found EXCLUDE REGEX "${pattern}")
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(sextant_rooms target scope)
  set(root ${PROJECT_BINARY_DIR}/include/${target})
  foreach(room IN LISTS ARGN)
    cmake_path(GET room PARENT_PATH parent)
    file(MAKE_DIRECTORY ${root}/${parent})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${room} ${root}/${room} SYMBOLIC)
  endforeach()
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${root}>)
endfunction()

function(sextant_library name)
  cmake_parse_arguments(ARG "" "" "IN;EXCEPT;SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(sources ${ARG_SOURCES})
  if(NOT sources)
    sextant_sources(sources library IN ${ARG_IN} EXCEPT ${ARG_EXCEPT})
  endif()
  set(target sextant_${name})
  add_library(${target} STATIC ${sources})
  add_library(sextant::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  if(NOT ARG_SOURCES)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE room)
    if(ARG_IN)
      list(TRANSFORM ARG_IN PREPEND "${room}/" OUTPUT_VARIABLE room)
    endif()
    sextant_rooms(${target} PUBLIC ${room})
  endif()
  target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  sextant_compile_options(${target})
endfunction()

function(sextant_compile_as_test target)
  sextant_compile_options(${target})
  target_link_libraries(${target} PRIVATE OpenMP::OpenMP_CXX)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
  sextant_optimize(${target} -O1)
endfunction()

function(sextant_test room)
  if(NOT SEXTANT_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "EXCEPT;BESIDES;SLOW;LIBRARIES" ${ARGN})
  sextant_sources(sources test EXCEPT ${ARG_EXCEPT})
  set(target ${room}_test)
  add_executable(${target} ${sources} ${ARG_BESIDES})
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES} GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE
    SEXTANT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" SEXTANT_BINARY_DIR="${PROJECT_BINARY_DIR}")
  sextant_compile_as_test(${target})
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    if(NOT TARGET sextant_test_headers)
      set(nothing ${PROJECT_BINARY_DIR}/sextant_test_headers.cpp)
      file(CONFIGURE OUTPUT ${nothing} CONTENT "")
      add_library(sextant_test_headers OBJECT ${nothing})
      target_link_libraries(sextant_test_headers PRIVATE GTest::gtest fmt::fmt)
      sextant_compile_as_test(sextant_test_headers)
      sextant_precompile(sextant_test_headers <gtest/gtest.h> <fmt/format.h>)
    endif()
    target_precompile_headers(${target} REUSE_FROM sextant_test_headers)
  endif()
  sextant_unite(${target} 24)
  if(ARG_SLOW)
    list(JOIN ARG_SLOW ":" slow)
    gtest_discover_tests(${target} TEST_FILTER "${slow}" TEST_LIST ${target}_SLOW
      PROPERTIES TIMEOUT 300 LABELS ${room}-slow DISCOVERY_TIMEOUT 60)
    set(others TEST_FILTER "-${slow}")
  endif()
  gtest_discover_tests(${target} ${others} PROPERTIES TIMEOUT 300 LABELS ${room} DISCOVERY_TIMEOUT 60)
endfunction()

function(sextant_fuzz)
  if(NOT SEXTANT_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "BESIDES;LIBRARIES" ${ARGN})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE room)
  sextant_sources(sources fuzz)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM target)
    add_executable(${target} ${source} ${ARG_BESIDES})
    sextant_rooms(${target} PRIVATE ${room})
    target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES})
    sextant_compile_options(${target})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  endforeach()
endfunction()

function(sextant_optimize target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
endfunction()

# Not where a compiler cache is told to build: it would take each build folder's copy for another. That sources include what they use
# is seen by builds without: the presets that inherit `checked`, and clang-tidy's.
function(sextant_precompile target)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <cmath> <functional> <map> <memory> <optional> <span> <string> <variant> <vector> ${ARGN})
  endif()
endfunction()

function(sextant_unite target units)
  if(CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  if(units MATCHES "^(FOLDERS|BY)$")
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  else()
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${units})
  endif()
  # A unit includes sources, whose own types GCC then takes for those of a header.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} includes_itself REGEX "hwy/foreach_target\\.h" LIMIT_COUNT 1)
    if(includes_itself)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    elseif(units STREQUAL "FOLDERS")
      cmake_path(GET source PARENT_PATH folder)
      string(REPLACE "/" "_" folder "${folder}/")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
    elseif(units STREQUAL "BY")
      file(STRINGS ${source} names_header REGEX "#include \"${ARGV2}\"" LIMIT_COUNT 1)
      if(names_header)
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP with)
      else()
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP without)
      endif()
    endif()
  endforeach()
endfunction()
