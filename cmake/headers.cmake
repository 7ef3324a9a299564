# Headers that are compiled once, in the builds from nothing alone (ENGINERY_UNITY): elsewhere each file shows that it includes what it uses.
# GCC alone: what clang demands of options that differ was not tried.
if(ENGINERY_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(ENGINERY_PRECOMPILED ON)
  # OpenMP's macro must be defined for all of them or for none.
  separate_arguments(openmp_options NATIVE_COMMAND "${OpenMP_CXX_FLAGS}")
  add_compile_options(${openmp_options})
endif()
# After them GCC 12's optimiser warns of what is right in the standard library, so not where warnings are errors.
if(ENGINERY_PRECOMPILED AND NOT ENGINERY_WERROR)
  set(ENGINERY_PRECOMPILED_LIBRARIES ON)
endif()

# enginery_headers(NAME LIBRARY|EXECUTABLE HEADER...): the headers, compiled for targets whose options are those of such a target made
# here. None may depend on a definition that only some of those targets have.
function(enginery_headers name kind)
  set(source ${PROJECT_BINARY_DIR}/headers/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
  if(kind STREQUAL "LIBRARY")
    add_library(${name} STATIC EXCLUDE_FROM_ALL ${source})
  else()
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
  endif()
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# enginery_use_headers(TARGET NAME): the target's files are compiled after the headers of that name, where there are such.
function(enginery_use_headers target name)
  if(TARGET ${name})
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

if(ENGINERY_PRECOMPILED_LIBRARIES)
  enginery_headers(enginery_headers LIBRARY <algorithm> <chrono> <cmath> <cstring> <filesystem> <functional> <map> <memory> <mutex>
                   <nlohmann/json.hpp> <optional> <set> <span> <string> <thread> <variant> <vector>)
endif()
