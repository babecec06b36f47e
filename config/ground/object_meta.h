// Defines the metadata that every object has, and references between objects. These are plain values; see model.h.
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
/// The group of the PayloadProcessor of the AI gateway working group, which is newer than its prototype.
inline constexpr std::string_view kNetworkingGroup = "ainetworking.x-k8s.io";
inline constexpr std::string_view kOwnGroup = "sluice.dev";
inline constexpr std::string_view kDiscoveryGroup = "discovery.k8s.io";
inline constexpr std::string_view kDefaultNamespace = "default";  // for objects without a namespace field
inline constexpr std::string_view kControllerName = "sluice.dev/egress-gateway";

/// The version of an object in its source. API servers write it. In files, most of it is absent.
///
/// A served Model may have old versions, because a set that differs from it only in versions is not served again. So a
/// writer of statuses must take uid and resourceVersion from the newest ObjectSet.
struct ObjectVersion {
  std::optional<std::int64_t> generation;
  std::string uid;
  std::string resourceVersion;
  std::string revision;  // the revision of the object as written (config/load/revision.h)
};

struct ObjectMeta : ObjectVersion {
  std::string_view group;  // as in the table of kinds; empty for the core group
  std::string_view kind;
  std::string nameSpace;  // "default" if not given; empty for GatewayClass
  bool namespaceGiven = false;
  std::string name;
  std::string creationTimestamp;  // from sortableTime(); kAfterAllTimes if there is none
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  Position position;  // position of the document's first key
  /// The revision of this content. It differs from `revision` if an earlier version is still served.
  std::string contentRevision;

  /// Returns "namespace/name", or only the name for objects without a namespace.
  std::string qualifiedName() const;
  /// Returns the kind and the qualified name for messages: "Gateway demo/egress".
  std::string title() const { return std::string(kind) + " " + qualifiedName(); }
};

/// A field that the API has and this program does not support yet (condition reason UnsupportedValue). If it would
/// restrict or alter traffic, the rule, weighted backend, listener or Backend with the field answers 500 instead of
/// ignoring it.
struct UnsupportedField {
  std::string path;  // such as "spec.rules[0].filters[1]"
  Position position;
  std::string message;  // such as "filter RequestMirror is not supported"; a sentence without the path
  bool altersTraffic = true;
};

/// A reference to another object. Its defaults are filled in.
struct ObjectRef {
  std::string group;
  std::string kind;
  std::string nameSpace;  // empty for the namespace of the holder
  std::string name;
  std::string path;  // path of the field with the reference
  Position position;
};

}  // namespace sluice::config
