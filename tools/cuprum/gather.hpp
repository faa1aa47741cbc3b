// Finding out the facts for `cuprum doctor`. Whatever may crash or can be done but once is done in a process of its
// own, so nothing here uses CUDA in this one.
#pragma once

#include "facts.hpp"

namespace cuprum::cli {

Facts gather_facts();

// The parts, each in the file of its name.
DriverFacts gather_nvidia_driver();
DriverFacts gather_softgpu();
CompilerFacts gather_nvrtc();
std::vector<LibraryFacts> gather_libraries();
/// Notes which of the libraries in `facts` were found only because of LD_LIBRARY_PATH.
void note_linker_path(Facts& facts);
std::vector<HeaderFacts> gather_headers();
std::vector<CacheFacts> gather_caches();
TourFacts run_tour();

}  // namespace cuprum::cli
