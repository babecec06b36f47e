// Finds the objects of a cluster that may matter to some of its Gateways. A process that serves one Gateway follows
// kinds as a whole; it should neither read the Secrets of objects that it does not need nor report on these objects.
//
// An object is left out only if nothing can lead to it: its namespace is that of no Gateway and no route, and no object
// that stays has a word that is the name of the namespace; or it is a Backend, and no object that stays names it: with
// the words of its name and its namespace, or with that of its name from within its namespace. In a ConfigMap, or an
// object without a namespace, the name is enough, because it may be a reference of whoever uses that. A word is any
// text that may be a name, anywhere in the object. So all objects that may matter are kept, and some more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/load/object_set.h"
#include "config/yaml/source_text.h"

namespace sluice::kubernetes {

/// Remembers the words of the texts that it has seen, so that one changed object costs little. One thread.
class ReachedObjects {
 public:
  /// `set` has the Gateways that are served and their routes, and no others.
  config::ObjectSet of(const config::ObjectSet& set);

  using NameId = std::uint32_t;
  using NameIds = std::vector<NameId>;

 private:
  friend class ReachSearch;
  /// Returns the number of the name of a namespace or a Backend.
  NameId numberOf(const std::string& name);
  /// Returns the names in a text, each once.
  const NameIds& namesIn(const std::shared_ptr<const config::KeptText>& text, std::string_view part);
  NameIds findNames(std::string_view part) const;
  void forget();

  struct SeenText {
    std::shared_ptr<const config::KeptText> text;  // keeps the address, which is the key
    NameIds names;
    std::uint64_t round = 0;  // the round that asked for it last
  };

  std::unordered_map<std::string, NameId> numbers_;
  std::unordered_map<const config::KeptText*, SeenText> seen_;  // with the names of numbers_
  std::uint64_t round_ = 0;
};

}  // namespace sluice::kubernetes
