// Makes a Catalog of a Model, and leaves in the memo what the next one can have of it. Lives for one making.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "config/catalog.h"

namespace sluice::config {

class CatalogMaker {
 public:
  CatalogMaker(const Model& model, const ProcessorSupport& support, CatalogMemo& memo);

  void make();

 private:
  /// Where a type was read first.
  struct Origin {
    const ConfigMap* catalog;
    std::string_view key;
  };

  const ConfigMap* look(const std::string& nameSpace, const std::string& name);
  void addBuiltins();
  void readCatalog(const CatalogRef& ref);
  void readEntry(const ConfigMap& catalog, const std::string& key, const ConfigMap::Entry& text);
  /// Says what keeps the entry from being used; empty: nothing.
  std::string complete(CatalogEntry&& entry, ProcessorType& type);
  std::string completeBuiltin(CatalogEntry&& entry, ProcessorType& type) const;
  std::string findSchema(const SchemaRef& ref, ProcessorType& type);
  CatalogMemo::Schema compiled(std::string_view text);
  void problem(const ConfigMap& catalog, std::string_view key, const Position& position, std::string message);

  const Model& model_;
  const ProcessorSupport& support_;
  CatalogMemo& memo_;
  Catalog catalog_;
  CatalogMemo next_;
  std::map<std::string, Origin, std::less<>> origins_;  // types that an entry has spoken of
  std::map<std::pair<std::string_view, std::string_view>, std::shared_ptr<const ConfigMap>> configMaps_;
};

}  // namespace sluice::config
