#include "facts_json.hpp"

#include <nlohmann/json.hpp>

namespace cuprum::cli {

using Json = nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceFacts, id, name, architecture, memory)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DriverFacts, name, path, version, devices, problem)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Place, path, how)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryFacts, name, path, how, via, version, cuda_version, problem, shadowed,
                                   without_linker_path)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompilerFacts, library, builtins, header_folders, remarks, architectures)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HeaderFacts, path, how, cuda_version)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CacheFacts, name, path, bytes, limit, files, problem)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TourFacts, driver, device, seconds, problem)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Facts, version, variables, kernel_module, forbidden_devices, nvidia, softgpu, nvrtc,
                                   libraries, headers, libdevice, caches, tour)
NLOHMANN_JSON_SERIALIZE_ENUM(Severity,
                             {{Severity::note, "note"}, {Severity::warning, "warning"}, {Severity::error, "error"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finding, severity, id, what, advice)

namespace {
std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }
}  // namespace

template <typename T>
std::string encode(const T& facts) {
  return dump(Json(facts), -1);
}

template <typename T>
T decode(const std::string& text) {
  return Json::parse(text).get<T>();
}

template std::string encode(const DriverFacts&);
template DriverFacts decode(const std::string&);
template std::string encode(const LibraryFacts&);
template LibraryFacts decode(const std::string&);
template std::string encode(const CompilerFacts&);
template CompilerFacts decode(const std::string&);
template std::string encode(const TourFacts&);
template TourFacts decode(const std::string&);
template std::string encode(const std::vector<LibraryFacts>&);
template std::vector<LibraryFacts> decode(const std::string&);

std::string report_json(const Facts& facts, const std::vector<Finding>& findings) {
  Json report = facts;
  report["findings"] = findings;
  report["tour_runs"] = facts.tour.problem.empty();
  return dump(report, 2);
}

}  // namespace cuprum::cli
