// An ObjectSet is the complete set of objects of a source. Each object was read independently; load() assembles them.
//
// It is a value that is cheap to copy, because readings are shared and never change.
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
#include "config/model/gateway_api_crds.h"
#include "config/yaml/source_text.h"
#include "proxy/base/secret.h"
#include "proxy/base/settings.h"

namespace sluice::config {

/// Pairs of a Gateway, by kind, namespace and name, and an address that its status has, in canonical form.
using ReportedAddresses = std::set<std::pair<std::string, std::string>>;

/// Describes how a controller keeps the Pods of the Gateways of a source.
struct PodKeeping {
  std::string controllerNamespace = {};  // empty if no controller keeps them
  bool severalGateways = false;          // this Pod serves several Gateways, which share its ports
  /// The Secret whose keys this Pod uses in place of the keys of its GatewayClass. If it has no name, the Pod uses
  /// those of the class.
  base::SecretName classKeys = {};
};

struct ObjectSet {
  /// The readings in the order of the source. If two of them define the same object, the first one is used.
  std::vector<std::shared_ptr<const std::vector<ObjectReading>>> readings;
  /// The texts from which the readings were made, in the same order.
  std::vector<std::shared_ptr<const KeptText>> texts;
  /// The problems found while the objects were read. An error refuses the whole set.
  Problems problems;
  /// The digest of a set that is refused as a whole; empty if it is not refused.
  std::string refused;
  /// A source may number its sets, and then a later set has a higher number. The number is not part of the content.
  std::uint64_t serial = 0;
  /// True if a path could not be read. It may become readable later without any change that a watch reports.
  bool unavailable = false;
  /// The addresses that the source's Gateways had when it was first read; null if the source knows none.
  std::shared_ptr<const ReportedAddresses> addresses;
  /// The CRDs of Gateway API that the source used to check the objects.
  GatewayApiCrds gatewayApi = {};
  PodKeeping keeping = {};
  /// When the set was read. A key pair that has expired by then does not serve on (last_pairs.h). By default none has.
  base::WallTime readAt = base::WallTime::min();
};

/// Reads the objects of texts. `problems` were found while the texts were read. `cache` saves the parsing of texts that
/// the previous set contained and has no other effect. If the set is refused because a path could not be read, it still
/// contains its objects, so that their problems are reported. If a text is not YAML, the set is empty.
ObjectSet readTexts(const std::vector<SourceText>& texts, Problems problems, const base::Secret& key, TextCache& cache);

ObjectSet readTexts(const KeptTexts& texts, Problems problems, const base::Secret& key, TextCache& cache);

/// Reads files. Each path is a file or a folder. The *.yaml, *.yml and *.json files of a folder are read in the order
/// of their names, without subfolders. `key` is the key of revisions, which is never disclosed. `now` lets `cache` skip
/// the reading of unchanged files too (source_files.h).
ObjectSet readPaths(const std::vector<std::string>& paths, const base::Secret& key, TextCache& cache,
                    base::WallTime now = kReadAllFiles);

}  // namespace sluice::config
