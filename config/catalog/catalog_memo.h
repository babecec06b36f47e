// The Catalog of one configuration after the other: what has not changed is kept.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/catalog/catalog.h"
#include "proxy/base/memo.h"

namespace sluice::config {

/// It reads one Catalog after the other, and keeps the last one if nothing of it has changed, and each schema that has
/// not.
class CatalogMemo {
 public:
  /// `support` is the same in every call. Problems name ConfigMap, key and line; a broken entry costs only its type.
  std::shared_ptr<const Catalog> read(const Model& model, const ProcessorSupport& support, Problems& problems);

 private:
  friend class CatalogMaker;
  /// A ConfigMap that was looked for; null: there was none. Holding it keeps its address its own.
  struct Source {
    std::string nameSpace;
    std::string name;
    std::shared_ptr<const ConfigMap> configMap;
  };
  using Schema = std::shared_ptr<const base::Result<content::JsonSchema>>;

  using Schemas = base::Memo<std::string, Schema>;  // the key is its text; a round is one Catalog
  /// A Catalog, and what it was made of.
  struct Reading {
    std::shared_ptr<const Catalog> catalog;
    std::vector<base::CatalogRef> refs;
    std::vector<Source> sources;
    Problems problems;
  };

  bool unchanged(const Model& model) const;

  Reading last_;
  Schemas schemas_;
};

}  // namespace sluice::config
