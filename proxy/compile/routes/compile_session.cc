#include "proxy/compile/routes/compile_session.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "proxy/base/terms/reserved_fields.h"
#include "proxy/base/text.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/routes/compile_headers.h"
#include "proxy/http/hygiene.h"
#include "proxy/pki/digest.h"

namespace sluice::compile {
namespace {

constexpr std::string_view kNamePrefix = "sluice-session-";
constexpr std::size_t kNameDigits = 16;
// Characters with a special meaning in a regular expression, and ";", which ends the Path attribute of a cookie.
constexpr std::string_view kNoLiterals = "\\^$.|?*+()[]{}";
constexpr std::string_view kNoCookiePath = ";";

// Fields with another meaning, which the value of a session would overwrite.
constexpr std::array<std::string_view, 3> kTaken = {"cookie", "host", "set-cookie"};

bool isTaken(std::string_view field) {
  return http::isReservedField(field) || base::isLoopField(field) ||
         std::find(kTaken.begin(), kTaken.end(), field) != kTaken.end();
}

std::string textOf(const RuleName& name, const config::RouteRule& rule) {
  const std::string own = rule.name.empty() ? "#" + std::to_string(name.index) : rule.name;
  return std::string(name.kind) + " " + name.route.qualifiedName() + " " + own;
}

std::uint64_t shortDigest(std::string_view text) {
  const pki::Sha256Digest digest = pki::sha256(text);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8 | digest[i];
  return number;
}

/// Returns a digest for each weighted backend. Repeated references get different digests, depending on their order.
std::vector<std::uint64_t> backendDigests(const std::vector<RuleMember>& members, std::string_view nameSpace) {
  std::vector<std::uint64_t> digests;
  for (const RuleMember& member : members) {
    const config::HttpBackendRef& ref = *member.ref;
    std::string text = ref.object.group + "/" + ref.object.kind + "/" +
                       std::string(targetNamespace(ref.object, nameSpace)) + "/" + ref.object.name + ":" +
                       std::to_string(ref.port);
    if (!member.endpoint.empty()) text += "/" + member.endpoint;
    std::uint64_t digest = shortDigest(text);
    for (int again = 1; std::find(digests.begin(), digests.end(), digest) != digests.end(); ++again) {
      digest = shortDigest(text + "#" + std::to_string(again));
    }
    digests.push_back(digest);
  }
  return digests;
}

/// Returns the part of the path before the first of these characters, up to the segment that contains it.
std::string beforeAny(std::string_view path, std::string_view characters) {
  const std::size_t end = path.find_first_of(characters);
  if (end == std::string_view::npos) return std::string(path);
  return std::string(path.substr(0, path.rfind('/', end)));
}

std::vector<std::string> cookiePaths(const std::vector<config::HttpRouteMatch>& matches) {
  std::vector<std::string> paths;
  for (const config::HttpRouteMatch& match : matches) {
    const bool expression = match.path.type == config::PathMatchType::kRegularExpression;
    std::string path = beforeAny(match.path.value, expression ? kNoLiterals : std::string_view());
    path = beforeAny(path, kNoCookiePath);
    if (path.ends_with('/')) path.pop_back();
    if (!path.empty()) paths.push_back(std::move(path));
  }
  return paths;
}

/// `text` describes the object that has the field.
Resolved<std::shared_ptr<const routing::SessionPolicy>> compilePolicy(const config::SessionPersistence& session,
                                                                      const std::string& text,
                                                                      std::vector<std::string> paths,
                                                                      std::vector<std::uint64_t> shares) {
  auto policy = std::make_shared<routing::SessionPolicy>();
  policy->byHeader = session.type == config::SessionType::kHeader;
  policy->name = session.name;
  if (session.name.empty()) {
    policy->name = std::string(kNamePrefix) + pki::toHex(pki::sha256(text)).substr(0, kNameDigits);
  } else if (policy->byHeader) {
    policy->name = base::toLower(session.name);
    if (isTaken(policy->name)) {
      return fault(config::reason::kUnsupportedValue, session.path + ".sessionName",
                   policy->name + " cannot carry a session");
    }
  }
  policy->scope = text + (policy->byHeader ? " header " : " cookie ") + policy->name;
  policy->absoluteTimeout = session.absoluteTimeout;
  policy->permanent = session.permanent;
  // No browser accepts such a cookie with another Path (RFC 6265bis, "The __Host- Prefix").
  if (!base::toLower(policy->name).starts_with("__host-")) policy->paths = std::move(paths);
  policy->shares = std::move(shares);
  return std::shared_ptr<const routing::SessionPolicy>(std::move(policy));
}

Resolved<std::shared_ptr<const routing::SessionPolicy>> compileOfRule(const config::RouteRule& rule,
                                                                      const std::vector<RuleMember>& members,
                                                                      const RuleName& name,
                                                                      std::vector<std::string> paths) {
  if (!rule.sessionPersistence) return std::shared_ptr<const routing::SessionPolicy>();
  return compilePolicy(*rule.sessionPersistence, textOf(name, rule), std::move(paths),
                       backendDigests(members, name.route.nameSpace));
}

/// Returns the bytes of one entry. Faults never contain them.
Resolved<base::Secret> sessionKey(const config::SecretObject& secret, const std::string& key) {
  const auto refused = [](const std::string& text) { return fault(config::reason::kUnsupportedValue, text); };
  const base::Secret* bytes = secret.find(key);
  if (bytes == nullptr) return refused("it has no " + key);
  if (bytes->reveal().size() < pki::ValueSealer::kLeastKeyBytes) {
    return refused(key + " has fewer than " + std::to_string(pki::ValueSealer::kLeastKeyBytes) + " bytes");
  }
  return *bytes;
}

}  // namespace

Resolved<std::shared_ptr<const routing::SessionPolicy>> compileSession(const config::HttpRouteRule& rule,
                                                                       const std::vector<RuleMember>& members,
                                                                       const RuleName& name) {
  return compileOfRule(rule, members, name, cookiePaths(rule.matches));
}

Resolved<std::shared_ptr<const routing::SessionPolicy>> compileSession(const config::GrpcRouteRule& rule,
                                                                       const std::vector<RuleMember>& members,
                                                                       const RuleName& name) {
  return compileOfRule(rule, members, name, {});
}

Resolved<std::shared_ptr<const routing::SessionPolicy>> compileSession(const config::TrafficPolicy& policy,
                                                                       const std::vector<RuleMember>& members,
                                                                       std::string_view nameSpace) {
  return compilePolicy(*policy.sessionPersistence, policy.meta.title(), {}, backendDigests(members, nameSpace));
}

Resolved<std::shared_ptr<const pki::ValueSealer>> sessionSealer(const config::Model& model) {
  if (!model.settings.sessionKey) return std::shared_ptr<const pki::ValueSealer>();
  const base::SessionKeyRef& ref = *model.settings.sessionKey;
  const config::SecretObject* secret = model.find<config::SecretObject>(ref.nameSpace, ref.name);
  if (secret == nullptr) {
    const config::Rejected* rejected = model.findRejected("", config::SecretObject::kKind, ref.nameSpace, ref.name);
    return fault(config::reason::kUnsupportedValue,
                 rejected == nullptr ? "it does not exist" : "it is not valid: " + rejected->message);
  }
  Resolved<base::Secret> key = sessionKey(*secret, ref.key);
  if (!key) return std::move(key.fault);
  base::Secret previous;
  if (!ref.previousKey.empty()) {
    Resolved<base::Secret> found = sessionKey(*secret, ref.previousKey);
    if (!found) return std::move(found.fault);
    previous = *std::move(found.value);
  }
  return std::shared_ptr<const pki::ValueSealer>(
      std::make_shared<const pki::ValueSealer>(*std::move(key.value), std::move(previous)));
}

}  // namespace sluice::compile
