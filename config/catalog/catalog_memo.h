// The Catalog of one configuration after the other: what has not changed is kept.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/catalog/catalog.h"

namespace sluice::config {

/// Reads one Catalog after the other, and keeps the last one if nothing of it has changed, and each schema that has
/// not. What it has kept never shows in what it returns.
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

  bool unchanged(const Model& model) const;

  std::shared_ptr<const Catalog> catalog_;
  std::vector<base::CatalogRef> refs_;
  std::vector<Source> sources_;
  Problems problems_;
  std::map<std::string, Schema, std::less<>> schemas_;  // by text
};

}  // namespace sluice::config
