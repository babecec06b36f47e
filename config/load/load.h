// Assembles a set of objects into a Model and reports the problems of each object.
//
// These are pure functions. The loading thread calls them for every source; `sluice validate` and the tests call them
// too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/ground/problem.h"
#include "config/load/object_set.h"
#include "config/model/model.h"
#include "config/yaml/source_text.h"
#include "proxy/base/secret.h"

namespace sluice::config {

struct Configuration {
  Model model;
  Problems problems;
  /// False if a text is not YAML or a path could not be read at all. Then the whole set is refused and the model is
  /// empty.
  bool readable = true;
  /// The digest of the set; see revision.h.
  std::string digest;
  std::string revision;
  /// The digest of the EndpointSlices, which `digest` leaves out.
  std::string endpointsDigest;
};

/// `previous` is the model served until now, if any; see last_good.h and last_pairs.h.
Configuration load(const ObjectSet& set, const Model* previous);

Configuration loadTexts(const std::vector<SourceText>& texts, const base::Secret& key, const Model* previous = nullptr);
/// Loads a text for callers that do not publish a revision.
Configuration loadText(std::string_view text, std::string_view file = "config.yaml");

}  // namespace sluice::config
