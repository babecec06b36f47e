#include <algorithm>
#include <charconv>
#include <utility>

#include "config/model/egress_policy.h"
#include "config/read/object_kinds.h"
#include "config/read/object_readers.h"
#include "config/read/stray_target.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMostNames = 1000;  // of one list of names or networks
constexpr std::size_t kMostPortRanges = 64;
constexpr std::size_t kMostMethods = 32;
constexpr std::size_t kMostPaths = 64;
constexpr std::size_t kLongestName = 253;

constexpr std::size_t kLongestCallerName = 4096;

constexpr Choice<bool> kEgressModes[] = {{"Enforce", false}, {"Audit", true}};
constexpr Choice<bool> kEgressActions[] = {{"Deny", false}, {"Allow", true}};
constexpr Choice<bool> kEgressTlsModes[] = {{"Optional", false}, {"Required", true}};
constexpr Choice<bool> kServerNameChecks[] = {{"Any", false}, {"Match", true}};
constexpr Choice<base::EgressPath::Type> kEgressPathTypes[] = {
    {"Exact", base::EgressPath::Type::kExact},
    {"PathPrefix", base::EgressPath::Type::kPathPrefix},
    {"RegularExpression", base::EgressPath::Type::kRegularExpression}};

constexpr Choice<base::Assurance> kAssurances[] = {{"None", base::Assurance::kNone},
                                                   {"Address", base::Assurance::kAddress},
                                                   {"Token", base::Assurance::kToken},
                                                   {"Certificate", base::Assurance::kCertificate}};

bool isServiceAccount(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && isDnsLabel(text.substr(0, slash)) && isDnsSubdomain(text.substr(slash + 1));
}

bool isQuotable(std::string_view text) {
  return isHeaderValue(text) && text.find_first_of("\"\\\t") == std::string_view::npos;
}

std::string networkHint(std::string_view text) {
  if (!isIpAddress(text)) return {};
  return ": write " + std::string(text) + (text.find(':') == std::string_view::npos ? "/32" : "/128") +
         " for this address alone";
}

constexpr TextRule kNetworkText{isCidr, "a network like 10.0.0.0/8 or fd00::/8", 64, networkHint};
constexpr TextRule kServiceAccountText{isServiceAccount, "a namespace and a service account like demo/web", 317};
constexpr TextRule kPrincipalText{isAnyText, "a principal", kLongestCallerName};
constexpr TextRule kMethodText{isHeaderName, "a method like GET", 64};
constexpr TextRule kEgressPathText{isAnyText, "a path", 1024};
constexpr TextRule kRealmText{isQuotable, "visible characters of ASCII without quotes and backslashes", 128};

bool isAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool isAddressText(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return isIpAddress(text) || isCidr(text) || endsInNumber(text);
}

/// Returns an empty text if the name, in lower case and without a final dot, may be one of a rule's hostnames.
std::string egressNameFault(std::string_view written, std::string_view name) {
  if (!isAscii(written)) return "must be written in its A-label form (xn--...), but is " + base::quote(written);
  const bool isSuffix = name.starts_with("*.");
  const std::string_view labels = isSuffix ? name.substr(2) : name;
  if (isAddressText(labels)) {
    return "must be a name, but " + base::quote(written) +
           " is an address or ends in a number: use cidrs for addresses";
  }
  if (name.size() > kLongestName) return "is longer than " + std::to_string(kLongestName) + " bytes";
  if (isDomainName(labels) && !labels.ends_with('.')) return {};
  return "must be a domain name that may begin with \"*.\", but is " + base::quote(written) +
         (name == "*" ? ": leave out hostnames to match every name" : hostnameHint(name));
}

void readEgressName(FieldReader& to, const Item& item, std::vector<std::string>& names) {
  // One byte more than a name has, for the final dot.
  const auto written = readText(*item.value, item.path, {isAnyText, "a name", kLongestName + 1}, to.context());
  if (!written) return;
  std::string name = base::toLower(*written);
  if (name.ends_with('.')) name.pop_back();
  std::string fault = egressNameFault(*written, name);
  if (!fault.empty()) return to.error(item, std::move(fault));
  names.push_back(std::move(name));
}

