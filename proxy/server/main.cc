// The process: command line, then one of its commands. Only this file knows which payload processors are built in.
#include "filters/types/builtin_types.h"
#include "proxy/server/catalog_command.h"
#include "proxy/server/check/check_egress_command.h"
#include "proxy/server/cli.h"
#include "proxy/server/commands/convert_command.h"
#include "proxy/server/commands/diff_command.h"
#include "proxy/server/commands/manifests_command.h"
#include "proxy/server/commands/revisions_command.h"
#include "proxy/server/commands/status_command.h"
#include "proxy/server/commands/top_command.h"
#include "proxy/server/commands/validate_command.h"
#include "proxy/server/commands/version_command.h"
#include "proxy/server/explain_command.h"
#include "proxy/server/kubernetes/check_upgrade_command.h"
#include "proxy/server/kubernetes/cluster_status_command.h"
#include "proxy/server/kubernetes/rollback_command.h"
#include "proxy/server/process.h"

int main(int argc, char** argv) {
  const sluice::server::CommandLine line = sluice::server::parseCommandLine(argc, argv);
  if (!line.options) return line.exitCode;
  const sluice::processing::BuiltinTypes processors = sluice::filters::builtinTypes(line.options->libraryDir);
  switch (line.options->command) {
    case sluice::server::Command::kRun:
    case sluice::server::Command::kController:
      return sluice::server::runProcess(*line.options, processors);
    case sluice::server::Command::kValidate:
      return sluice::server::validateConfiguration(line.options->config, line.options->validation, processors);
    case sluice::server::Command::kCatalog:
      return sluice::server::printCatalog(*line.options, processors);
    case sluice::server::Command::kConvert:
      return sluice::server::convertFiles(line.options->config);
    case sluice::server::Command::kExplain:
      return sluice::server::printExplanation(*line.options, processors);
    case sluice::server::Command::kDiff:
      return sluice::server::printDifferences(line.options->before, line.options->after, line.options->output,
                                              processors);
    case sluice::server::Command::kStatus:
      if (line.options->kubernetes) {
        return sluice::server::printClusterStatus(line.options->kubernetes->kubeconfig, line.options->output);
      }
      return sluice::server::printStatus(line.options->admin, line.options->output);
    case sluice::server::Command::kRevisions:
      return sluice::server::printRevisions(line.options->admin, line.options->output);
    case sluice::server::Command::kClearRevision:
      return sluice::server::clearRevision(line.options->admin, line.options->revision);
    case sluice::server::Command::kRollback:
      return sluice::server::rollBack(line.options->kubernetes->kubeconfig, line.options->rollback);
    case sluice::server::Command::kCheckEgress:
      return sluice::server::checkEgress(line.options->egressCheck, line.options->output);
    case sluice::server::Command::kCheckUpgrade:
      return sluice::server::checkUpgrade(line.options->kubernetes->kubeconfig, line.options->upgradeCheck,
                                          line.options->output, processors);
    case sluice::server::Command::kManifests:
      return sluice::server::printManifests(line.options->manifests);
    case sluice::server::Command::kTop:
      return sluice::server::showTop(line.options->admin, line.options->interval);
    case sluice::server::Command::kVersion:
      return sluice::server::printVersion(line.options->output);
  }
}
