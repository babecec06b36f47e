// GatewayParameters: how the controller runs the Pods of a Gateway that names them (Gateway.spec.infrastructure
// .parametersRef), and the settings of these Pods. Plain values; see model.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/ground/document.h"
#include "config/ground/object_meta.h"

namespace sluice::config {

/// spec.autoscaling, in place of spec.replicas
struct Autoscaling {
  std::uint32_t minReplicas = 2;
  std::uint32_t maxReplicas = 2;            // at least minReplicas
  std::uint32_t targetCpuUtilization = 70;  // percent of what the Pods request
};

struct GatewayParameters {
  static constexpr std::string_view kKind = "GatewayParameters";
  ObjectMeta meta;
  std::optional<std::uint32_t> replicas = std::nullopt;
  std::optional<Autoscaling> autoscaling = std::nullopt;
  std::string image = {};     // empty: the controller's --image
  std::string logLevel = {};  // empty: that of `sluice run`
  std::string serviceType = "ClusterIP";
  // In Kubernetes' own form, as they were written; null if they are absent.
  Value resources = {};     // of the container
  Value nodeSelector = {};  // of the Pods, and so are those below
  Value tolerations = {};
  Value affinity = {};
  /// A map of settings, as in settings.yaml, that differ from those of the GatewayClass; null if it is absent. They
  /// have been checked by themselves.
  Value settings = {};
};

}  // namespace sluice::config
