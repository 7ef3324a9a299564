# Compiler settings that hold for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(-Wall -Wextra -Wshadow -Wno-missing-field-initializers)
if(ENGINERY_WERROR)
  add_compile_options(-Werror)
endif()
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/engine/include)

if(ENGINERY_SANITIZE)
  add_compile_options(-fsanitize=${ENGINERY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${ENGINERY_SANITIZE})
endif()

# Half of a build's time goes into reading the same headers and compiling the same templates again: here many files of a target are
# compiled as one, after headers that were compiled before. A change of one file then compiles its neighbours, too, so this is for
# builds from nothing.
if(ENGINERY_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${ENGINERY_UNITY})
  # GCC marks its whole heap again whenever it has grown by 128 MB, a tenth of the time for files of this size, which need 0.3 to 1.3 GB:
  # from the first GiB on is enough. What is compiled stays the same.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(--param=ggc-min-heapsize=1048576)
  endif()
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Checking each pointer before it is used takes a fifth of the time to compile, and null or stray ones end in the address sanitizer
# anyway. So a sanitized build does it only in the libraries that read bytes of files, messages and devices as numbers, for the alignment.
set(ENGINERY_NO_POINTER_CHECKS -fno-sanitize=null,alignment,vptr,object-size)
set(ENGINERY_READS_BYTES base tensor data device cpu_kernels tactics format runtime c_api cache)

# Libraries that read a model, a command or a message once, or wait, are compiled at -O1 in a release build: at -O2 that takes twice as long
# (cli's largest unity file: 30 and 56 s). Kernels, passes, the reference and the tuner stay at -O2.
set(ENGINERY_RUNS_ONCE import cli builder schemas cache pipeline compile worker worker_steps worker_runner worker_agent worker_timing coordinator coordinator_core
    coordinator_catalog coordinator_views coordinator_web coordinator_access coordinator_store coordinator_client)

# enginery_library(NAME [DEPS lib...]): the folder's *.cpp files as the static library enginery_NAME.
function(enginery_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  add_library(enginery_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(enginery_${name} PUBLIC ${ARG_DEPS})
  enginery_use_headers(enginery_${name} enginery_headers)
  if(ENGINERY_SANITIZE AND NOT name IN_LIST ENGINERY_READS_BYTES)
    target_compile_options(enginery_${name} PRIVATE ${ENGINERY_NO_POINTER_CHECKS})
  endif()
  if(name IN_LIST ENGINERY_RUNS_ONCE)
    target_compile_options(enginery_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# enginery_test(NAME [DEPS lib...] [LABELS l...] [TIMEOUT s] [COST s] [SHARDS n] [WAITS]): this folder's *_test.cpp as one GoogleTest program and
# one ctest entry. COST is about how long it takes, where that is more than half a minute: the longest begin first. WAITS: it waits for
# processes and time limits most of its time, and counts as half of one that computes (deploy/test runs as many halves as fill the cores).
# SHARDS: the one ctest entry runs that many processes at once, each with its share of the tests.
function(enginery_test name)
  cmake_parse_arguments(ARG "WAITS" "TIMEOUT;COST;SHARDS" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPS} GTest::gtest_main)
  # A test runs once: optimising it takes longer than it saves.
  target_compile_options(${name}_test PRIVATE $<$<CONFIG:Release>:-Og>)
  enginery_use_headers(${name}_test enginery_test_headers)
  if(ARG_SHARDS)
    add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/support/shards ${ARG_SHARDS} $<TARGET_FILE:${name}_test>)
  else()
    set(ARG_SHARDS 1)
    add_test(NAME ${name} COMMAND ${name}_test)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}" SKIP_REGULAR_EXPRESSION "")
  set(processors ${ARG_SHARDS})
  if(NOT ARG_WAITS)
    math(EXPR processors "2 * ${ARG_SHARDS}")
  endif()
  set_tests_properties(${name} PROPERTIES PROCESSORS ${processors})
  if(ARG_COST)
    set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
  endif()
endfunction()
