# cmake -D OUTPUT=FILE -D SOURCES=FILE|FILE... -P together.cmake: writes the files of a test program one behind the other into one. What a
# file keeps to itself, in a namespace without a name, gets one of the file's there, so that helpers of several files may have one name.
string(REPLACE "|" ";" _sources "${SOURCES}")
set(_together "")
foreach(_source IN LISTS _sources)
  file(READ "${_source}" _text)
  string(MAKE_C_IDENTIFIER "${_source}" _name)
  string(REPLACE "\nnamespace {" "\nnamespace ${_name} {" _text "${_text}")
  string(APPEND _together "#line 1 \"${_source}\"\n${_text}\n")
endforeach()
file(WRITE "${OUTPUT}" "${_together}")
