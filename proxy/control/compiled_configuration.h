// One configuration, read and compiled. `run` serves it, `validate` prints it and /status reports it, by the same code.
//
// It is a value. The loading thread makes it; from then on it never changes and is shared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/catalog/catalog_cache.h"
#include "config/model/model.h"
#include "config/object_set.h"
#include "config/problem.h"
#include "config/status/conditions.h"
#include "proxy/control/compile/compile.h"
#include "proxy/control/revisions.h"
#include "proxy/processing/factory.h"

namespace sluice::control {

struct CompiledConfiguration {
  config::Problems problems;
  /// False if a document is not YAML, which rejects the whole set.
  bool readable = false;
  /// The model that was compiled. Once it is served, the next reading starts from it.
  config::Model model;
  /// The types of payload processors; null if the set is not readable.
  std::shared_ptr<const config::Catalog> catalog;
  control::CompileResult compiled;
  /// All objects with their conditions, as /status lists them. It is made on the loading thread, because thousands of
  /// objects take a while.
  std::string objectsText;
  /// Digest of the objects. Its beginning is the revision, by which people and machines compare what replicas serve.
  std::string digest;
  std::string revision;
  /// Where this process cannot listen.
  UnusablePlaces unusable;
  /// Digest of the EndpointSlices, which the other one leaves out.
  std::string endpointsDigest;

  /// Returns true if both would be served in the same way. The authorities of the system are no objects and may change
  /// by themselves.
  bool sameAs(const CompiledConfiguration& other) const {
    return digest == other.digest && endpointsDigest == other.endpointsDigest && unusable == other.unusable &&
           compiled.systemAuthorities == other.compiled.systemAuthorities;
  }
  /// Returns true if it can be served, at least in parts.
  bool usable() const { return readable && compiled.usable; }
  /// Returns true if nothing in it is refused, degraded or ignored.
  bool flawless() const;
};

/// Results that successive compilations share. It never changes their outcome. It belongs to one thread.
struct ConfigurationCache {
  config::CatalogCache catalog;
  control::CompileCache compiled;
};

/// `previous` is the model that is served now, nullptr if there is none. Its valid objects replace those that have
/// become invalid (config/last_good.h). Nothing listens at `unusable` places.
CompiledConfiguration makeConfiguration(const config::ObjectSet& set, const config::Model* previous,
                                        const processing::BuiltinTypes& processors, ConfigurationCache& cache,
                                        UnusablePlaces unusable = {});
/// Reads files, or folders of files, once, as `sluice validate` does. No revision is published.
CompiledConfiguration readConfiguration(const std::vector<std::string>& paths,
                                        const processing::BuiltinTypes& processors);

/// Returns a text for people: problems by file and line, then every object with its conditions, then one line that sums
/// up.
std::string reportText(const CompiledConfiguration& configuration);
/// Returns {"desired", "published", "served", "state", "objects"}: the admin document /status. `configuration` is the
/// served one.
std::string statusDocument(const CompiledConfiguration& configuration, const Revisions& revisions);
/// Returns the family sluice_config_revision_info in Prometheus' text format: one series, whose labels change with the
/// revisions.
std::string revisionInfo(const Revisions& revisions);

}  // namespace sluice::control
