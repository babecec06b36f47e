#include "proxy/kubernetes/objects/reached_objects.h"

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/read/object_kinds.h"

namespace sluice::kubernetes {
namespace {

constexpr bool isOfName(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

/// Calls the function with each word of a JSON text, and for a word with dots also with its parts.
template <typename Visit>
void forEachWord(std::string_view json, Visit&& visit) {
  for (std::size_t i = 0; i < json.size();) {
    if (json[i] == '\\') {
      i += i + 1 < json.size() && json[i + 1] == 'u' ? 6 : 2;  // an escaped character is part of no name
      continue;
    }
    std::size_t end = i;
    bool dots = false;
    for (; end < json.size() && isOfName(json[end]); ++end) dots = dots || json[end] == '.';
    if (end == i) {
      ++i;
      continue;
    }
    visit(json.substr(i, end - i));
    for (std::size_t from = i; dots && from < end;) {
      const std::size_t dot = std::min(json.find('.', from), end);
      visit(json.substr(from, dot - from));
      from = dot + 1;
    }
    i = end;
  }
}

/// Returns the object of a text; null if it has several or cannot be read. Such a text is always kept.
const config::ObjectReading* objectOf(const config::ObjectSet& set, std::size_t index) {
  const auto& readings = *set.readings[index];
  return readings.size() == 1 && readings.front().kind != nullptr ? &readings.front() : nullptr;
}

const std::string& reachedNamespaceOf(const config::ObjectReading& object) {
  return object.kind->isOf<config::Namespace>() ? object.identity.name : object.identity.nameSpace;
}

/// Returns true for kinds whose objects are followed by their names.
bool isFollowedByName(const config::ObjectKind& kind) {
  return kind.isOf<config::SecretObject>() || kind.isOf<config::ConfigMap>() || kind.isOf<config::Service>() ||
         kind.isOf<config::EndpointSlice>();
}

/// Returns the part of a text that may name other objects. Objects that are followed by name are not searched, because
/// they would else stay reached for ever; but a ConfigMap may contain settings or a catalog.
std::string_view namingPart(const config::KeptText& text, const config::ObjectReading* object) {
  const std::string_view all = text.text.reveal();
  if (object == nullptr || !isFollowedByName(*object->kind)) return all;
  const std::size_t data = object->kind->isOf<config::ConfigMap>() ? all.find("\"data\":") : all.npos;
  return data == all.npos ? std::string_view() : all.substr(data);
}

}  // namespace

/// Finds the reached objects of one set, from one object to the next.
class ReachSearch {
 public:
  using NameId = ReachedObjects::NameId;

  ReachSearch(const config::ObjectSet& set, ReachedObjects& names)
      : set_(set), names_(names), stays_(set.readings.size(), false) {
    // All names have numbers before the first text is searched for them.
    for (std::size_t i = 0; i < set.readings.size(); ++i) index(i);
    for (std::size_t i = 0; i < set.readings.size(); ++i) begin(i);
  }

  std::vector<bool> find() {
    for (; !toRead_.empty(); toRead_.pop_front()) read(toRead_.front());
    return std::move(stays_);
  }

 private:
  struct IndexedBackend {
    NameId nameSpace;
    std::size_t index;
  };
  /// The objects that a name may lead to.
  struct Led {
    std::vector<std::size_t> ofNamespace;  // the objects of the namespace of this name, except Backends
    std::vector<IndexedBackend> backends;  // the Backends of this name, in all namespaces
    std::size_t namedBy = 0;               // the number of the last text that has this name
  };

  /// Most objects have the namespace of the one before.
  NameId numberOfNamespace(const std::string& nameSpace) {
    if (lastNamespace_ == nullptr || *lastNamespace_ != nameSpace) {
      lastNamespace_ = &nameSpace;
      lastNumber_ = numberOf(nameSpace);
    }
    return lastNumber_;
  }
  NameId numberOf(const std::string& name) {
    const NameId number = names_.numberOf(name);
    if (number >= led_.size()) led_.resize(number + 1);
    return number;
  }

