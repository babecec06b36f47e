// Leftovers are the parts of an object that its counterpart in our spelling lacks, with the reasons. They are plain
// values.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/ground/finding.h"
#include "config/ground/object_meta.h"
#include "config/model/processor_model.h"

namespace sluice::config {

struct Leftover {
  Finding finding;
  bool closes = false;  // requests are refused because of the field, as long as the object has it
};

class Leftovers {
 public:
  /// Adds a field without a counterpart.
  void add(std::string field, std::string why) { all_.push_back({{std::move(field), std::move(why)}, false}); }
  /// Adds the fields that the reader noted as unsupported.
  void add(const std::vector<UnsupportedField>& unsupported) {
    for (const UnsupportedField& each : unsupported) all_.push_back({{each.path, each.message}, each.altersTraffic});
  }
  /// Does the same for the fields inside the uses of processors.
  void add(const std::vector<ProcessorUse>& uses) {
    for (const ProcessorUse& each : uses) add(each.unsupported);
  }
  /// Adds the reason why our spelling cannot express the object at all, so that it stays in its own one.
  void refuse(std::string field, std::string_view why) {
    stays_ = true;
    add(std::move(field), std::string(why) + ": the object stays as it is");
  }

  /// Called with what is left of the counterpart. Where it refuses the same requests, nothing is opened.
  void compare(const Leftovers& counterpart) {
    for (Leftover& each : all_) each.closes = each.closes && !counterpart.closesFor(each.finding.message);
  }

  bool stays() const { return stays_; }
  bool empty() const { return all_.empty(); }
  const std::vector<Leftover>& all() const { return all_; }

 private:
  bool closesFor(const std::string& why) const {
    return std::any_of(all_.begin(), all_.end(),
                       [&why](const Leftover& each) { return each.closes && each.finding.message == why; });
  }

  std::vector<Leftover> all_;
  bool stays_ = false;
};

}  // namespace sluice::config
