#include "proxy/compile/ground/fault.h"

#include <algorithm>

namespace sluice::compile {

Fault withConsequence(Fault fault, std::string_view consequence) {
  fault.message += consequence;
  for (config::Finding& part : fault.parts) part.message += consequence;
  return fault;
}

std::optional<Fault> joined(const std::vector<Fault>& faults) {
  if (faults.empty()) return std::nullopt;
  if (faults.size() == 1) return faults.front();
  Fault all = fault(faults.front().reason, {});
  all.summary = std::all_of(faults.begin(), faults.end(), [](const Fault& each) { return each.summary; });
  for (const Fault& each : faults) {
    if (!all.message.empty()) all.message += "; ";
    all.message += each.text();
    if (each.summary) continue;
    if (each.parts.empty()) all.parts.push_back(noteOf(each));
    all.parts.insert(all.parts.end(), each.parts.begin(), each.parts.end());
  }
  return all;
}

std::optional<Fault> alteringFault(const std::vector<config::UnsupportedField>& unsupported) {
  std::vector<Fault> faults;
  for (const config::UnsupportedField& field : unsupported) {
    if (field.altersTraffic) faults.push_back(fault(config::reason::kUnsupportedValue, field.path, field.message));
  }
  return joined(faults);
}

std::vector<config::Finding> ignoredNotes(const std::vector<config::UnsupportedField>& unsupported) {
  std::vector<config::Finding> notes;
  for (const config::UnsupportedField& field : unsupported) {
    if (!field.altersTraffic) notes.push_back({field.path, field.message + " (UnsupportedValue, ignored)"});
  }
  return notes;
}

}  // namespace sluice::compile
