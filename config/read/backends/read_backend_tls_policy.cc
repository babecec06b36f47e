#include <algorithm>

#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxPolicyOptions = 16;

/// Returns true if the targets are equal, or overlap in a way that the API does not accept.
bool overlap(const PolicyTarget& a, const PolicyTarget& b) {
  const bool same =
      a.object.group == b.object.group && a.object.kind == b.object.kind && a.object.name == b.object.name;
  return same && (a.sectionName.empty() || b.sectionName.empty() || a.sectionName == b.sectionName);
}

/// Reads the targets. v1alpha2 had a single one in `targetRef`. That is not supported any more, but the gateway must
/// not connect to the target without TLS.
void readTlsTargets(FieldReader& spec, PolicyTargets& named) {
  if (!spec.has("targetRef")) return readTargetRefs(spec, named);
  readPolicyTarget(spec.map("targetRef"), named);
  for (const Item& item : spec.list("targetRefs", kMaxPolicyTargets)) readPolicyTarget(spec.map(item), named);
  spec.error("targetRef", "is of an older version: use targetRefs");
}

void checkTlsTargets(FieldReader& spec, const std::vector<PolicyTarget>& targets) {
  for (auto each = targets.begin(); each != targets.end(); ++each) {
    if (std::any_of(targets.begin(), each, [&](const PolicyTarget& other) { return overlap(other, *each); })) {
      spec.context().error(each->object.position, each->object.path,
                           "repeats a target: several references to one object must have different sectionNames");
    }
  }
}

}  // namespace

void readBackendTlsPolicy(FieldReader& spec, BackendTlsPolicy& policy) {
  policy.tls.mode = TlsMode::kServerAuth;
  policy.tls.path = "spec";
  policy.tls.position = spec.position();
  if (spec.given()) {
    readTlsTargets(spec, policy);
    spec.require("validation");
  }
  checkTlsTargets(spec, policy.targets);
  if (spec.has("validation")) readTlsValidation(spec.map("validation"), policy.tls);
  readTlsOptions(spec, policy.tls);
  if (policy.tls.options.size() > kMaxPolicyOptions) spec.error("options", "must have at most 16 entries");
}

}  // namespace sluice::config
