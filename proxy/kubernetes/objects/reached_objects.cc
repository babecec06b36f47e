#include "proxy/kubernetes/objects/reached_objects.h"

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// Finds the reached objects, from one object to the next.
class ReachSearch {
 public:
  explicit ReachSearch(const config::ObjectSet& set) : set_(set), stays_(set.readings.size(), false) {
    for (std::size_t i = 0; i < set.readings.size(); ++i) index(i);
    for (std::size_t i = 0; i < set.readings.size(); ++i) begin(i);
  }

  std::vector<bool> find() {
    for (; !toRead_.empty(); toRead_.pop_front()) {
      forEachWord(namingPart(toRead_.front()), [this](std::string_view word) { reach(word); });
    }
    return std::move(stays_);
  }

 private:
  /// Returns the object of a text; null if it has several or cannot be read. Such a text is always kept.
  const config::ObjectReading* objectOf(std::size_t index) const {
    const auto& readings = *set_.readings[index];
    return readings.size() == 1 && readings.front().kind != nullptr ? &readings.front() : nullptr;
  }
  static const std::string& namespaceOf(const config::ObjectReading& object) {
    return object.kind->isOf<config::Namespace>() ? object.identity.name : object.identity.nameSpace;
  }

  /// Returns true for kinds whose objects are followed by their names.
  static bool isNamed(const config::ObjectKind& kind) {
    return kind.isOf<config::SecretObject>() || kind.isOf<config::ConfigMap>() || kind.isOf<config::Service>() ||
           kind.isOf<config::EndpointSlice>();
  }

  void index(std::size_t index) {
    const config::ObjectReading* object = objectOf(index);
    if (object == nullptr) return;
    if (object->kind->isOf<config::Backend>()) {
      backends_[object->identity.name].push_back(index);
    } else {
      namespaces_[namespaceOf(*object)].push_back(index);
    }
  }

  void begin(std::size_t index) {
    const config::ObjectReading* object = objectOf(index);
    if (object == nullptr || namespaceOf(*object).empty()) return keep(index);
    const config::ObjectKind& kind = *object->kind;
    const bool hasTraffic =
        kind.isOf<config::Gateway>() || kind.isOf<config::HttpRoute>() || kind.isOf<config::GrpcRoute>();
    if (!hasTraffic && !isNamed(kind)) return;
    keep(index);
    if (hasTraffic) reach(namespaceOf(*object));
  }

  void keep(std::size_t index) {
    if (stays_[index]) return;
    stays_[index] = true;
    toRead_.push_back(index);
  }

  /// Returns the part of a text that may name other objects. Objects that are followed by name are not searched,
  /// because they would else stay reached for ever; but a ConfigMap may contain settings or a catalog.
  std::string_view namingPart(std::size_t index) const {
    const std::string_view text = set_.texts[index]->text.reveal();
    const config::ObjectReading* object = objectOf(index);
    if (object == nullptr || !isNamed(*object->kind)) return text;
    const std::size_t data = object->kind->isOf<config::ConfigMap>() ? text.find("\"data\":") : text.npos;
    return data == text.npos ? std::string_view() : text.substr(data);
  }

  void reach(std::string_view word) {
    for (auto* names : {&namespaces_, &backends_}) {
      const auto found = names->find(word);
      if (found == names->end()) continue;
      for (const std::size_t each : std::exchange(found->second, {})) keep(each);
    }
  }

  using IndexesByName = std::unordered_map<std::string_view, std::vector<std::size_t>>;

  const config::ObjectSet& set_;
  std::vector<bool> stays_;
  std::deque<std::size_t> toRead_;
  IndexesByName namespaces_;  // the objects of a namespace except Backends
  IndexesByName backends_;    // of all namespaces
};

}  // namespace

config::ObjectSet reachedObjects(const config::ObjectSet& set) {
  const std::vector<bool> stays = ReachSearch(set).find();
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
