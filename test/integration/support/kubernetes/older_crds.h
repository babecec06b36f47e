// CRDs of Gateway API that are older, or of another channel, than those in test/support/kube/crds. They are not the
// originals: they are made of these by leaving out the kinds, fields and values that those did not have.
#pragma once

#include <string>
#include <vector>

namespace sluice::test {

/// Parts that CRDs do not have.
struct LackingParts {
  std::vector<std::string> fields;   // "retry", wherever it is
  std::vector<std::string> values;   // of enums, "ExternalAuth"
  std::vector<std::string> plurals;  // kinds that are missing, "grpcroutes"
};

/// The standard channel of v1.5.1.
LackingParts lackingInStandard15();
/// The standard channel of v1.6.1.
LackingParts lackingInStandard16();

/// Returns the CRDs of gateway.networking.k8s.io, as one text, without these parts and with these annotations.
std::string gatewayApiCrdsWithout(const LackingParts& parts, const std::string& version, const std::string& channel);

}  // namespace sluice::test
