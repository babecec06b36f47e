#include "proxy/compile/served_objects.h"

#include <algorithm>
#include <string_view>

#include "config/read/object_kinds.h"
#include "proxy/compile/ground/backend_plan.h"

namespace sluice::compile {
namespace {

/// Returns true for kinds whose served objects are known by name.
bool isKnownByName(std::string_view group, std::string_view kind) {
  return config::isKindOf<config::Gateway>(group, kind) || config::isKindOf<config::HttpRoute>(group, kind) ||
         config::isKindOf<config::GrpcRoute>(group, kind) || config::isKindOf<config::Backend>(group, kind);
}

std::string nameOfServed(std::string_view group, std::string_view kind, std::string_view nameSpace,
                         std::string_view name) {
  config::ObjectMeta meta;
  meta.group = group;
  meta.kind = kind;
  meta.nameSpace = nameSpace;
  meta.name = name;
  return objectOf(meta);
}

}  // namespace

ServedObjects::ServedObjects(const CompileResult& compiled) {
  for (const config::ObjectStatus& each : compiled.statuses) {
    const bool isBackend = config::isKindOf<config::Backend>(each.group, each.kind);
    if (isBackend || !isKnownByName(each.group, each.kind)) continue;
    add(nameOfServed(each.group, each.kind, each.nameSpace, each.name), each.nameSpace);
  }
  for (const std::string& each : compiled.namedBackends) addBackend(each);
  if (compiled.snapshot == nullptr) return;
  for (const auto& each : compiled.snapshot->backends) addBackend(each->object);
}

void ServedObjects::addBackend(const std::string& object) {
  // The text is "Backend.sluice.dev/demo/far". A server of the settings has no namespace in it.
  const std::size_t from = object.find('/') + 1;
  const std::size_t end = object.find('/', from);
  if (end != std::string::npos) add(object, object.substr(from, end - from));
}

void ServedObjects::add(const std::string& object, const std::string& nameSpace) {
  objects_.insert(object);
  nameSpaces_.insert(nameSpace);
}

bool ServedObjects::has(const config::ObjectStatus& object) const {
  if (object.nameSpace.empty()) return true;
  if (isKnownByName(object.group, object.kind)) {
    return objects_.contains(nameOfServed(object.group, object.kind, object.nameSpace, object.name));
  }
  const auto concerns = [&](const config::ParentStatus& ancestor) {
    const auto& target = ancestor.parentRef.object;
    const std::string& nameSpace = target.nameSpace.empty() ? object.nameSpace : target.nameSpace;
    return !isKnownByName(target.group, target.kind) ||
           objects_.contains(nameOfServed(target.group, target.kind, nameSpace, target.name));
  };
  const bool isOfOthers = object.shape == config::StatusShape::kAncestors && !object.parents.empty() &&
                          std::none_of(object.parents.begin(), object.parents.end(), concerns);
  return nameSpaces_.contains(object.nameSpace) && !isOfOthers;
}

}  // namespace sluice::compile
