// The processors of the last compilation: one of whose use nothing changed, nor anything in the Secrets and grants that
// it looked at, stays the same object.
//
// What comes out of compile() never depends on it. Loading thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "proxy/processing/factory.h"

namespace sluice::control {

class ProcessorMemo {
 public:
  /// Between two of these is one compilation; the processors that it had no more are forgotten.
  void begin() { ++round_; }
  void end() {
    std::erase_if(entries_, [this](const auto& each) { return each.second.round != round_; });
  }
  /// What `type` makes of `use`, or has made of the same before.
  processing::Made make(const processing::BuiltinType& type, const processing::Use& use);

 private:
  /// A question that the type asked while it made the processor, and what it was told.
  struct Lookup {
    std::string nameSpace;
    std::string name;
    std::string key;
    processing::FoundSecret answer;
  };
  class Witness;
  struct Entry {
    content::Value config;
    std::vector<Lookup> lookups;
    processing::Made made;
    std::uint64_t round = 0;
  };
  /// Owner, name, type, phase, preAuth, exposed.
  using Key = std::tuple<std::string, std::string, std::string, processing::Phase, bool, bool>;

  static bool holds(const Entry& entry, const processing::Use& use);

  std::map<Key, Entry> entries_;
  std::uint64_t round_ = 0;
};

}  // namespace sluice::control
