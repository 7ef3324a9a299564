# The kernel identity: what stands in keys for "our kernels and the code that plans them" (engine/kernels/README.md).
#
#   include()d:  enginery_kernel_identity(SCOPE OUT)   the identity of SCOPE, from the sources and the declarations
#                enginery_watched_hash(SCOPE OUT)      the hash of its sources; configures again when one changes
#   cmake -DROOT=<source folder> -P kernel_identity.cmake                        prints each scope; fails when one is undeclared
#   cmake -DROOT=... -DDECLARE=same|new "-DREASON=..." -P kernel_identity.cmake  declares the sources as they are now
# deploy/kernel-identity is the command for people.
if(NOT DEFINED ROOT)
  set(ROOT ${PROJECT_SOURCE_DIR})
endif()
set(ENGINERY_IDENTITY_FILE ${ROOT}/engine/kernels/identity.txt)
# sources: every kernel and tactic, in each action key. cpu, gpu: what decides the text, the packing and the launch of a kernel or
# library call on such a device, and the gate that it must pass, in the key of each of its timings.
set(ENGINERY_IDENTITY_SCOPES sources cpu gpu)
set(ENGINERY_IDENTITY_FOLDERS_sources engine/kernels engine/tactics engine/ops/float64_function.h)
set(ENGINERY_IDENTITY_FOLDERS_cpu engine/kernels/cpu engine/tactics/cpu engine/tactics/shapes engine/ops/float64_function.h tuner/gate)
set(ENGINERY_IDENTITY_FOLDERS_gpu engine/kernels/cuda engine/tactics/cuda engine/tactics/shapes engine/ops/float64_function.h tuner/gate)
# The one header of engine/ops is kernels' text: the expressions of float64's functions.
# What decides the structure that a model has; in validation's key as it is, undeclared, since validating again costs little.
set(ENGINERY_IDENTITY_FOLDERS_graph engine/graph engine/ops engine/import engine/passes engine/compile)

function(enginery_identity_sources scope out)
  set(files)
  foreach(folder ${ENGINERY_IDENTITY_FOLDERS_${scope}})
    # CONFIGURE_DEPENDS has no meaning in a script.
    if(NOT CMAKE_SCRIPT_MODE_FILE)
      set(depends CONFIGURE_DEPENDS)
    endif()
    file(GLOB_RECURSE found ${depends} ${ROOT}/${folder} ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cuh ${ROOT}/${folder}/*.inc)
    list(APPEND files ${found})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# A hash of the code alone: no comments, no white space, no include lines, no file names, no order of files. Adjacent string
# literals count as one. So moving, reformatting and commenting change nothing; a renamed identifier does.
function(enginery_sources_hash scope out)
  enginery_identity_sources(${scope} files)
  set(hashes)
  foreach(file ${files})
    file(READ ${file} text)
    set(text "\n${text}")
    string(REGEX REPLACE "\n(([^\"/\n]|\"([^\"\\\\\n]|\\\\.)*\"|/[^/\"\n])*)//[^\n]*" "\n\\1" text "${text}")
    string(REGEX REPLACE "\n[ \t]*#[ \t]*(include|pragma once)[^\n]*" "\n" text "${text}")
    string(REGEX REPLACE "[ \t\r\n]+" "" text "${text}")
    string(REPLACE "\"\"" "" text "${text}")
    if(NOT text STREQUAL "")
      string(SHA256 hash "${text}")
      list(APPEND hashes ${hash})
    endif()
  endforeach()
  list(SORT hashes)
  string(SHA256 hash "${hashes}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(${out} ${hash} PARENT_SCOPE)
endfunction()

# Sets OUT_HASH and OUT_IDENTITY to what identity.txt says of the scope; both empty where it says nothing.
function(enginery_declared scope out_hash out_identity)
  set(${out_hash} "" PARENT_SCOPE)
  set(${out_identity} "" PARENT_SCOPE)
  file(STRINGS ${ENGINERY_IDENTITY_FILE} lines REGEX "^${scope} ")
  foreach(line IN LISTS lines)
    if(line MATCHES "^${scope} ([0-9a-f]+) ([0-9a-f]+) ")
      set(${out_hash} ${CMAKE_MATCH_1} PARENT_SCOPE)
      set(${out_identity} ${CMAKE_MATCH_2} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

function(enginery_watched_hash scope out)
  enginery_identity_sources(${scope} files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  enginery_sources_hash(${scope} hash)
  set(${out} ${hash} PARENT_SCOPE)
endfunction()

# The declared identity where the declaration is of just these sources, else their hash: an undeclared change is another toolchain.
function(enginery_kernel_identity scope out)
  enginery_watched_hash(${scope} hash)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ENGINERY_IDENTITY_FILE})
  enginery_declared(${scope} declared identity)
  if(hash STREQUAL declared)
    set(${out} ${identity} PARENT_SCOPE)
  else()
    set(${out} ${hash} PARENT_SCOPE)
  endif()
endfunction()

function(enginery_check_identities)
  set(wrong FALSE)
  foreach(scope IN LISTS ENGINERY_IDENTITY_SCOPES)
    enginery_sources_hash(${scope} hash)
    enginery_declared(${scope} declared identity)
    if(hash STREQUAL declared)
      message("${scope}: sources ${hash} have the identity ${identity}")
    else()
      message("${scope}: sources ${hash} are not the declared ones, ${declared} with the identity ${identity}")
      set(wrong TRUE)
    endif()
  endforeach()
  if(wrong)
    message("Kernel or tactic sources changed: with keys of their own, no catalog made before answers any more.\n"
            "  generated code, choices and launches are as before:  deploy/kernel-identity --same 'why they are'\n"
            "  they differ, what was built and timed before is out: deploy/kernel-identity --new 'what differs'")
    message(FATAL_ERROR "engine/kernels/identity.txt does not declare these sources")
  endif()
endfunction()

function(enginery_declare_identities)
  if("${REASON}" STREQUAL "")
    message(FATAL_ERROR "a declaration needs its reason")
  endif()
  file(READ ${ENGINERY_IDENTITY_FILE} text)
  foreach(scope IN LISTS ENGINERY_IDENTITY_SCOPES)
    enginery_sources_hash(${scope} hash)
    enginery_declared(${scope} declared identity)
    if(NOT hash STREQUAL declared)
      if(DECLARE STREQUAL "new" OR identity STREQUAL "")
        set(identity ${hash})
      endif()
      string(REGEX REPLACE "\n${scope} [^\n]*" "\n${scope} ${hash} ${identity} ${REASON}" text "${text}")
    endif()
  endforeach()
  file(WRITE ${ENGINERY_IDENTITY_FILE} "${text}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  if(DEFINED DECLARE)
    enginery_declare_identities()
  endif()
  enginery_check_identities()
endif()
