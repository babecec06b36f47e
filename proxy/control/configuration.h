// One configuration, read and compiled: what `run` serves, what `validate` prints and what /status says, from the same
// code.
//
// It is a value. The loading thread makes it; from then on it never changes, and is shared by whoever reads it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/catalog/catalog_memo.h"
#include "config/model/model.h"
#include "config/object_set.h"
#include "config/problem.h"
#include "config/status/conditions.h"
#include "proxy/control/compile/compile.h"
#include "proxy/control/revisions.h"
#include "proxy/processing/factory.h"

namespace sluice::control {

struct Configuration {
  config::Problems problems;
  /// A document that is no YAML rejects the whole set (C-11).
  bool readable = false;
  /// What was compiled; once it is served, what the next reading goes on from.
  config::Model model;
  /// Which payload processors there are; null if it is not readable.
  std::shared_ptr<const config::Catalog> catalog;
  control::CompileResult compiled;
  /// Every object of it with its conditions, as /status lists them: made here, since thousands of them take a while.
  std::string objectsText;
  /// Digest of what was read, for people and machines to compare (C-12).
  std::string revision;
  /// Of the EndpointSlices, which the revision leaves out.
  std::string endpointsDigest;

  /// There is nothing in it to serve that `other` does not have.
  bool sameAs(const Configuration& other) const {
    return revision == other.revision && endpointsDigest == other.endpointsDigest;
  }
  /// It can be served, if only in parts.
  bool usable() const { return readable && compiled.usable; }
  /// Nothing in it is refused, degraded or ignored.
  bool flawless() const;
};

/// This keeps what compilations one after the other have in common. It never shows in what comes out, and belongs to
/// one thread.
struct ConfigurationMemo {
  config::CatalogMemo catalog;
  control::CompileMemo compiled;
};

/// `previous` is the model that is served now, nullptr if there is none: valid objects of it stand in for those that
/// have become invalid (config/last_good.h).
Configuration makeConfiguration(const config::ObjectSet& set, const config::Model* previous,
                                const processing::BuiltinTypes& processors, ConfigurationMemo& memo);
/// Reads files, or folders of files, this once, as `sluice validate` does it; nobody is told the revision.
Configuration readConfiguration(const std::vector<std::string>& paths, const processing::BuiltinTypes& processors);

/// For people: problems by file and line, then every object with its conditions, then one line that sums up.
std::string reportText(const Configuration& configuration);
/// {"desired", "published", "served", "state", "objects"}: the admin document /status. `configuration` is what is
/// served.
std::string statusDocument(const Configuration& configuration, const Revisions& revisions);
/// The family sluice_config_revision_info in Prometheus' text: one series, whose labels change with the revisions.
std::string revisionInfo(const Revisions& revisions);

}  // namespace sluice::control
