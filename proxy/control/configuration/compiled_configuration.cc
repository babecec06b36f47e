#include "proxy/control/configuration/compiled_configuration.h"

#include <algorithm>
#include <iterator>

#include "config/load/assumed_class.h"
#include "config/load/load.h"
#include "proxy/compile/processors/processor_support.h"
#include "proxy/control/configuration/revision_key.h"
#include "proxy/control/configuration/silent_objects.h"
#include "proxy/control/configuration/unknown_fields.h"
#include "proxy/pki/digest.h"

namespace sluice::control {
namespace {

/// Returns the digest of a configuration that is served without the things that the environment lacks, so that replicas
/// show the difference. It does not depend on the order in which a process has found them missing.
std::string digestWithout(const CompiledConfiguration& made) {
  std::vector<std::string> lacking;
  for (const compile::UnusablePlace& each : made.unusable)
    lacking.push_back(each.address + " " + std::to_string(each.port));
  for (const compile::AwaitingUse& each : made.compiled.awaiting) lacking.push_back(each.name);
  std::sort(lacking.begin(), lacking.end());
  pki::Sha256 all;
  all.add(made.servedDigest);
  for (const std::string& each : lacking) all.add(std::to_string(each.size()) + " " + each);
  return pki::toHex(all.finish());
}

/// Returns the addresses of the first set, and those of Gateways that have none there.
compile::GatewayAddresses withOthers(const compile::GatewayAddresses& first, const compile::GatewayAddresses& others) {
  compile::GatewayAddresses all = first;
  for (const auto& [gateway, address] : others) {
    const auto found = first.lower_bound({gateway, {}});
    if (found == first.end() || found->first != gateway) all.emplace(gateway, address);
  }
  return all;
}

/// Returns the addresses that Gateways must keep. These are the served ones, unless they were chosen before the
/// statuses could be read: then the addresses in the statuses take precedence, because clients use them.
compile::GatewayAddresses knownAddresses(const config::ObjectSet& set, const CompiledConfiguration* previous) {
  const compile::GatewayAddresses served =
      previous == nullptr ? compile::GatewayAddresses() : previous->compiled.addresses;
  if (set.addresses == nullptr) return served;
  const bool informed = previous != nullptr && previous->set.addresses != nullptr;
  return informed ? withOthers(served, *set.addresses) : withOthers(*set.addresses, served);
}

}  // namespace

bool CompiledConfiguration::isServedHere() const {
  if (!compiled.snapshot->binds.empty()) return true;
  // A Gateway cannot choose the address of its Pods. One that does is at fault itself, and no other Pod would serve it.
  const auto isFaultOfGateway = [this](const compile::UnusablePlace& place) {
    return model.gatewaysHaveOwnPods() && !place.address.empty();
  };
  return compiled.hasGateway && std::all_of(unusable.begin(), unusable.end(), isFaultOfGateway);
}

bool CompiledConfiguration::flawless() const {
  return usable() && !config::hasErrors(problems) &&
         std::all_of(compiled.statuses.begin(), compiled.statuses.end(), config::isHealthy);
}

CompiledConfiguration makeConfiguration(config::ObjectSet set, const CompiledConfiguration* previous,
                                        const processing::BuiltinTypes& processors, ConfigurationCache& cache,
                                        compile::UnusablePlaces unusable,
                                        const std::optional<compile::AddressPool>& pool) {
  config::Configuration loaded = config::load(set, previous == nullptr ? nullptr : &previous->model);
  CompiledConfiguration made;
  made.problems = std::move(loaded.problems);
  made.readable = loaded.readable;
  made.model = std::move(loaded.model);
  if (made.readable) made.catalog = cache.catalog.read(made.model, compile::supportOf(processors), made.problems);
  if (made.readable) {
    compile::KnownPlaces places{.unusable = unusable, .pool = pool};
    if (previous != nullptr) places.served = previous->compiled.places;
    if (pool) places.addresses = knownAddresses(set, previous);
    made.compiled = compile::compile(made.model, *made.catalog, processors, cache.compiled, places);
    addUnknownFields(made.compiled.statuses, made.problems);
  }
  if (made.readable) {
    config::Problems silent = silentObjects(made.model);
    std::move(silent.begin(), silent.end(), std::back_inserter(made.problems));
    if (made.model.gatewayClassName.empty()) made.problems.push_back(missingClass(made.model));
  }
  if (made.readable) made.certificates = namedCertificates(made.model);
  made.revisionKey = givenRevisionKey(made.model, made.problems);
  made.unusable = std::move(unusable);
  made.digest = std::move(loaded.digest);
  made.revision = std::move(loaded.revision);
  made.servedDigest = made.digest;
  if (previous != nullptr && made.readable && config::servesEarlierVersions(made.model)) {
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
                                        const CompiledConfiguration* previous, compile::UnusablePlaces unusable) {
  config::TextCache texts;
  ConfigurationCache cache;
  config::ObjectSet set = config::readPaths(paths, base::Secret(), texts);
  config::assumeClass(set);
  return makeConfiguration(std::move(set), previous, processors, cache, std::move(unusable));
}

}  // namespace sluice::control
