// Reads the parts of routes that do not depend on their kind: parentRefs, hostnames, backendRefs.
#include "config/read/routes/route_readers.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxParentRefs = 32;
constexpr std::size_t kMaxHostnames = 16;
constexpr std::size_t kMaxBackendRefs = 16;
constexpr std::int64_t kMaxWeight = 1000000;

bool sameParent(const ParentRef& a, const ParentRef& b) {
  return a.object.group == b.object.group && a.object.kind == b.object.kind &&
         a.object.nameSpace == b.object.nameSpace && a.object.name == b.object.name;
}

/// Checks that two references to the same parent each select a section or port, and that these differ.
void checkParentRef(FieldReader& reader, const ParentRef& ref, const std::vector<ParentRef>& others) {
  for (const ParentRef& other : others) {
    if (!sameParent(ref, other)) continue;
    const auto names = [](const ParentRef& parent) { return !parent.sectionName.empty() || parent.port != 0; };
    if (!names(ref) || !names(other)) {
      reader.error("name", "refers to one parent twice: each needs a sectionName or port, see " + other.object.path);
    } else if (ref.sectionName == other.sectionName && ref.port == other.port) {
      reader.error("name", "repeats " + other.object.path);
    }
  }
}

void readParentRefs(FieldReader& spec, std::vector<ParentRef>& refs) {
  for (const Item& item : spec.list("parentRefs", kMaxParentRefs)) {
    FieldReader reader = spec.map(item);
    ParentRef ref;
    readObjectRef(reader, ref.object, {kGatewayGroup, "Gateway"}, true);
    // If only the section or the port of the reference could not be read, it refers to the whole parent.
    const bool legible = reader.isLegible();
    reader.read("sectionName", ref.sectionName, rule::kSectionName);
    reader.read("port", ref.port, kPorts);
    checkParentRef(reader, ref, refs);
    reader.finish();
    if (legible) refs.push_back(std::move(ref));
  }
}

}  // namespace

void readHttpBackendObjectReference(FieldReader& reader, BackendObjectReference& ref) {
  readBackendObjectReference(reader, ref);
  if (ref.object.group.empty() && ref.object.kind == "Service" && !reader.has("port")) {
    reader.error("port", "is required for a Service");
  }
}

void readRuleParts(FieldReader& reader, FilterSet set, RouteRule& rule) {
  reader.read("name", rule.name, rule::kSectionName);
  readFilters(reader, set, rule.filters);
  reader.read("backendRefs", rule.backendRefs, kMaxBackendRefs, [&](FieldReader& item, HttpBackendRef& ref) {
    readHttpBackendObjectReference(item, ref);
    item.read("weight", ref.weight, {0, kMaxWeight});
    readFilters(item, set, ref.filters);
  });
  reader.read("sessionPersistence", rule.sessionPersistence, readSessionPersistence);
}

void readRouteParts(FieldReader& spec, Route& route) {
  readParentRefs(spec, route.parentRefs);
  spec.read("hostnames", route.hostnames, rule::kHostname, kMaxHostnames);
  spec.unsupported("useDefaultGateways", "default Gateways are not supported", false);
}

}  // namespace sluice::config
