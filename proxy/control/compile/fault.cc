#include "proxy/control/compile/fault.h"

namespace sluice::control {

std::string joinMessages(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) {
    if (!text.empty()) text += "; ";
    text += fault.message;
  }
  return text;
}

std::optional<Fault> alteringFault(const std::vector<config::UnsupportedField>& unsupported) {
  std::vector<Fault> faults;
  for (const config::UnsupportedField& field : unsupported) {
    if (field.altersTraffic)
      faults.push_back({std::string(config::reason::kUnsupportedValue), field.path + ": " + field.message});
  }
  if (faults.empty()) return std::nullopt;
  return Fault{faults.front().reason, joinMessages(faults)};
}

std::string ignoredNote(const std::vector<config::UnsupportedField>& unsupported) {
  std::string note;
  for (const config::UnsupportedField& field : unsupported) {
    if (field.altersTraffic) continue;
    note += note.empty() ? "UnsupportedValue, ignored: " : "; ";
    note += field.path + ": " + field.message;
  }
  return note;
}

}  // namespace sluice::control
