// A Memo keeps what was made of an input, so that it need not be made again while the input is the same.
//
// It works in rounds, each of which asks for all that it needs and ends with sweep(): what a round did not ask for is
// forgotten, so a memo never holds more than two rounds made. What it returns is what `make` would have made, whatever
// it has seen before. It belongs to whoever makes things again and again, and to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace sluice::base {

template <typename Key, typename Made>
class Memo {
 public:
  /// Returns what was made for `key` if `holds` says that it would come out the same, else what `make` makes now. `key`
  /// may be whatever a Key is compared with and made from. The result stays where it is until sweep(), or until it is
  /// asked for and does not hold any more.
  template <typename Name, typename Holds, typename Make>
  const Made& get(const Name& key, Holds&& holds, Make&& make) {
    auto entry = entries_.find(key);
    if (entry == entries_.end()) {
      entry = entries_.emplace(Key(key), Entry{make(), round_}).first;
    } else if (!holds(std::as_const(entry->second.made))) {
      entry->second.made = make();
    }
    entry->second.round = round_;
    return entry->second.made;
  }

  /// Does the same where the key alone decides what is made.
  template <typename Name, typename Make>
  const Made& get(const Name& key, Make&& make) {
    return get(
        key, [](const Made&) { return true; }, std::forward<Make>(make));
  }

  /// Ends a round.
  void sweep() {
    std::erase_if(entries_, [this](const auto& entry) { return entry.second.round != round_; });
    ++round_;
  }

 private:
  struct Entry {
    Made made;
    std::uint64_t round;  // the last one that asked for it
  };
  std::map<Key, Entry, std::less<>> entries_;
  std::uint64_t round_ = 0;
};

}  // namespace sluice::base
