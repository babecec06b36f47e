// Reads Envoy Gateway's ClientTrafficPolicy as far as it restricts who may come in, which is not supported: listeners
// must not be served without it. Its other settings are of how listeners work, and have no effect.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

constexpr std::string_view kNoEffect =
    "policies of this kind are not supported: nothing of this one restricts clients, and it has no effect";

constexpr std::string_view kRestricts =
    "restricts clients, which is not supported: what the policy names here answers 500";

/// Clients with TLS 1.2 are let in.
constexpr std::string_view kServedVersions[] = {"Auto", "1.0", "1.1", "1.2"};

/// Adds the fields of the map `key` that restrict clients. The others are known; one that is not could be one of these
/// misspelt.
void findRestricting(FieldReader& spec, std::string_view key, std::initializer_list<std::string_view> restricting,
                     std::initializer_list<std::string_view> others, std::vector<std::string>& found) {
  FieldReader reader = spec.map(key);
  for (const std::string_view each : restricting) {
    if (reader.has(each)) found.push_back(reader.pathOf(each));
  }
  for (const std::string_view each : others) reader.ignore(each);
  if (const Value* least = key == "tls" ? reader.find("minVersion") : nullptr; least != nullptr) {
    const bool served =
        std::find(std::begin(kServedVersions), std::end(kServedVersions), least->text) != std::end(kServedVersions);
    if (!served) found.push_back(reader.pathOf("minVersion"));
  }
  reader.finish();
}

}  // namespace

std::optional<UnsupportedPolicy> readClientTrafficPolicy(FieldReader& root, ObjectMeta meta) {
  UnsupportedPolicy policy;
  policy.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) static_cast<PolicyTargets&>(policy) = readPolicyTargets(spec);
  std::vector<std::string> restricting;
  findRestricting(spec, "tls", {"clientValidation", "ciphers", "ecdhCurves", "signatureAlgorithms", "fingerprints"},
                  {"maxVersion", "alpnProtocols", "session"}, restricting);
  findRestricting(spec, "connection", {"connectionLimit"},
                  {"bufferLimit", "socketBufferLimit", "maxAcceptPerSocketEvent"}, restricting);
  findRestricting(spec, "headers", {"earlyRequestHeaders"},
                  {"enableEnvoyHeaders", "disableRateLimitHeaders", "xForwardedClientCert", "withUnderscoresAction",
                   "preserveXRequestID", "requestID", "lateResponseHeaders"},
                  restricting);
  spec.ignoreOthers();
  spec.finish();
  const bool closes = !restricting.empty();
  const std::string field = closes ? restricting.front() : "kind";
  const std::string_view why = closes ? kRestricts : kNoEffect;
  policy.restricts = closes || root.context().errors() > 0;
  policy.note = field + ": " + std::string(why);
  root.context().warning(closes ? spec.position() : root.positionOf("kind"), field, std::string(why));
  if (policy.empty()) return std::nullopt;
  return policy;
}

}  // namespace sluice::config
