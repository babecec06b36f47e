// Reads the parts of Envoy Gateway's ClientTrafficPolicy that restrict clients or their requests. They are not
// supported, so listeners must not be served without them. Its other settings concern how listeners work, and have no
// effect.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

constexpr std::string_view kNoEffect =
    "policies of this kind are not supported: this one restricts no clients, and has no effect";

constexpr std::string_view kRestricts =
    "restricts clients, which is not supported: the targets of the policy answer 500";

constexpr std::string_view kMayRestrict =
    "policies of this kind are not supported: parts of this one cannot be read, so it may restrict clients, and its "
    "targets answer 500";

/// A field of the policy that restricts clients.
struct ClientRestriction {
  std::string_view field;
  std::vector<std::string_view> unless = {};  // values with which it does not restrict clients
  std::string_view inner = {};                // the field is a map, and this member has the value
};

/// Returns true if the value is one of these words.
bool isOneWordOf(const Value* value, const std::vector<std::string_view>& words) {
  return value != nullptr && std::find(words.begin(), words.end(), value->text) != words.end();
}

/// Adds the fields of `reader` that restrict clients. The fields in `others` are known not to restrict them. A field in
/// neither list is added too, because it could be a misspelt restriction.
void findRestricting(FieldReader reader, const std::vector<ClientRestriction>& restrictions,
                     const std::vector<std::string_view>& others, std::vector<std::string>& found) {
  for (const auto& [field, unless, inner] : restrictions) {
    const Value* value = reader.find(field);
    if (value == nullptr) continue;
    if (!inner.empty()) value = reader.map(field).find(inner);
    if (!isOneWordOf(value, unless)) found.push_back(reader.pathOf(field));
  }
  for (const std::string_view each : others) reader.ignore(each);
  reader.finish();
}

/// Adds the restrictions in the parts of the spec.
void findRestrictingParts(FieldReader& spec, std::vector<std::string>& found) {
  // Clients with TLS 1.2 are accepted anyway.
  findRestricting(spec.map("tls"),
                  {{"clientValidation"},
                   {"ciphers"},
                   {"ecdhCurves"},
                   {"signatureAlgorithms"},
                   {"fingerprints"},
                   {"minVersion", {"Auto", "1.0", "1.1", "1.2"}}},
                  {"maxVersion", "alpnProtocols", "session"}, found);
  findRestricting(spec.map("connection"), {{"connectionLimit"}},
                  {"bufferLimit", "socketBufferLimit", "maxAcceptPerSocketEvent"}, found);
  findRestricting(spec.map("path"), {{"escapedSlashesAction", {"KeepUnchanged", "UnescapeAndForward"}}},
                  {"disableMergeSlashes"}, found);
  FieldReader detection = spec.map("clientIPDetection");
  findRestricting(detection.map("customHeader"), {{"failClosed", {"false"}}}, {"name"}, found);
  findRestricting(std::move(detection), {}, {"xForwardedFor"}, found);
  // These fields remove or refuse parts of requests, and Backends may rely on that.
  findRestricting(
      spec.map("headers"),
      {{"xForwardedClientCert", {"AlwaysForwardOnly"}, "mode"},
       {"earlyRequestHeaders"},
       {"withUnderscoresAction", {"Allow"}}},
      {"enableEnvoyHeaders", "disableRateLimitHeaders", "preserveXRequestID", "requestID", "lateResponseHeaders"},
      found);
}

}  // namespace

void readClientTrafficPolicy(FieldReader& root, UnsupportedPolicy& policy) {
  root.require("spec");
  FieldReader spec = root.map("spec");
  const std::size_t before = root.context().illegibleFields();
  if (spec.given()) readPolicyTargets(spec, policy);
  // An error in the targets does not mean that the policy restricts clients.
  const std::size_t ofTargets = root.context().illegibleFields() - before;
  std::vector<std::string> restricting;
  findRestrictingParts(spec, restricting);
  findRestricting(spec, {{"proxyProtocol", {"true"}, "optional"}, {"enableProxyProtocol", {"false"}}},
                  {"tcpKeepalive", "timeout", "http1", "http2", "http3", "grpc", "healthCheck", "scheme"}, restricting);
  policy.restricts = !restricting.empty() || root.context().illegibleFields() > ofTargets;
  const bool isKnown = !restricting.empty();
  const std::string field = isKnown ? restricting.front() : "kind";
  const std::string why(isKnown ? kRestricts : policy.restricts ? kMayRestrict : kNoEffect);
  policy.note = {field, why};
  root.context().warning(isKnown ? spec.position() : root.positionOf("kind"), field, why);
}

}  // namespace sluice::config
