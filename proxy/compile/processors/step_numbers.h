// StepNumbers has a number for each type of payload processor in each phase. Workers find the metrics of a step by it
// without comparing names.
//
// There is one StepNumbers for the life of a process, because workers run steps of several configurations at the same
// time. It belongs to the loading thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "proxy/processing/phase.h"

namespace sluice::compile {

class StepNumbers {
 public:
  /// Returns the number of the type in that phase, which is the same each time and never 0.
  std::uint32_t of(std::string_view type, processing::Phase phase) {
    auto& numbers = numbers_[static_cast<std::size_t>(phase)];
    const auto found = numbers.find(type);
    return found != numbers.end() ? found->second : numbers.emplace(type, ++last_).first->second;
  }

 private:
  std::array<std::map<std::string, std::uint32_t, std::less<>>, processing::kPhases> numbers_;
  std::uint32_t last_ = 0;
};

}  // namespace sluice::compile
