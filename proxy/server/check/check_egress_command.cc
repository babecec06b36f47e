#include "proxy/server/check/check_egress_command.h"

#include "proxy/kubernetes/access/in_cluster.h"
#include "proxy/server/check/egress_output.h"
#include "proxy/server/check/egress_probes.h"
#include "proxy/server/check/egress_report.h"
#include "proxy/server/kubernetes/cluster_access.h"

namespace sluice::server {
namespace {

/// If the namespace cannot be read, it is unknown, because the check does not depend on it.
std::string ownNamespace() {
  base::Result<std::string> name = kubernetes::readPodNamespace(environmentVariable);
  return name ? *std::move(name) : std::string();
}

}  // namespace

int checkEgress(const EgressCheckOptions& options, OutputFormat format) {
  const std::vector<CheckTarget> targets = options.targets.empty() ? defaultTargets() : options.targets;
  const EgressFindings findings = probeEgress(targets, options.gateway, options.timeout);
  const EgressReport report = judgeEgress(
      findings, options.gateway, options.nameSpace.empty() ? ownNamespace() : options.nameSpace, options.timeout);
  print(egressOutput(report), format);
  return report.good() ? 0 : 1;
}

}  // namespace sluice::server
