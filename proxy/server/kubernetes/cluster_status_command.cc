#include "proxy/server/kubernetes/cluster_status_command.h"

#include <utility>

#include "proxy/server/kubernetes/cluster_status.h"

namespace sluice::server {

int printClusterStatus(const std::string& kubeconfig, OutputFormat format) {
  base::Result<ClusterLists> lists = readClusterLists(kubeconfig, statusCollections());
  if (!lists.ok()) return complain(lists.error());
  const ClusterStatus status = readClusterStatus(std::move(lists).value(), base::SystemClock().wallNow());
  print(clusterStatusOutput(status), format);
  return status.hasFaults() ? 1 : 0;
}

}  // namespace sluice::server
