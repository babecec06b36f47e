// An ObjectSet is the complete set of objects of a source. Each object has been read independently; load() puts them
// together.
//
// It is a value that is cheap to copy: readings are shared and never change.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/ground/problem.h"
#include "config/load/object_reading.h"
#include "config/load/text_cache.h"
#include "config/yaml/source_text.h"
#include "proxy/base/secret.h"
#include "proxy/base/settings.h"

namespace sluice::config {

/// Pairs of a Gateway, by kind, namespace and name, and an address that its status has, in canonical form.
using ReportedAddresses = std::set<std::pair<std::string, std::string>>;

/// How a controller keeps the Pods of the Gateways of a source.
struct PodKeeping {
  std::string controllerNamespace = {};  // empty if none keeps them
  /// The Secret with the keys that this Pod has in place of its GatewayClass's; without a name it has those of the
  /// class.
  base::SecretName classKeys = {};
};

struct ObjectSet {
  /// The readings in the order of the source. If two define one object, the first counts.
  std::vector<std::shared_ptr<const std::vector<ObjectReading>>> readings;
  /// The texts from which the readings were made, in the same order.
  std::vector<std::shared_ptr<const KeptText>> texts;
  /// Problems met while the objects were read. An error refuses the whole set.
  Problems problems;
  /// The digest of a set that is refused as a whole; empty if it is not refused.
  std::string refused;
  /// A source that numbers its sets gives a later one a higher number. It is no part of the content.
  std::uint64_t serial = 0;
  /// True if a path could not be read. It may be readable later, without any change that a watch would see.
  bool unavailable = false;
  /// The addresses that the source's Gateways had when it was read first; null if it does not know any.
  std::shared_ptr<const ReportedAddresses> addresses;
  /// The version of Gateway API ("v1.6.1") whose schemas the source has checked the objects by; empty if it has none.
  std::string gatewayApiVersion = {};
  PodKeeping keeping = {};
};

/// Reads the objects of texts; `problems` were met while the texts were read. `cache` saves the parsing of texts that
/// the previous set contained and has no other effect. If the set is refused because a path could not be read, its
/// objects are present all the same, so that their own problems are reported; if a text is not YAML, they are not.
ObjectSet readTexts(const std::vector<SourceText>& texts, Problems problems, const base::Secret& key, TextCache& cache);

ObjectSet readTexts(const KeptTexts& texts, Problems problems, const base::Secret& key, TextCache& cache);

/// Reads files. Each path is a file, or a folder whose *.yaml, *.yml and *.json files are read in the order of their
/// names, without subfolders. `key` is the key of revisions, which is never disclosed. `now` lets `cache` save the
/// reading of files too (source_files.h).
ObjectSet readPaths(const std::vector<std::string>& paths, const base::Secret& key, TextCache& cache,
                    base::WallTime now = kReadAllFiles);

}  // namespace sluice::config
