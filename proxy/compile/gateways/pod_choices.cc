#include "proxy/compile/gateways/pod_choices.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/load/gateway_settings.h"
#include "proxy/base/text.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {
namespace {

/// Keys, and prefixes of keys, of annotations and labels by which clouds give Pods an identity of the cloud.
constexpr std::string_view kCloudIdentities[] = {"aadpodidbinding",    "azure.workload.identity/",
                                                 "eks.amazonaws.com/", "iam.amazonaws.com/",
                                                 "iam.gke.io/",        "pod-identity.alibabacloud.com/"};

bool givesCloudIdentity(std::string_view key) {
  return std::any_of(std::begin(kCloudIdentities), std::end(kCloudIdentities), [key](std::string_view each) {
    return each.ends_with('/') ? key.starts_with(each) : key == each;
  });
}

/// Gathers the choices of a Gateway that its class does not allow.
class ChoiceCheck {
 public:
  explicit ChoiceCheck(const base::ProvisioningSettings& settings) : settings_(settings) {}

  void checkNamespace(const config::Model& model, const std::string& nameSpace) {
    const std::vector<std::string>& names = settings_.namespaces;
    const bool named = names.empty() || std::find(names.begin(), names.end(), nameSpace) != names.end();
    const bool selected = !settings_.namespaceSelector ||
                          settings_.namespaceSelector->matches(config::labelsOfNamespace(model, nameSpace));
    if (!named || !selected) forbid({"metadata.namespace", "Gateways of " + nameSpace + " have no Pods"}, "namespaces");
  }

  void checkInfrastructure(const config::Infrastructure& infrastructure) {
    if (settings_.allowServiceAccountAnnotations) return;
    checkKeys("annotations", infrastructure.annotations);
    checkKeys("labels", infrastructure.labels);
  }

  /// `ref` is the reference to the parameters, and `object` is the object that it names.
  void checkParameters(const config::GatewayParameters& parameters, const config::ObjectRef& ref,
                       const std::string& object) {
    const auto check = [&](bool chosen, bool allowed, std::string_view field, std::string_view setting) {
      if (chosen && !allowed) {
        forbid({ref.path, object + ": spec." + std::string(field) + ": is not the Gateway's to choose"}, setting);
      }
    };
    constexpr std::string_view kAllowScheduling = "allowScheduling";
    check(!parameters.image.empty(), settings_.allowImage, "image", "allowImage");
    check(parameters.serviceType != config::GatewayParameters().serviceType, settings_.allowServiceType, "service.type",
          "allowServiceType");
    check(!parameters.nodeSelector.isNull(), settings_.allowScheduling, "nodeSelector", kAllowScheduling);
    check(!parameters.tolerations.isNull(), settings_.allowScheduling, "tolerations", kAllowScheduling);
    check(!parameters.affinity.isNull(), settings_.allowScheduling, "affinity", kAllowScheduling);
  }

  std::optional<Fault> fault() const { return joined(faults_); }

 private:
  void checkKeys(std::string_view map, const std::map<std::string, std::string>& texts) {
    for (const auto& [key, value] : texts) {
      if (!givesCloudIdentity(key)) continue;
      forbid({"spec.infrastructure." + std::string(map), base::quote(key) + " is not the Gateway's to choose"},
             "allowServiceAccountAnnotations");
    }
  }

  void forbid(const config::Finding& choice, std::string_view setting) {
    faults_.push_back(compile::fault(config::reason::kInvalidParameters, choice.field,
                                     choice.message + " (settings.yaml: provisioning." + std::string(setting) + ")"));
  }

  const base::ProvisioningSettings& settings_;
  std::vector<Fault> faults_;
};

}  // namespace

std::optional<Fault> forbiddenChoice(const config::Model& model, const config::Gateway& gateway) {
  if (model.controllerNamespace.empty()) return std::nullopt;
  ChoiceCheck check(model.settings.provisioning);
  check.checkNamespace(model, gateway.meta.nameSpace);
  check.checkInfrastructure(gateway.infrastructure);
  if (const config::GatewayParameters* parameters = config::parametersOf(model, gateway)) {
    const config::ObjectRef& ref = *gateway.infrastructure.parametersRef;
    check.checkParameters(*parameters, ref, describe(ref, gateway.meta.nameSpace));
  }
  return check.fault();
}

}  // namespace sluice::compile
