// GatewayApiCrds are the CustomResourceDefinitions of Gateway API that an API server has. They decide which kinds and
// fields people can write there. Each has a release of its own, because not all of them need be installed together.
//
// A value; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sluice::config {

/// The newest release whose objects this program knows. Tests use the CRDs of this one and of the minor release before.
inline constexpr std::string_view kGatewayApiVersion = "v1.6.1";

/// The annotations of a CRD; empty if it has none.
struct CrdRelease {
  std::string version = {};  // gateway.networking.k8s.io/bundle-version: "v1.6.1"
  std::string channel = {};  // gateway.networking.k8s.io/channel: "standard" or "experimental"

  bool operator==(const CrdRelease&) const = default;
};

/// The channels of Gateway API that have a field.
enum class FieldChannel : std::uint8_t {
  kStandard,       // both, in each release that is supported
  kNewInStandard,  // both since 1.6, and before that only the experimental one
  kExperimental
};

struct GatewayApiCrds {
  /// By the names of the CRDs ("httproutes.gateway.networking.k8s.io"). Empty if the objects do not come from an API
  /// server, or if it does not tell which CRDs it has.
  std::map<std::string, CrdRelease, std::less<>> releases = {};
  /// True if the objects come from files. These may have all fields that this program reads.
  bool areFiles = true;

  /// Returns true if people can write a field in objects of that kind of gateway.networking.k8s.io.
  bool haveField(std::string_view kind, FieldChannel channel) const;
  /// Returns the names of the kinds that this program serves and the server does not have, separated by commas.
  std::string missingKinds() const;
  /// Returns the releases for people: "Gateway API v1.6.1, standard channel". If the CRDs are of several ones, it names
  /// their kinds.
  std::string described() const;
  /// Returns true if each CRD is of a release that this program supports.
  bool areSupported() const;

  bool operator==(const GatewayApiCrds&) const = default;
};

/// Returns true if the name is that of a CRD with a release of Gateway API.
bool hasGatewayApiRelease(std::string_view crd);

}  // namespace sluice::config
