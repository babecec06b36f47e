// One configuration, read and compiled. `run` serves it, `validate` prints it and /status reports it, by the same code.
//
// It is a value. The loading thread makes it; from then on it never changes and is shared.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/catalog/catalog_cache.h"
#include "config/ground/problem.h"
#include "config/load/kept_version.h"
#include "config/load/object_set.h"
#include "config/model/model.h"
#include "config/status/conditions.h"
#include "proxy/compile/compile.h"
#include "proxy/control/configuration/named_certificates.h"
#include "proxy/processing/factory.h"

namespace sluice::control {

struct CompiledConfiguration {
  config::Problems problems;
  /// False if a document is not YAML, so that the whole set is rejected.
  bool readable = false;
  /// The objects that were read, and the earlier versions that are served in place of some of them.
  config::ObjectSet set;
  std::vector<config::KeptVersion> kept;
  /// The model that was compiled. Once it is served, the next reading starts from it.
  config::Model model;
  /// The types of payload processors; null if the set is not readable.
  std::shared_ptr<const config::Catalog> catalog;
  compile::CompileResult compiled;
  /// `digest` is over the objects as they were written, and `servedDigest` over what is served. They differ if an
  /// object is invalid and its earlier version is served instead, if the process cannot listen on an address and port,
  /// or if an extension is not available.
  std::string digest;
  std::string servedDigest;
  /// The beginnings of these digests. The first identifies the desired configuration, and the second the served one, by
  /// which replicas are compared.
  std::string revision;
  std::string servedRevision;
  /// The key of digests that the settings name.
  std::optional<base::Secret> revisionKey;
  /// The certificates that it names, for reports about those that expire.
  std::vector<NamedCertificate> certificates;
  /// Where this process cannot listen.
  compile::UnusablePlaces unusable;
  /// Digest of the EndpointSlices, which the other digests leave out.
  std::string endpointsDigest;

  /// Returns true if both would be served in the same way. The authorities of the system are compared, too, because
  /// they may change without a change of objects.
  bool sameAs(const CompiledConfiguration& other) const {
    return digest == other.digest && servedDigest == other.servedDigest && endpointsDigest == other.endpointsDigest &&
           unusable == other.unusable && compiled.awaiting == other.compiled.awaiting &&
           compiled.servers == other.compiled.servers && compiled.health == other.compiled.health &&
           compiled.systemAuthorities == other.compiled.systemAuthorities;
  }
  /// Returns a text that differs if another configuration is served.
  std::string content() const { return servedDigest + endpointsDigest; }
  /// Returns true if it could not be read as it is now, although its content may be right.
  bool unavailable() const { return set.unavailable; }
  /// Returns true if the environment lacks something that may come later.
  bool awaitsEnvironment() const { return !unusable.empty() || !compiled.awaiting.empty(); }
  /// Returns true if it can be served, at least in parts.
  bool usable() const { return readable && compiled.usable; }
  /// Returns true if a process that serves it has done all that it can for its Gateways: it listens somewhere, or all
  /// listeners are closed by faults of their own. False if it has no Gateway, or cannot listen anywhere.
  bool isServedHere() const;
  /// Returns true if nothing in it is refused or degraded. There may be warnings.
  bool flawless() const;
};

/// Results that successive compilations share. It never changes their outcome. It belongs to one thread.
struct ConfigurationCache {
  config::CatalogCache catalog;
  compile::CompileCache compiled;
};

/// `previous` is the configuration that is served now, nullptr if there is none. Its valid objects replace those that
/// have become invalid (config/load/last_good.h). Nothing listens at `unusable` places. If there is a `pool`, Gateways
/// get their addresses from it. They keep those of `previous` or, if that was made without statuses, those in the
/// statuses of the set. Other Gateways get new ones.
CompiledConfiguration makeConfiguration(config::ObjectSet set, const CompiledConfiguration* previous,
                                        const processing::BuiltinTypes& processors, ConfigurationCache& cache,
                                        compile::UnusablePlaces unusable = {},
                                        const std::optional<compile::AddressPool>& pool = {});
/// Reads files, or folders of files, once, as `sluice validate` does, after `previous` if that is not null. Nothing
/// listens at `unusable` places. No revision is published. The class of a Gateway may be missing
/// (config::assumeClass()).
CompiledConfiguration readConfiguration(const std::vector<std::string>& paths,
                                        const processing::BuiltinTypes& processors,
                                        const CompiledConfiguration* previous = nullptr,
                                        compile::UnusablePlaces unusable = {});

}  // namespace sluice::control
