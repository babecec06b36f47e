// Objects -> Model: puts the objects of a set together, and says of each what is wrong with it.
//
// These are pure functions. The loading thread calls them whatever the source is, and `sluice validate` and the tests
// call them too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "config/object_set.h"
#include "config/problem.h"
#include "config/yaml/source_text.h"
#include "proxy/base/secret.h"

namespace sluice::config {

struct Configuration {
  Model model;
  Problems problems;
  /// False if a text could not be read as YAML, or a path not at all: then the whole set is refused (C-11) and the
  /// model is empty.
  bool readable = true;
  /// See revision.h.
  std::string revision;
  /// Likewise of the EndpointSlices, which the revision leaves out.
  std::string endpointsDigest;
};

/// `previous` is what was served until now, if there was anything: see last_good.h.
Configuration load(const ObjectSet& set, const Model* previous);

Configuration loadTexts(const std::vector<SourceText>& texts, const base::Secret& key, const Model* previous = nullptr);
/// Where nobody is told the revision.
Configuration loadText(std::string_view text, std::string_view file = "config.yaml");

}  // namespace sluice::config