void readEgressNetwork(FieldReader& holder, const Item& item, std::vector<base::IpNetwork>& networks) {
  const auto text = readText(*item.value, item.path, kNetworkText, holder.context());
  if (!text) return;
  const auto network = base::IpNetwork::parse(*text);
  if (!network) return holder.error(item, "must be a network like 10.0.0.0/8 or fd00::/8");
  networks.push_back(*network);
}

/// Reads a port without a sign and without zeros in front; 0 if the text is none.
std::uint16_t portIn(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [used, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && used == end && !text.starts_with('0') ? port : 0;
}

void readEgressPorts(FieldReader& to, const Item& item, std::vector<base::EgressPorts>& ports) {
  const Value& value = *item.value;
  const bool isText = value.isString();
  if (!isText && value.kind != Value::Kind::kNumber) {
    return to.error(item, wrongKind("a port or a range like \"8000-8099\"", value));
  }
  const std::string_view text = value.text;
  const std::size_t dash = isText ? text.find('-') : std::string_view::npos;
  const std::uint16_t first = portIn(text.substr(0, dash));
  const std::uint16_t last = dash == std::string_view::npos ? first : portIn(text.substr(dash + 1));
  if (first == 0 || last == 0) {
    return to.error(item, "must be a port from 1 to 65535 or a range like \"8000-8099\", but is " + base::quote(text));
  }
  if (last < first) return to.error(item, "must not end before it begins, but is " + base::quote(text));
  ports.push_back({first, last});
}

void readEgressMethod(FieldReader& http, const Item& item, std::vector<std::string>& methods) {
  if (auto method = readText(*item.value, item.path, kMethodText, http.context()))
    methods.push_back(*std::move(method));
}

void readEgressPath(FieldReader& http, const Item& item, std::vector<base::EgressPath>& paths) {
  http.map(item).readInto(paths.emplace_back(), [](FieldReader& reader, base::EgressPath& path) {
    reader.read("type", path.type, kEgressPathTypes);
    reader.read(required("value"), path.value, kEgressPathText);
    const bool isPlain = path.type != base::EgressPath::Type::kRegularExpression;
    if (isPlain && !path.value.empty() && !isPathValue(path.value)) {
      reader.error("value", "must be an absolute path without \"//\", dot segments, \"%2f\" or \"#\", but is " +
                                base::quote(path.value));
    }
  });
}

/// Reads a list that matches everything if it is absent. So one without elements, which would match nothing, is an
/// error.
template <typename T>
void readIfGiven(FieldReader& reader, std::string_view key, std::size_t most, std::optional<std::vector<T>>& list,
                 void (*readItem)(FieldReader&, const Item&, std::vector<T>&)) {
  if (!reader.has(key)) return;
  for (const Item& item : reader.listOfSome(key, most)) {
    if (!list) list.emplace();
    readItem(reader, item, *list);
  }
}

template <const TextRule& kRule>
void readCallerText(FieldReader& from, const Item& item, std::vector<std::string>& texts) {
  if (auto text = readText(*item.value, item.path, kRule, from.context())) texts.push_back(*std::move(text));
}

void readEgressFrom(FieldReader& from, base::EgressRule& rule) {
  readIfGiven(from, "cidrs", kMostNames, rule.clients, readEgressNetwork);
  base::EgressCallers callers;
  readIfGiven(from, "namespaces", kMostNames, callers.namespaces, readCallerText<rule::kNamespace>);
  readIfGiven(from, "serviceAccounts", kMostNames, callers.serviceAccounts, readCallerText<kServiceAccountText>);
  readIfGiven(from, "principals", kMostNames, callers.principals, readCallerText<kPrincipalText>);
  from.read("assurance", callers.assurance, kAssurances);
  // None demands nothing.
  if (callers.assurance == base::Assurance::kNone) callers.assurance.reset();
  if (callers != base::EgressCallers()) rule.callers = std::move(callers);
}

void readEgressTo(FieldReader& to, base::EgressRule& rule) {
  readIfGiven(to, "hostnames", kMostNames, rule.hostnames, readEgressName);
  readIfGiven(to, "cidrs", kMostNames, rule.addresses, readEgressNetwork);
  readIfGiven(to, "ports", kMostPortRanges, rule.ports, readEgressPorts);
}

void readEgressHttp(FieldReader& http, base::EgressRule& rule) {
  readIfGiven(http, "methods", kMostMethods, rule.methods, readEgressMethod);
  readIfGiven(http, "paths", kMostPaths, rule.paths, readEgressPath);
}

void readEgressTls(FieldReader& tls, base::EgressRule& rule) {
  tls.read("mode", rule.requiresTls, kEgressTlsModes);
  tls.read("sni", rule.matchesServerName, kServerNameChecks);
}

void readEgressRule(FieldReader& reader, base::EgressRule& rule) {
  reader.read(required("name"), rule.name, rule::kSectionName);
  reader.read("action", rule.allows, kEgressActions);
  reader.read("from", rule, readEgressFrom);
  reader.read("to", rule, readEgressTo);
  reader.read("http", rule, readEgressHttp);
  reader.read("tls", rule, readEgressTls);
  if (!rule.allows && reader.has("tls")) {
    reader.error("tls", "must not be given in a Deny rule, which denies destinations with and without TLS");
  }
}

void readEgressRules(FieldReader& spec, EgressPolicy& policy) {
  std::vector<base::EgressRule>& rules = policy.terms.rules;
  for (const Item& item : spec.list("rules", base::kMostEgressRules)) {
    base::EgressRule rule;
    spec.map(item).readInto(rule, readEgressRule);
    const auto first =
        std::find_if(rules.begin(), rules.end(), [&](const auto& each) { return each.name == rule.name; });
    if (first != rules.end() && !rule.name.empty()) {
      const std::string& path = policy.rulePaths[static_cast<std::size_t>(first - rules.begin())];
      spec.context().error(item.value->position, item.path + ".name", "repeats the name of " + path);
    }
    rules.push_back(std::move(rule));
    policy.rulePaths.push_back(item.path);
  }
}

void readPasswordsRef(FieldReader& reader, EgressAuthentication& authentication) {
  ObjectRef& ref = authentication.secretRef;
  ref.path = reader.path();
  ref.position = reader.position();
  ref.kind = SecretObject::kKind;
  reader.read("namespace", ref.nameSpace, rule::kNamespace);
  reader.read(required("name"), ref.name, rule::kRefName);
  reader.read("key", authentication.key, rule::kRefName);
}

void readBasicAuthentication(FieldReader& reader, EgressAuthentication& authentication) {
  reader.read(required("secretRef"), authentication, readPasswordsRef);
}

void readEgressAuthentication(FieldReader& reader, EgressAuthentication& authentication) {
  reader.read(required("basic"), authentication, readBasicAuthentication);
  reader.read("realm", authentication.realm, kRealmText);
  reader.read("required", authentication.required);
  authentication.path = reader.path();
}

bool isGatewayTarget(const PolicyTarget& target) { return isKindOf<Gateway>(target.object.group, target.object.kind); }

bool mayBeEgressTarget(const PolicyTarget& target) {
  return !target.legible() || isGatewayTarget(target) || isKindOf<HttpRoute>(target.object.group, target.object.kind) ||
         isKindOf<GrpcRoute>(target.object.group, target.object.kind);
}

void checkEgressTargets(FieldReader& spec, const EgressPolicy& policy) {
  for (const PolicyTarget& target : policy.targets) {
    if (mayBeEgressTarget(target)) continue;
    spec.context().error(target.object.position, target.object.path,
                         "must be a Gateway, an HTTPRoute or a GRPCRoute of gateway.networking.k8s.io, or an "
                         "EgressGateway of ainetworking.prototype.x-k8s.io" +
                             nearestTargetKind(target.targetKind()));
  }
  const bool hasOther = std::any_of(policy.targets.begin(), policy.targets.end(), [](const PolicyTarget& target) {
    return target.legible() && !isGatewayTarget(target);
  });
  if (policy.clientAuthentication && hasOther) {
    spec.error("clientAuthentication", "is for Gateways and their listeners alone");
  }
}

}  // namespace

void readEgressPolicy(FieldReader& spec, EgressPolicy& policy) {
  if (spec.given()) readTargetRefs(spec, policy);
  spec.read("mode", policy.terms.audits, kEgressModes);
  spec.read("default", policy.terms.allowsByDefault, kEgressActions);
  readEgressRules(spec, policy);
  spec.read("clientAuthentication", policy.clientAuthentication, readEgressAuthentication);
  checkEgressTargets(spec, policy);
}

}  // namespace sluice::config
