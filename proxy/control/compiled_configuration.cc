#include "proxy/control/compiled_configuration.h"

#include <algorithm>

#include "config/load.h"
#include "proxy/control/processor_support.h"
#include "proxy/control/state/revision_key.h"
#include "proxy/pki/digest.h"

namespace sluice::control {
namespace {

std::string count(std::size_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

config::Problem noClass() {
  config::Problem problem;
  problem.message = "there is no GatewayClass with controllerName " + std::string(config::kControllerName);
  return problem;
}

/// Returns the digest of what is served without what the environment lacks, so that replicas show the difference. The
/// order in which a process has found out what it lacks does not count.
std::string digestWithout(const CompiledConfiguration& made) {
  std::vector<std::string> lacking;
  for (const UnusablePlace& each : made.unusable) lacking.push_back(each.address + " " + std::to_string(each.port));
  for (const AwaitingUse& each : made.compiled.awaiting) lacking.push_back(each.name);
  std::sort(lacking.begin(), lacking.end());
  pki::Sha256 all;
  all.add(made.servedDigest);
  for (const std::string& each : lacking) all.add(std::to_string(each.size()) + " " + each);
  return pki::toHex(all.finish());
}

}  // namespace

bool CompiledConfiguration::flawless() const {
  return usable() && problems.empty() &&
         std::all_of(compiled.statuses.begin(), compiled.statuses.end(), config::isHealthy);
}

CompiledConfiguration makeConfiguration(config::ObjectSet set, const CompiledConfiguration* previous,
                                        const processing::BuiltinTypes& processors, ConfigurationCache& cache,
                                        UnusablePlaces unusable) {
  config::Configuration loaded = config::load(set, previous == nullptr ? nullptr : &previous->model);
  CompiledConfiguration made;
  made.problems = std::move(loaded.problems);
  made.readable = loaded.readable;
  made.model = std::move(loaded.model);
  if (made.readable) made.catalog = cache.catalog.read(made.model, supportOf(processors), made.problems);
  if (made.readable) {
    KnownPlaces places{unusable, {}};
    if (previous != nullptr) places.served = previous->compiled.places;
    made.compiled = control::compile(made.model, *made.catalog, processors, cache.compiled, places);
  }
  if (made.readable && made.model.gatewayClassName.empty()) made.problems.push_back(noClass());
  made.revisionKey = givenRevisionKey(made.model, made.problems);
  made.unusable = std::move(unusable);
  made.digest = std::move(loaded.digest);
  made.revision = std::move(loaded.revision);
  made.servedDigest = made.digest;
  if (previous != nullptr && made.readable && !made.model.kept.empty()) {
    made.kept = config::keptVersions(made.model, set, previous->set, previous->kept);
    made.servedDigest = config::servedDigest(set, made.kept);
  }
  if (made.awaitsEnvironment()) made.servedDigest = digestWithout(made);
  made.servedRevision = config::revisionOf(made.servedDigest);
  made.set = std::move(set);
  made.endpointsDigest = std::move(loaded.endpointsDigest);
  return made;
}

CompiledConfiguration readConfiguration(const std::vector<std::string>& paths,
                                        const processing::BuiltinTypes& processors,
                                        const CompiledConfiguration* previous, UnusablePlaces unusable) {
  config::TextCache texts;
  ConfigurationCache cache;
  return makeConfiguration(config::readPaths(paths, base::Secret(), texts), previous, processors, cache,
                           std::move(unusable));
}

std::string reportText(const CompiledConfiguration& configuration) {
  std::string text;
  for (const config::Problem& problem : configuration.problems) text += config::render(problem) + "\n";
  std::size_t unhealthy = 0;
  for (const config::ObjectStatus& object : configuration.compiled.statuses) {
    text += config::statusText(object);
    if (!config::isHealthy(object)) ++unhealthy;
  }
  if (configuration.flawless())
    return text + "valid: " + count(configuration.compiled.statuses.size(), "object") + " served as written\n";
  text += "not valid: " + count(configuration.problems.size(), "problem") + ", " + count(unhealthy, "object") +
          " not fully served";
  if (!configuration.usable()) text += "; nothing can be served";
  return text + "\n";
}

}  // namespace sluice::control