  void index(std::size_t index) {
    const config::ObjectReading* object = objectOf(set_, index);
    if (object == nullptr) return;
    const NameId nameSpace = numberOfNamespace(reachedNamespaceOf(*object));
    if (object->kind->isOf<config::Backend>()) {
      led_[numberOf(object->identity.name)].backends.push_back({nameSpace, index});
    } else {
      led_[nameSpace].ofNamespace.push_back(index);
    }
  }

  void begin(std::size_t index) {
    const config::ObjectReading* object = objectOf(set_, index);
    if (object == nullptr || reachedNamespaceOf(*object).empty()) return keep(index);
    const config::ObjectKind& kind = *object->kind;
    const bool hasTraffic =
        kind.isOf<config::Gateway>() || kind.isOf<config::HttpRoute>() || kind.isOf<config::GrpcRoute>();
    if (!hasTraffic && !isFollowedByName(kind)) return;
    keep(index);
    if (hasTraffic) keepNamespace(numberOfNamespace(reachedNamespaceOf(*object)));
  }

  void keep(std::size_t index) {
    if (stays_[index]) return;
    stays_[index] = true;
    toRead_.push_back(index);
  }
  void keepNamespace(NameId nameSpace) {
    for (const std::size_t each : std::exchange(led_[nameSpace].ofNamespace, {})) keep(each);
  }

  void read(std::size_t index) {
    const config::ObjectReading* object = objectOf(set_, index);
    const ReachedObjects::NameIds& named = names_.namesIn(set_.texts[index], namingPart(*set_.texts[index], object));
    const bool anyNamespace =
        object == nullptr || reachedNamespaceOf(*object).empty() || object->kind->isOf<config::ConfigMap>();
    ++texts_;
    for (const NameId name : named) led_[name].namedBy = texts_;
    if (!anyNamespace) led_[numberOfNamespace(reachedNamespaceOf(*object))].namedBy = texts_;
    for (const NameId name : named) {
      keepNamespace(name);
      std::erase_if(led_[name].backends, [&](const IndexedBackend& each) {
        const bool isNamed = anyNamespace || led_[each.nameSpace].namedBy == texts_;
        if (isNamed) keep(each.index);
        return isNamed;
      });
    }
  }

  const config::ObjectSet& set_;
  ReachedObjects& names_;
  std::vector<bool> stays_;
  std::deque<std::size_t> toRead_;
  std::vector<Led> led_;  // by the number of the name
  std::size_t texts_ = 0;
  const std::string* lastNamespace_ = nullptr;
  NameId lastNumber_ = 0;
};

ReachedObjects::NameId ReachedObjects::numberOf(const std::string& name) {
  const auto [entry, isNew] = numbers_.try_emplace(name, static_cast<NameId>(numbers_.size()));
  if (isNew) seen_.clear();  // texts may have this name
  return entry->second;
}

ReachedObjects::NameIds ReachedObjects::findNames(std::string_view part) const {
  NameIds names;
  std::string name;
  forEachWord(part, [&](std::string_view word) {
    name = word;
    if (const auto found = numbers_.find(name); found != numbers_.end()) names.push_back(found->second);
  });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  names.shrink_to_fit();
  return names;
}

const ReachedObjects::NameIds& ReachedObjects::namesIn(const std::shared_ptr<const config::KeptText>& text,
                                                       std::string_view part) {
  const auto [entry, isNew] = seen_.try_emplace(text.get());
  if (isNew) entry->second = {text, findNames(part), 0};
  entry->second.round = round_;
  return entry->second.names;
}

/// Forgets texts that the last set did not have, and names once most of them may be of objects that are gone.
void ReachedObjects::forget() {
  std::erase_if(seen_, [this](const auto& each) { return each.second.round != round_; });
  constexpr std::size_t kFew = 1000;
  if (numbers_.size() < kFew + 2 * seen_.size()) return;
  numbers_.clear();
  seen_.clear();
}

config::ObjectSet ReachedObjects::of(const config::ObjectSet& set) {
  ++round_;
  const std::vector<bool> stays = ReachSearch(set, *this).find();
  forget();
  config::ObjectSet reached = set;
  reached.readings.clear();
  reached.texts.clear();
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (!stays[i]) continue;
    reached.readings.push_back(set.readings[i]);
    reached.texts.push_back(set.texts[i]);
  }
  return reached;
}

}  // namespace sluice::kubernetes
