#include "config/model/gateway_api_crds.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <system_error>

#include "config/ground/object_meta.h"

namespace sluice::config {
namespace {

constexpr int kNewestMinor = 6;  // of kGatewayApiVersion
constexpr int kOldestMinor = 5;

struct ReleasedKind {
  std::string_view kind;
  std::string_view plural;
  bool isServed = false;  // by this program
};

constexpr ReleasedKind kReleasedKinds[] = {
    {"BackendTLSPolicy", "backendtlspolicies", true},
    {"GRPCRoute", "grpcroutes", true},
    {"Gateway", "gateways", true},
    {"GatewayClass", "gatewayclasses", true},
    {"HTTPRoute", "httproutes", true},
    {"ListenerSet", "listenersets"},
    {"ReferenceGrant", "referencegrants", true},
    {"TCPRoute", "tcproutes"},
    {"TLSRoute", "tlsroutes"},
    {"UDPRoute", "udproutes"},
};

std::string crdOf(const ReleasedKind& kind) { return std::string(kind.plural) + "." + std::string(kGatewayGroup); }

/// Returns 6 for "v1.6.1"; nullopt for a version of any other form.
std::optional<int> minorOf(std::string_view version) {
  constexpr std::string_view kMajor = "v1.";
  if (!version.starts_with(kMajor)) return std::nullopt;
  version.remove_prefix(kMajor.size());
  int minor = 0;
  const auto [end, fault] = std::from_chars(version.data(), version.data() + version.size(), minor);
  const bool isWhole = fault == std::errc() && end != version.data() + version.size() && *end == '.';
  return isWhole ? std::optional(minor) : std::nullopt;
}

std::string describedRelease(const CrdRelease& release) {
  const std::string version = release.version.empty() ? "of an unknown release" : release.version;
  return version + (release.channel.empty() ? "" : ", " + release.channel + " channel");
}

}  // namespace

bool hasGatewayApiRelease(std::string_view crd) {
  return std::any_of(std::begin(kReleasedKinds), std::end(kReleasedKinds),
                     [crd](const ReleasedKind& each) { return crd == crdOf(each); });
}

bool GatewayApiCrds::haveField(std::string_view kind, FieldChannel channel) const {
  if (areFiles) return true;
  if (releases.empty()) return channel == FieldChannel::kStandard;
  const auto* released = std::find_if(std::begin(kReleasedKinds), std::end(kReleasedKinds),
                                      [kind](const ReleasedKind& each) { return each.kind == kind; });
  if (released == std::end(kReleasedKinds)) return false;
  const auto found = releases.find(crdOf(*released));
  if (found == releases.end()) return false;
  const int minor = minorOf(found->second.version).value_or(kOldestMinor);
  if (minor < kOldestMinor) return false;
  const bool standard =
      channel == FieldChannel::kStandard || (channel == FieldChannel::kNewInStandard && minor >= kNewestMinor);
  return standard || found->second.channel == "experimental";
}

std::string GatewayApiCrds::missingKinds() const {
  std::string names;
  if (areFiles || releases.empty()) return names;
  for (const ReleasedKind& each : kReleasedKinds) {
    if (each.isServed && !releases.contains(crdOf(each))) names.append(names.empty() ? "" : ", ").append(each.kind);
  }
  return names;
}

std::string GatewayApiCrds::described() const {
  std::map<std::string, std::string> crds;  // by the text about their release
  for (const auto& [name, release] : releases) {
    std::string& names = crds[describedRelease(release)];
    names.append(names.empty() ? "" : ", ").append(name, 0, name.find('.'));
  }
  if (crds.empty()) return "Gateway API " + std::string(kGatewayApiVersion);
  std::string text = "Gateway API ";
  for (const auto& [release, names] : crds) {
    text.append(release == crds.begin()->first ? "" : "; ").append(release);
    if (crds.size() > 1) text.append(" (").append(names).append(")");
  }
  return text;
}

bool GatewayApiCrds::areSupported() const {
  return std::all_of(releases.begin(), releases.end(), [](const auto& each) {
    const std::optional<int> minor = minorOf(each.second.version);
    return minor && *minor >= kOldestMinor && *minor <= kNewestMinor;
  });
}

}  // namespace sluice::config
