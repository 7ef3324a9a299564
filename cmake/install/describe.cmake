# The manual pages and the completion of the command, from what it says of itself.
#   cmake -DENGINERY=<the command> -DFOLDER=<output> -P describe.cmake      writes FOLDER/man1/*.1 and FOLDER/completion.{bash,zsh,fish}
function(output_of out)
  execute_process(COMMAND ${ENGINERY} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Text as it is, for man: no backslash or minus is changed, no line is a request.
function(as_roff text out)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# write_page(PAGE SUMMARY HELP SEE): FOLDER/man1/PAGE.1; HELP is preformatted.
function(write_page page summary help see)
  string(TOUPPER ${page} title)
  as_roff("${summary}" summary)
  as_roff("${help}" help)
  as_roff("${page}" name)
  file(WRITE ${FOLDER}/man1/${page}.1 ".TH ${title} 1 \"\" \"${version}\" \"enginery\"
.SH NAME
${name} \\- ${summary}
.SH DESCRIPTION
.nf
${help}.fi
.SH SEE ALSO
${see}
")
endfunction()

file(REMOVE_RECURSE ${FOLDER}/man1)
output_of(version --version)
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${version}")
output_of(overview --help)
# The rows of the overview: two blanks, the verb, blanks, its summary.
string(REPLACE ";" "," rows "${overview}")
string(REGEX MATCHALL "\n  [a-z][a-z-]* +[^\n]+" rows "${rows}")
set(pages)
foreach(row IN LISTS rows)
  string(REGEX MATCH "^\n  ([a-z-]+) +(.+)$" row "${row}")
  set(verb ${CMAKE_MATCH_1})
  set(summary ${CMAKE_MATCH_2})
  output_of(help ${verb} --help)
  write_page(enginery-${verb} "${summary}" "${help}" ".BR enginery (1)")
  list(APPEND pages ".BR enginery\\-${verb} (1)")
endforeach()
if(NOT pages)
  message(FATAL_ERROR "enginery --help lists no verb")
endif()
list(JOIN pages ",\n" see)
write_page(enginery "builds tuned, signed inference engines from trained models" "${overview}" "${see}")

foreach(shell bash zsh fish)
  output_of(completion completion ${shell})
  file(WRITE ${FOLDER}/completion.${shell} "${completion}")
endforeach()
