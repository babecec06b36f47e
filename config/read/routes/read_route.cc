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

/// Checks that two references to one parent each select a section or port, and not the same one.
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

std::vector<ParentRef> readParentRefs(FieldReader& spec) {
  std::vector<ParentRef> refs;
  for (const Item& item : spec.list("parentRefs", kMaxParentRefs)) {
    const std::size_t errors = spec.context().errors();
    FieldReader reader = spec.map(item);
    ParentRef ref;
    ref.object = readObjectRef(reader, {kGatewayGroup, "Gateway"}, true);
    // If only its section or port is not legible, the whole parent is meant.
    const bool legible = spec.context().errors() == errors;
    ref.sectionName = reader.text("sectionName", rule::kSectionName);
    ref.port = reader.port("port");
    checkParentRef(reader, ref, refs);
    reader.finish();
    if (legible) refs.push_back(std::move(ref));
  }
  return refs;
}

HttpBackendRef readBackendRef(FieldReader reader, FilterSet set) {
  HttpBackendRef ref;
  ref.object = readObjectRef(reader, {"", "Service"}, true);
  ref.port = reader.port("port");
  ref.weight = static_cast<std::uint32_t>(reader.integer("weight", 0, kMaxWeight).value_or(1));
  if (ref.object.group.empty() && ref.object.kind == "Service" && !reader.has("port")) {
    reader.error("port", "is required for a Service");
  }
  ref.filters = readFilters(reader, set, ref.unsupported);
  reader.finish();
  return ref;
}

}  // namespace

void readRuleParts(FieldReader& reader, FilterSet set, RouteRule& rule) {
  rule.path = reader.path();
  rule.position = reader.position();
  rule.name = reader.text("name", rule::kSectionName);
  rule.filters = readFilters(reader, set, rule.unsupported);
  for (const Item& item : reader.list("backendRefs", kMaxBackendRefs)) {
    rule.backendRefs.push_back(readBackendRef(reader.map(item), set));
  }
  rule.sessionPersistence = readSessionPersistence(reader);
}

void readRouteParts(FieldReader& spec, Route& route) {
  route.parentRefs = readParentRefs(spec);
  route.hostnames = spec.texts("hostnames", rule::kHostname, kMaxHostnames);
  spec.unsupported("useDefaultGateways", "default Gateways are not supported", false, route.unsupported);
}

}  // namespace sluice::config
