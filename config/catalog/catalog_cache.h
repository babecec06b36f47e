// A CatalogCache makes the Catalog of each configuration and reuses the unchanged parts of the last one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/catalog/catalog.h"
#include "proxy/base/cache.h"

namespace sluice::config {

/// Reads successive Catalogs. It returns the last Catalog again if nothing in it has changed, and reuses every schema
/// that has not changed.
class CatalogCache {
 public:
  /// Returns the Catalog of `model`. `support` must be the same in every call. Problems name the ConfigMap, key and
  /// line; a broken entry disables only its own type.
  std::shared_ptr<const Catalog> read(const Model& model, const ProcessorSupport& support, Problems& problems);

 private:
  friend class CatalogMaker;
  /// A ConfigMap that was looked up; null if it did not exist. It is kept so that no other object gets its address.
  struct LookedUpConfigMap {
    std::string nameSpace;
    std::string name;
    std::shared_ptr<const ConfigMap> configMap;
  };
  using Schema = std::shared_ptr<const base::Result<content::JsonSchema>>;

  using Schemas = base::Cache<std::string, Schema>;  // the key is the schema's text; a round is one Catalog
  /// A Catalog and everything it was made from.
  struct CachedCatalog {
    std::shared_ptr<const Catalog> catalog;
    std::vector<base::NamespacedName> refs;
    base::LimitSettings limits;
    std::vector<LookedUpConfigMap> sources;
    Problems problems;
  };

  bool unchanged(const Model& model) const;

  CachedCatalog last_;
  Schemas schemas_;
};

}  // namespace sluice::config
