// A NameTable finds the rules of an EgressPolicy whose hostnames match a name. It looks up the whole name, and those of
// its suffixes that are as long as one of a wildcard. So the time hardly depends on the number of hostnames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::routing {

using RuleHostname = std::pair<std::string, std::size_t>;  // and the index of the rule

/// `Rules` is a RuleSet.
template <typename Rules>
class NameTable {
 public:
  NameTable() = default;
  /// The rules of `always` match all names, even the empty one. The hostnames are in lower case: exact, or "*.suffix"
  /// for one label or more before the suffix.
  NameTable(const Rules& always, const std::vector<RuleHostname>& hostnames);

  /// `name` is in lower case and has no trailing dot.
  Rules find(std::string_view name) const;

 private:
  /// A name that hostnames consist of, or end with.
  struct Entry {
    std::string name;
    Rules exact;  // rules with this hostname
    Rules below;  // rules with "*." and this name
  };
  /// Hashes are apart from names, so a look-up hardly ever touches the entry of another name.
  struct NameSlot {
    std::uint64_t hash = 0;  // of the entry's name; 0 in a free slot
    std::size_t entry = 0;
  };

  const Entry* lookUp(std::string_view name) const;
  Entry& entryOf(const std::string& name);

  Rules always_;
  std::vector<Entry> entries_;
  std::vector<NameSlot> slots_;             // a power of two, at most half of them taken; empty without hostnames
  std::size_t mask_ = 0;                    // of the index of a slot
  std::vector<std::size_t> suffixLengths_;  // the lengths of suffixes of wildcards, each of them once
};

}  // namespace sluice::routing
