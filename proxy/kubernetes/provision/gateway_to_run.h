// A Gateway whose Pods the controller runs, and the names, labels and owners that all its objects share (GEP-1762).
//
// Pure functions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/model/gateway_parameters.h"
#include "config/model/model.h"
#include "proxy/base/clock.h"
#include "proxy/base/json_writer.h"
#include "proxy/kubernetes/provision/provisioned_object.h"

namespace sluice::kubernetes {

struct GatewayToRun {
  const config::Gateway& gateway;
  std::string apiVersion;  // of the Gateway
  std::string uid;         // of its newest version
  config::GatewayParameters parameters = {};
  std::string image = {};                // unless the parameters name one
  base::Duration drainTimeout{};         // of the settings
  std::string controllerNamespace = {};  // of the controller that provisions it
  /// The Secret in its namespace with keys that replace those of the class for its Pods (class_keys.h); empty: they use
  /// those of the class.
  std::string classKeys = {};
  /// All of its infrastructure.annotations are those of its ServiceAccount, too; else those whose keys have no domain.
  bool serviceAccountAnnotations = false;
  /// The uid of kGatewayClusterRole, which owns the objects outside of the Gateway's namespace; empty: nothing does.
  std::string sharedRole = {};
};

/// Returns the name of its objects: that of the Gateway and its class, in a form that a Service may have. No other
/// Gateway of the namespace has it.
std::string nameOfPods(const config::Gateway& gateway);
/// Returns the value of kGatewayNameLabel for a Gateway of that name, which may be longer than a label's value.
std::string gatewayNameLabel(const std::string& name);
/// Returns the labels by which its Pods are selected.
std::map<std::string, std::string> selectorOf(const config::Gateway& gateway);
/// Returns the labels of its objects: those of infrastructure.labels, and ours, which come before them.
std::map<std::string, std::string> labelsOf(const config::Gateway& gateway);

/// Writes a map of texts.
void writeTextMap(base::JsonWriter& json, const std::map<std::string, std::string>& texts);
/// Begins an object of that kind: apiVersion, kind and metadata. An object in the Gateway's namespace is owned by the
/// Gateway and has the labels and annotations of its infrastructure; elsewhere it is owned by the ClusterRole of all
/// Gateways, and the Gateway may not choose labels and annotations. The writer is inside the object afterwards.
base::JsonWriter beginProvisioned(const GatewayToRun& run, const ProvisionedKind& kind, std::string_view nameSpace,
                                  std::string_view name);

/// Returns the object whose JSON beginObject() has begun.
ProvisionedObject provisionedFor(const GatewayToRun& run, const ProvisionedKind& kind, std::string_view nameSpace,
                                 std::string_view name, std::string body);

}  // namespace sluice::kubernetes
