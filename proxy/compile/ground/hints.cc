#include "proxy/compile/ground/hints.h"

#include <algorithm>
#include <cstdint>

#include "proxy/base/text.h"
#include "proxy/compile/ground/disclosure.h"

namespace sluice::compile {
namespace {

using Kinds = std::span<const config::ObjectKind* const>;
using Grant = config::ReferenceGrant;

/// Returns the fields that make a reference refer to the kind: "group: sluice.dev, kind: Backend".
std::string fieldsFor(const config::ObjectRef& ref, const config::ObjectKind& kind) {
  std::string fields;
  if (ref.group != kind.group) fields = "group: " + (kind.group.empty() ? "''" : std::string(kind.group));
  if (ref.kind != kind.kind) fields += (fields.empty() ? "" : ", ") + ("kind: " + std::string(kind.kind));
  return fields;
}

bool isOfKind(const config::ObjectRef& ref, const config::ObjectKind& kind) {
  return ref.kind == kind.kind && ref.group == kind.group;
}

/// Returns a hint that names the object to which the reference would refer if it gave a namespace.
std::string withoutNamespace(const config::Model& model, const config::ObjectRef& ref) {
  const config::ObjectKind* kind = config::findObjectKind(ref.group, ref.kind);
  if (kind == nullptr || !kind->namespaced) return {};
  const config::ObjectMeta* meta = kind->find(*kind, model, config::kDefaultNamespace, ref.name);
  if (meta == nullptr || meta->namespaceGiven) return {};
  return "; the " + ref.kind + " of that name has no metadata.namespace, and so is in namespace " +
         std::string(config::kDefaultNamespace);
}

/// Looks for objects that a reference could be meant for.
class ObjectSearch {
 public:
  ObjectSearch(const config::Model& model, const config::ObjectRef& ref, const Holder& holder, Kinds kinds)
      : model_(model), ref_(ref), holder_(holder), kinds_(kinds) {}

  std::string sameNameOfOtherKind() const {
    for (const config::ObjectKind* kind : kinds_) {
      if (isOfKind(ref_, *kind)) continue;
      if (kind->find(*kind, model_, nameSpaceOf(*kind), ref_.name) == nullptr) continue;
      const bool bare = ref_.group.empty() && ref_.kind == config::Service::kKind;
      return "; there is " + withArticle(kind->kind) + " of that name: " + (bare ? "add " : "write ") +
             fieldsFor(ref_, *kind);
    }
    return {};
  }

  std::string closeName() const {
    for (const bool ofKind : {true, false}) {
      for (const config::ObjectKind* kind : kinds_) {
        if (isOfKind(ref_, *kind) != ofKind) continue;
        const std::string_view name = base::closestWord(ref_.name, namesOf(*kind));
        if (name.empty()) continue;
        const std::string fields = fieldsFor(ref_, *kind);
        return "; did you mean " + std::string(name) + (fields.empty() ? "?" : " of " + fields + "?");
      }
    }
    return {};
  }

 private:
  std::string_view nameSpaceOf(const config::ObjectKind& kind) const {
    return kind.namespaced ? holder_.nameSpace : std::string_view();
  }

  /// Returns the names of objects in the holder's namespace, sorted. Returns none if there are too many objects to
  /// compare, because thousands of references may be wrong.
  std::vector<std::string_view> namesOf(const config::ObjectKind& kind) const {
    std::vector<std::string_view> names;
    const std::string_view nameSpace = nameSpaceOf(kind);
    std::size_t searched = 0;
    kind.forEach(kind, model_, [&](const config::ObjectMeta& each) {
      if (each.nameSpace == nameSpace) names.push_back(each.name);
      return ++searched <= kMostSearched;
    });
    if (searched > kMostSearched) return {};
    std::sort(names.begin(), names.end());
    return names;
  }

