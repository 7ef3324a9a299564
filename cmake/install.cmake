# What `cmake --install` puts where, in five components, which are the five Debian packages of `cpack`:
#   enginery        the command, its manual pages, its completion, its systemd units
#   libenginery0    the runtime's shared library
#   libenginery-build0 the library that builds engines in a user's program
#   libenginery-dev headers, find_package(enginery), pkg-config, the examples
#   python3-enginery the Python package
# `cmake --build BUILD --target uninstall` removes what was installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(templates ${CMAKE_CURRENT_LIST_DIR}/install)
set(made ${PROJECT_BINARY_DIR}/install)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/enginery)

install(TARGETS enginery RUNTIME COMPONENT enginery)
# Manual pages and completion are the command's own --help: made when they are installed, by running it.
install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} -DENGINERY=$<TARGET_FILE:enginery> -DFOLDER=${made}
  -P ${templates}/describe.cmake COMMAND_ERROR_IS_FATAL ANY)" COMPONENT enginery)
install(DIRECTORY ${made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT enginery)
install(FILES ${made}/completion.bash RENAME enginery DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT enginery)
install(FILES ${made}/completion.zsh RENAME _enginery DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT enginery)
install(FILES ${made}/completion.fish RENAME enginery.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT enginery)
install(FILES deploy/service/enginery-coordinator.service deploy/service/enginery-worker@.service DESTINATION lib/systemd/system
  COMPONENT enginery)

install(TARGETS enginery_shared LIBRARY COMPONENT libenginery0 NAMELINK_COMPONENT libenginery-dev)
install(TARGETS enginery_build_shared LIBRARY COMPONENT libenginery-build0 NAMELINK_COMPONENT libenginery-dev)
# Relative, so that a tree that was moved or unpacked elsewhere still serves.
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${templates}/enginery.pc.in ${made}/enginery.pc @ONLY)
configure_file(${templates}/enginery-build.pc.in ${made}/enginery-build.pc @ONLY)
configure_package_config_file(${templates}/enginery-config.cmake.in ${made}/enginery-config.cmake INSTALL_DESTINATION ${package_folder}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${made}/enginery-config-version.cmake COMPATIBILITY SameMinorVersion)
set(public_headers enginery.h enginery.hpp build.h network.hpp build.hpp)
list(TRANSFORM public_headers PREPEND engine/include/enginery/)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/enginery COMPONENT libenginery-dev)
install(FILES ${made}/enginery-config.cmake ${made}/enginery-config-version.cmake DESTINATION ${package_folder} COMPONENT libenginery-dev)
install(FILES ${made}/enginery.pc ${made}/enginery-build.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libenginery-dev)
install(DIRECTORY examples/camera examples/classifier examples/edges examples/pytorch DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT libenginery-dev)

# Where Debian's python3 looks.
install(DIRECTORY python/enginery DESTINATION lib/python3/dist-packages COMPONENT python3-enginery
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt -P ${templates}/uninstall.cmake)

# cpack: one .deb a component; what each depends on is read from its binaries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME enginery)
set(CPACK_PACKAGE_CONTACT "enginery <enginery@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "build farm and runtime for neural-network inference engines")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL enginery libenginery0 libenginery-build0 libenginery-dev python3-enginery)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Says to packages of others which package has the library.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY >=)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_DEBIAN_ENGINERY_PACKAGE_NAME enginery)
set(CPACK_DEBIAN_ENGINERY_PACKAGE_SECTION science)
set(CPACK_DEBIAN_ENGINERY_PACKAGE_RECOMMENDS bubblewrap)
set(CPACK_DEBIAN_LIBENGINERY0_PACKAGE_NAME libenginery0)
set(CPACK_DEBIAN_LIBENGINERY0_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBENGINERY-BUILD0_PACKAGE_NAME libenginery-build0)
set(CPACK_DEBIAN_LIBENGINERY-BUILD0_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBENGINERY-DEV_PACKAGE_NAME libenginery-dev)
set(CPACK_DEBIAN_LIBENGINERY-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBENGINERY-DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LIBENGINERY-DEV_PACKAGE_DEPENDS "libenginery0 (= ${PROJECT_VERSION}), libenginery-build0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON3-ENGINERY_PACKAGE_NAME python3-enginery)
set(CPACK_DEBIAN_PYTHON3-ENGINERY_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON3-ENGINERY_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-ENGINERY_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON3-ENGINERY_PACKAGE_DEPENDS "python3, python3-numpy, libenginery0 (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON3-ENGINERY_PACKAGE_RECOMMENDS "enginery, libenginery-build0")
include(CPack)
