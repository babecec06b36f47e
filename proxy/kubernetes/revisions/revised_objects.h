// The objects of a configuration that an EgressRevision keeps: those that users have written, without objects that
// contain secrets or change by themselves.
//
// Secrets are left out, because a reader of EgressRevisions need not have the right to read Secrets. Services and their
// EndpointSlices are left out, because old versions do not show where Pods are now. So a restored revision is served
// with current Secrets and Services.
//
// Values and pure functions; any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/load/object_set.h"
#include "config/yaml/source_text.h"
#include "proxy/base/result.h"

namespace sluice::kubernetes {

struct RevisedObjects {
  /// An API server takes objects of 1.5 MB at most.
  static constexpr std::size_t kMostDataBytes = 1'000'000;
  static constexpr std::size_t kMostTextBytes = std::size_t{64} * 1024 * 1024;

  std::string revision;     // the beginning of the digest of the objects; the same for every process that has them
  config::KeptTexts texts;  // the objects
};

/// A revision that is served in place of the newest objects of a Gateway.
struct PinnedRevision {
  std::string name;  // of the EgressRevision
  std::string revision;
  std::string data;  // packed objects
};

/// Returns true for a text that an EgressRevision keeps, by the objects that were read from it.
bool isRevised(const config::KeptText& text, const std::vector<config::ObjectReading>& readings);

/// Returns the revision of the objects that an API server has given.
std::string revisionOfObjects(const config::ObjectSet& set);
/// Returns the texts of these objects.
config::KeptTexts revisedTexts(const config::ObjectSet& set);
/// Returns the texts in the form of an EgressRevision: one JSON text a line, as gzip in base64; empty if that is longer
/// than kMostDataBytes. It takes many milliseconds for thousands of objects.
std::string packObjects(const config::KeptTexts& texts);
/// Reads the result of packObjects(). The error names the form that is wrong.
base::Result<config::KeptTexts> unpackObjects(const PinnedRevision& pinned);

}  // namespace sluice::kubernetes