  const config::Model& model_;
  const config::ObjectRef& ref_;
  const Holder& holder_;
  const Kinds kinds_;
};

std::string braced(std::string_view group, std::string_view kind) {
  return "{group: " + (group.empty() ? "''" : std::string(group)) + ", kind: " + std::string(kind);
}

std::string fromOf(const Holder& holder) {
  return braced(holder.group, holder.kind) + ", namespace: " + std::string(holder.nameSpace) + "}";
}

std::string toOf(const config::ObjectRef& ref) { return braced(ref.group, ref.kind) + "}"; }

bool namesHolder(const Grant& grant, const Holder& holder) {
  return std::any_of(grant.from.begin(), grant.from.end(), [&](const Grant::From& each) {
    return each.group == holder.group && each.kind == holder.kind && each.nameSpace == holder.nameSpace;
  });
}

bool namesNamespace(const Grant& grant, const Holder& holder) {
  return std::any_of(grant.from.begin(), grant.from.end(),
                     [&](const Grant::From& each) { return each.nameSpace == holder.nameSpace; });
}

bool namesTarget(const Grant& grant, const config::ObjectRef& ref, bool byName) {
  return std::any_of(grant.to.begin(), grant.to.end(), [&](const Grant::To& each) {
    return each.group == ref.group && each.kind == ref.kind && (!byName || each.name.empty() || each.name == ref.name);
  });
}

/// Grades how closely a grant fails to permit a reference, the closest first.
enum class Nearness : std::uint8_t { kElsewhere, kOtherName, kOtherTarget, kOtherHolder, kOtherNamespace, kFar };

Nearness nearnessOf(const Grant& grant, const config::ObjectRef& ref, const Holder& holder) {
  const bool own = grant.meta.nameSpace == holder.nameSpace;
  if (!own && grant.meta.nameSpace != ref.nameSpace) return Nearness::kFar;
  const bool holds = namesHolder(grant, holder);
  if (own) return holds && namesTarget(grant, ref, /*byName=*/true) ? Nearness::kElsewhere : Nearness::kFar;
  if (holds) return namesTarget(grant, ref, /*byName=*/false) ? Nearness::kOtherName : Nearness::kOtherTarget;
  if (!namesTarget(grant, ref, /*byName=*/true)) return Nearness::kFar;
  return namesNamespace(grant, holder) ? Nearness::kOtherHolder : Nearness::kOtherNamespace;
}

std::string lackOf(const Grant& grant, Nearness nearness, const config::ObjectRef& ref, const Holder& holder) {
  const std::string there = "; a ReferenceGrant there";
  switch (nearness) {
    case Nearness::kElsewhere:
      return "; " + grant.meta.title() + " would, but it must be in namespace " + ref.nameSpace;
    case Nearness::kOtherName:
      return there + " permits other names: its `to` lacks name: " + ref.name;
    case Nearness::kOtherTarget:
      return there + " permits other kinds: its `to` lacks " + toOf(ref);
    case Nearness::kOtherHolder:
      return there + " permits other kinds: its `from` lacks " + fromOf(holder);
    case Nearness::kOtherNamespace:
      return there + " permits other namespaces: its `from` lacks " + fromOf(holder);
    case Nearness::kFar:
      break;
  }
  return {};
}

}  // namespace

std::vector<const config::ObjectKind*> kindsLike(std::string_view group, std::string_view kind) {
  std::vector<const config::ObjectKind*> all;
  const config::ObjectKind* named = config::findObjectKind(group, kind);
  const auto isBackend = [](const config::ObjectKind& each) {
    return each.isOf<config::Backend>() || each.isOf<config::Service>();
  };
  for (const config::ObjectKind& each : config::objectKinds()) {
    const bool like = named == nullptr ? each.kind == kind : *each.type == *named->type;
    if (like || (named != nullptr && isBackend(*named) && isBackend(each))) all.push_back(&each);
  }
  return all;
}

std::string nearestObject(const config::Model& model, const config::ObjectRef& ref, const Holder& holder, Kinds kinds) {
  if (targetNamespace(ref, holder.nameSpace) != holder.nameSpace) return {};
  const ObjectSearch search(model, ref, holder, kinds);
  std::string hint = search.sameNameOfOtherKind();
  if (hint.empty()) hint = withoutNamespace(model, ref);
  return hint.empty() ? search.closeName() : hint;
}

std::string nearestName(std::string_view written, std::span<const std::string_view> names) {
  const std::string_view close = base::closestWord(written, names);
  if (!close.empty()) return "; did you mean " + std::string(close) + "?";
  if (names.empty() || names.size() > kMostListed) return {};
  std::string text;
  for (const std::string_view each : names) text.append(text.empty() ? "" : ", ").append(each);
  return (names.size() == 1 ? "; there is " : "; there are ") + text;
}

std::string availablePorts(const std::vector<std::uint16_t>& ports) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ports.size(), kMostListed); ++i) {
    text += (i == 0 ? "; it has " : ", ") + std::to_string(ports[i]);
  }
  if (ports.size() > kMostListed) text += " and " + std::to_string(ports.size() - kMostListed) + " more";
  return text;
}

std::string missingGrant(const config::Model& model, const config::ObjectRef& ref, const Holder& holder) {
  const Grant* nearest = nullptr;
  Nearness nearness = Nearness::kFar;
  for (const Grant& each : model.all<Grant>()) {
    const Nearness its = nearnessOf(each, ref, holder);
    const bool nearer =
        its < nearness || (its == nearness && nearest != nullptr && each.meta.name < nearest->meta.name);
    if (its == Nearness::kFar || !nearer) continue;
    nearest = &each;
    nearness = its;
  }
  if (nearest == nullptr) return "; add one with from " + fromOf(holder) + " and to " + toOf(ref);
  return lackOf(*nearest, nearness, ref, holder);
}

}  // namespace sluice::compile
