// The checked command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/compile/gateways/address_pool.h"
#include "proxy/compile/gateways/pod_ports.h"
#include "proxy/control/explain/explained_request.h"
#include "proxy/net/address.h"
#include "proxy/observe/log.h"
#include "proxy/server/check/check_egress_command.h"
#include "proxy/server/commands/manifests_command.h"
#include "proxy/server/commands/output_format.h"
#include "proxy/server/commands/validate_command.h"
#include "proxy/server/kubernetes/check_upgrade_command.h"
#include "proxy/server/kubernetes/rollback_options.h"

namespace sluice::server {

enum class Command {
  kRun,
  kController,
  kValidate,
  kCatalog,
  kConvert,
  kStatus,
  kRevisions,
  kClearRevision,
  kRollback,
  kDiff,
  kExplain,
  kCheckEgress,
  kCheckUpgrade,
  kManifests,
  kTop,
  kVersion
};

/// How a process takes part in a Kubernetes cluster.
struct KubernetesOptions {
  std::string kubeconfig;                // empty: the service account of the Pod
  std::vector<std::string> gateways;     // "namespace/name" of those to serve; none: all of our GatewayClasses
  bool controller = false;               // statuses are written back
  std::string controllerNamespace = {};  // of the controller that keeps this Pod; empty: none does
  std::string classKeys = {};            // the Secret in the Gateway's namespace whose keys replace those of the class
  std::string image = {};                // of the Pods that the controller keeps for Gateways; empty: it keeps none
  std::optional<compile::AddressPool> addressPool = std::nullopt;  // none: Gateways share all addresses of the machine
};

struct Options {
  Command command = Command::kRun;
  std::vector<std::string> config;
  std::string objects;                                         // kRun: the configuration itself, in place of `config`
  std::optional<KubernetesOptions> kubernetes = std::nullopt;  // the API server with further objects, or for kStatus
  OutputFormat output = OutputFormat::kText;
  std::string revision;                     // kClearRevision
  RollbackOptions rollback = {};            // kRollback
  control::RequestInQuestion request = {};  // kExplain
  bool resolve = false;                     // kExplain: ask for the names of Backends
  ValidationOptions validation = {};
  EgressCheckOptions egressCheck = {};
  UpgradeCheckOptions upgradeCheck = {};
  ManifestOptions manifests = {};
  bool adminValidate = true;
  base::Duration interval = std::chrono::seconds(1);  // kTop
  std::string before;                                 // kDiff
  std::string after;                                  // kDiff
  net::Address admin = *net::Address::parse("127.0.0.1", compile::kAdminPort);
  net::Address health = *net::Address::parse("::", compile::kHealthPort);
  std::string stateDir;                  // where the last good configuration is kept; empty: nowhere
  std::string libraryDir;                // the folder of libraries of payload processors; empty: there are none
  std::string zone;                      // kRun: where the gateway runs; empty: unknown
  std::optional<std::uint32_t> workers;  // takes precedence over settings.yaml
  std::string publishIn;  // kCatalog: the namespace of the objects that publish it; empty for the list alone
  observe::LogLevel logLevel = observe::LogLevel::kInfo;
};

/// The options, or the exit code with which the process must end (help, version and other pages about the command line
/// were printed to stdout, errors to stderr).
struct CommandLine {
  std::optional<Options> options;
  int exitCode = 0;
};

CommandLine parseCommandLine(int argc, const char* const* argv);

}  // namespace sluice::server
