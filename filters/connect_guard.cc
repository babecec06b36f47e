#include "filters/connect_guard.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "filters/connect_rule.h"
#include "proxy/http/authority.h"

namespace sluice::filters {
namespace {

using processing::Verdict;

// A list of fingerprints is as long as the certificates that are in use while they are replaced.
constexpr std::string_view kConnectGuardSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "ConnectGuard",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "allow": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"$ref": "#/$defs/rule"}},
    "deny": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"$ref": "#/$defs/rule"}}
  },
  "anyOf": [{"required": ["allow"]}, {"required": ["deny"]}],
  "$defs": {
    "rule": {
      "type": "object",
      "additionalProperties": false,
      "minProperties": 1,
      "properties": {
        "cidrs": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"type": "string", "minLength": 1, "maxLength": 64}},
        "ports": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"type": "integer", "minimum": 1, "maximum": 65535}},
        "sni": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"type": "string", "maxLength": 253,
          "pattern": "^(\\*\\.)?[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$"}},
        "fingerprints": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"type": "string",
          "pattern": "^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$"}},
        "serviceAccounts": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"type": "string", "maxLength": 317,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?/[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"}},
        "assurance": {"enum": ["Certificate", "Token", "Address", "None"]}
      }
    }
  }
})";

using Rules = std::vector<ConnectRule>;

/// Returns the strongest match of a list. Rules about callers match those who are not known if they deny, and else do
/// not.
RuleMatch matchOf(const Rules& rules, const ConnectFacts& facts, bool denies) {
  RuleMatch best = RuleMatch::kNo;
  for (const ConnectRule& rule : rules) best = std::max(best, rule.match(facts, denies));
  return best;
}

class ConnectGuard final : public processing::Processor {
 public:
  ConnectGuard(std::optional<Rules> allow, Rules deny) : allow_(std::move(allow)), deny_(std::move(deny)) {}

  Verdict process(processing::Call& call, const processing::Peer& peer) const override {
    processing::Destination& destination = *call.destination;
    // Without TLS, it is known already that there will be no certificate.
    constexpr std::string_view kNone;
    const std::string_view* const certificate = destination.serverName().empty() ? &kNone : nullptr;
    const std::string_view name = nameOf(call.request, destination.serverName());
    bool awaits = false;
    destination.narrow(call.arena, [&](const processing::Destination::ResolvedAddress& each) {
      const RuleMatch passes = judge(each.ip, each.port, name, certificate, peer);
      awaits = awaits || passes == RuleMatch::kByCertificate;
      return passes != RuleMatch::kNo;
    });
    if (awaits) destination.awaitConnection();
    return Verdict::goOn();
  }

  bool admits(const processing::TakenConnection& connection, const http::RequestHead& request,
              const processing::Peer& peer) const override {
    return judge(connection.ip, connection.port, nameOf(request, connection.serverName), &connection.certificate,
                 peer) == RuleMatch::kYes;
  }

 private:
  /// Returns the name of the server. The gateway makes no handshake in a tunnel, so the name is the host for which the
  /// client has asked.
  static std::string_view nameOf(const http::RequestHead& request, std::string_view serverName) {
    if (request.tunnel != http::Tunnel::kStream) return serverName;
    return http::hostOf(request.authority);
  }

  RuleMatch judge(std::string_view ip, std::uint16_t port, std::string_view serverName,
                  const std::string_view* certificate, const processing::Peer& peer) const {
    const auto address = base::IpNetwork::parse(ip);
    if (!address) return RuleMatch::kNo;
    const ConnectFacts facts{{address->prefix.data(), address->bytes}, port, serverName, certificate, peer};
    const RuleMatch denied = matchOf(deny_, facts, true);
    if (denied == RuleMatch::kYes) return RuleMatch::kNo;
    const RuleMatch allowed = allow_ ? matchOf(*allow_, facts, false) : RuleMatch::kYes;
    return allowed == RuleMatch::kYes && denied == RuleMatch::kByCertificate ? RuleMatch::kByCertificate : allowed;
  }

  const std::optional<Rules> allow_;  // nullopt: all
  const Rules deny_;
};

/// Returns nullopt if the config has no such list.
base::Result<std::optional<Rules>> readRules(const content::Value& config, const std::string& key) {
  const content::Value* const list = config.find(key);
  if (list == nullptr) return std::optional<Rules>();
  Rules rules;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    auto rule = ConnectRule::read(list->items[i]);
    if (!rule) return base::Error::config(key + "[" + std::to_string(i) + "]." + rule.error().detail);
    rules.push_back(std::move(rule).value());
  }
  return std::optional<Rules>(std::move(rules));
}

processing::Made makeConnectGuard(const processing::Use& use) {
  auto allow = readRules(use.config, "allow");
  if (!allow) return {nullptr, {"InvalidConfig", allow.error().detail}};
  auto deny = readRules(use.config, "deny");
  if (!deny) return {nullptr, {"InvalidConfig", deny.error().detail}};
  return {std::make_shared<const ConnectGuard>(*std::move(allow), (*std::move(deny)).value_or(Rules())), {}};
}

}  // namespace

processing::BuiltinType connectGuard() {
  return {.type = "sluice.dev/ConnectGuard:v1",
          .phases = {processing::Phase::kConnect},
          .schema = kConnectGuardSchema,
          .make = makeConnectGuard};
}

}  // namespace sluice::filters
