# <xxhash.h>, 0.8 or newer, to build the library: it is used as a header alone, so users of the installed library do without.
find_path(CUPRUM_XXHASH_INCLUDE xxhash.h DOC "Folder of xxhash.h")
if(NOT CUPRUM_XXHASH_INCLUDE)
  message(FATAL_ERROR "xxHash's header was not found: install it (Debian: libxxhash-dev), or pass -DCUPRUM_XXHASH_INCLUDE=/folder (the one that has xxhash.h)")
endif()
add_library(cuprum_xxhash_header INTERFACE)
target_include_directories(cuprum_xxhash_header SYSTEM INTERFACE ${CUPRUM_XXHASH_INCLUDE})
