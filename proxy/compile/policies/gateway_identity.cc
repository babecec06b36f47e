#include "proxy/compile/policies/gateway_identity.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "config/load/gateway_settings.h"
#include "proxy/base/text.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {
namespace {

/// Returns why the terms are not narrower than those of the class, after the name of the field; empty if they are.
std::string whyWider(const base::IdentityTerms& own, const base::IdentityTerms& ofClass) {
  if (!own.forwardHeader.empty() && own.forwardHeader != ofClass.forwardHeader) {
    return "forward.header: is that of the class, which the Gateway cannot change";
  }
  if (!own.clientCertificate) return {};
  if (!ofClass.clientCertificate) return "sources: the class has no source ClientCertificate";
  const std::vector<std::string>& allowed = ofClass.clientCertificate->trustDomains;
  for (const std::string& each : own.clientCertificate->trustDomains) {
    if (std::find(allowed.begin(), allowed.end(), each) == allowed.end()) {
      return "sources: " + base::quote(each) + " is no trust domain of the class";
    }
  }
  return {};
}

}  // namespace

EffectiveIdentity identityOf(const config::Model& model, const config::Gateway& gateway) {
  const base::IdentityTerms& ofClass = model.settings.identity;
  const config::GatewayParameters* parameters = config::parametersOf(model, gateway);
  if (parameters == nullptr || !parameters->identity) return {ofClass};
  const base::IdentityTerms& own = *parameters->identity;
  if (ofClass == base::IdentityTerms()) return {own};
  if (const std::string why = whyWider(own, ofClass); !why.empty()) {
    const config::ObjectRef& ref = *gateway.infrastructure.parametersRef;
    return {ofClass, fault(config::reason::kInvalidParameters, ref.path,
                           describe(ref, gateway.meta.nameSpace) + ": spec.identity." + why +
                               "; the identity of the class stays in force")};
  }
  return {{own.clientCertificate, ofClass.forwardHeader}};
}

}  // namespace sluice::compile
