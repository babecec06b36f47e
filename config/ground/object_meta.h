// The metadata that every object has, and references between objects. Plain values; see model.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "config/ground/document.h"

namespace sluice::config {

inline constexpr std::string_view kGatewayGroup = "gateway.networking.k8s.io";
inline constexpr std::string_view kExperimentalGroup = "gateway.networking.x-k8s.io";
inline constexpr std::string_view kPrototypeGroup = "ainetworking.prototype.x-k8s.io";
/// The group of the AI gateway working group's PayloadProcessor, which is later than its prototype.
inline constexpr std::string_view kNetworkingGroup = "ainetworking.x-k8s.io";
inline constexpr std::string_view kOwnGroup = "sluice.dev";
inline constexpr std::string_view kDiscoveryGroup = "discovery.k8s.io";
inline constexpr std::string_view kDefaultNamespace = "default";  // of objects that name none
inline constexpr std::string_view kControllerName = "sluice.dev/egress-gateway";

/// The version of an object in its source. API servers write it; files seldom have any of it.
///
/// A served Model may have old versions, because a set that differs from it only in versions is not served anew. So a
/// writer of statuses must take uid and resourceVersion from the newest ObjectSet.
struct ObjectVersion {
  std::optional<std::int64_t> generation;
  std::string uid;
  std::string resourceVersion;
  std::string revision;  // of the object as it is written (config/load/revision.h)
};

struct ObjectMeta : ObjectVersion {
  std::string_view group;  // as in the table of kinds; empty: the core group
  std::string_view kind;
  std::string nameSpace;  // "default" if not given; empty for GatewayClass
  bool namespaceGiven = false;
  std::string name;
  std::string creationTimestamp;  // sortableTime(), so that texts compare as times; without one kAfterAllTimes
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  Position position;  // position of the document's first key
  /// The revision of this content. It differs from `revision` if this is an earlier version, which is served on.
  std::string contentRevision;

  /// Returns "namespace/name", or the name alone for objects without a namespace.
  std::string qualifiedName() const;
  /// Returns the kind and that name, for messages: "Gateway demo/egress".
  std::string title() const { return std::string(kind) + " " + qualifiedName(); }
};

/// A field that the API knows and this program does not serve yet (condition reason UnsupportedValue). If it would
/// restrict or alter traffic, its holder (rule, weighted backend, listener, Backend) answers 500 instead of ignoring
/// it.
struct UnsupportedField {
  std::string path;  // "spec.rules[0].filters[1]"
  Position position;
  std::string message;  // one sentence without the path: "filter RequestMirror is not supported"
  bool altersTraffic = true;
};

/// A reference to another object, with its field's defaults filled in.
struct ObjectRef {
  std::string group;
  std::string kind;
  std::string nameSpace;  // empty: the holder's
  std::string name;
  std::string path;  // path of the field that holds it
  Position position;
};

}  // namespace sluice::config
