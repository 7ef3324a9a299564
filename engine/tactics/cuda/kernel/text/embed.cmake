# Writes OUTPUT, a C++ file with each of TEXTS as a string literal, found by its path below FOLDER. Headers that the host shares
# (args.h) lose what only the host's compiler needs: #pragma once and includes.
set(out "#include \"engine/tactics/cuda/kernel/text/program.h\"\n\nnamespace enginery {\n\nstd::string_view kernel_text(std::string_view file) {\n")
foreach(text ${TEXTS})
  file(RELATIVE_PATH name ${FOLDER} ${text})
  file(READ ${text} content)
  string(REPLACE "#pragma once\n" "" content "${content}")
  string(REGEX REPLACE "#include [^\n]*\n" "" content "${content}")
  string(APPEND out "  if (file == \"${name}\") return R\"~~~~(${content})~~~~\";\n")
endforeach()
string(APPEND out "  return {};\n}\n\n}  // namespace enginery\n")
file(WRITE ${OUTPUT} "${out}")
