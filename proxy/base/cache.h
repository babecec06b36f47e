// A Cache keeps values made from an input and makes them again only if the input has changed.
//
// It works in rounds. A round asks for all values that it needs and ends with sweep(), which drops the values that the
// round did not ask for; so it never has more values than two rounds made. It always returns what `make` would return,
// whichever values it has. It belongs to one owner and one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace sluice::base {

template <typename Key, typename Made>
class Cache {
 public:
  /// Returns the value kept for `key` if `holds` says that `make` would return the same, else the new result of `make`.
  /// `key` may have any type that a Key can be compared with and constructed from. The result stays valid until
  /// sweep(), or until the next get() of `key` for which `holds` is false.
  template <typename Name, typename Holds, typename Make>
  const Made& get(const Name& key, Holds&& holds, Make&& make) {
    auto entry = find(key);
    if (entry == entries_.end()) {
      entry = entries_.emplace(Key(key), CachedValue{make(), round_}).first;
    } else if (!holds(std::as_const(entry->second.made))) {
      entry->second.made = make();
    }
    entry->second.round = round_;
    next_.entry = std::next(entry);
    next_.known = true;
    return entry->second.made;
  }

  /// Returns the value kept for `key` where the key alone decides the value.
  template <typename Name, typename Make>
  const Made& get(const Name& key, Make&& make) {
    return get(
        key, [](const Made&) { return true; }, std::forward<Make>(make));
  }

  /// Calls `visit` with each value that is kept. After sweep() these are the values that the last round asked for.
  template <typename Visit>
  void forEach(Visit&& visit) const {
    for (const auto& [key, entry] : entries_) visit(key, entry.made);
  }

  /// Ends a round.
  void sweep() {
    std::erase_if(entries_, [this](const auto& entry) { return entry.second.round != round_; });
    ++round_;
    next_ = {};
  }

 private:
  struct CachedValue {
    Made made;
    std::uint64_t round;  // last round that asked for it
  };
  using Entries = std::map<Key, CachedValue, std::less<>>;

  /// The entry after the one that was returned last. A copy begins without it, because it would point into the
  /// original.
  struct Successor {
    Successor() = default;
    Successor(const Successor& /*other*/) {}
    Successor& operator=(const Successor& /*other*/) {
      known = false;
      return *this;
    }
    typename Entries::iterator entry;
    bool known = false;
  };

  /// Tries the next entry first, because rounds mostly ask in the order of the keys, as for the files of a folder.
  template <typename Name>
  typename Entries::iterator find(const Name& key) {
    if (next_.known && next_.entry != entries_.end() && next_.entry->first == key) return next_.entry;
    return entries_.find(key);
  }

  Entries entries_;
  Successor next_;
  std::uint64_t round_ = 0;
};

}  // namespace sluice::base
