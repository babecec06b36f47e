// GatewayParameters define how the controller runs the Pods of a Gateway that names them
// (Gateway.spec.infrastructure.parametersRef), and the settings of these Pods. They are plain values; see model.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/ground/document.h"
#include "config/ground/object_meta.h"
#include "proxy/base/identity_terms.h"

namespace sluice::config {

/// The model of spec.autoscaling, which replaces spec.replicas.
struct Autoscaling {
  std::uint32_t minReplicas = 2;
  std::uint32_t maxReplicas = 2;            // at least minReplicas
  std::uint32_t targetCpuUtilization = 70;  // percent of the CPU that the Pods request
};

/// The most bytes of each free-form value, and of the text in a ConfigMap.
inline constexpr std::size_t kMostParameterBytes = std::size_t{256} * 1024;

struct GatewayParameters {
  static constexpr std::string_view kKind = "GatewayParameters";
  ObjectMeta meta;
  std::optional<std::uint32_t> replicas = std::nullopt;
  std::optional<Autoscaling> autoscaling = std::nullopt;
  std::string image = {};     // empty for the controller's --image
  std::string logLevel = {};  // empty for the default of `sluice run`
  std::string serviceType = "ClusterIP";
  // These values have Kubernetes' own form, as they were written. They are null if they are absent.
  PackedValue resources = {};     // resources of the container
  PackedValue nodeSelector = {};  // this and the values below are for the Pods
  PackedValue tolerations = {};
  PackedValue affinity = {};
  /// A map of settings in the form of settings.yaml, which override those of the GatewayClass; null if it is absent.
  /// They were checked when they were read.
  PackedValue settings = {};
  /// How the Gateway learns who its callers are. Where the class's settings have identity, it may only narrow it.
  std::optional<base::IdentityTerms> identity = std::nullopt;
};

}  // namespace sluice::config
