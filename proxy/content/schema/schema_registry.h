// Knows the schemas of a document by their URIs, and finds the targets of references.
//
// Lives as long as a compilation. A schema with an `$id` begins a resource of its own, to which the anchors and
// relative references inside of it belong (JSON Schema 2020-12, core sections 8.2 and 9). The registry knows the
// documents that were added to it and no others; nothing is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/content/schema/schema_fault.h"
#include "proxy/content/value.h"

namespace sluice::content {

/// A schema, and the resource that it belongs to.
struct PlacedSchema {
  const Value* schema = nullptr;  // null: there is none
  std::uint32_t resource = 0;
};

class SchemaRegistry {
 public:
  using Anchors = std::vector<std::pair<std::string_view, const Value*>>;

  /// Adds a document and all schemas in it, and checks the values of their keywords. The document outlives the
  /// registry. Returns the first fault.
  SchemaFault add(const Value& document, std::string_view uri);
  /// Adds a part of a known document that a reference names although no keyword has a schema there.
  SchemaFault addPart(const PlacedSchema& part);

  bool knows(std::string_view document) const { return byUri_.find(document) != byUri_.end(); }
  /// Finds a known document, and the part of it that the fragment names by a pointer or an anchor.
  PlacedSchema find(std::string_view document, std::string_view fragment) const;
  bool knows(const Value& schema) const { return places_.find(&schema) != places_.end(); }
  /// Returns the resource of a known schema.
  std::uint32_t resourceOf(const Value& schema) const { return places_.at(&schema); }

  const std::string& uriOf(std::uint32_t resource) const { return resources_[resource].uri; }
  const Anchors& dynamicAnchorsOf(std::uint32_t resource) const { return resources_[resource].dynamicAnchors; }
  std::uint32_t resourceCount() const { return static_cast<std::uint32_t>(resources_.size()); }

 private:
  struct SchemaResource {
    std::string uri;
    const Value* root;
    std::map<std::string_view, const Value*> anchors;
    Anchors dynamicAnchors;  // which are among `anchors` too
  };

  void visit(const Value& schema, std::uint32_t resource);
  std::uint32_t identify(const Value& schema, std::uint32_t resource);
  void anchor(const Value& schema, std::uint32_t resource);
  std::uint32_t begin(const Value& root, std::string uri, const Value& at);
  void fail(const Value& at, std::string message);

  std::vector<SchemaResource> resources_;
  std::map<std::string, std::uint32_t, std::less<>> byUri_;
  std::unordered_map<const Value*, std::uint32_t> places_;
  SchemaFault fault_;
};

}  // namespace sluice::content
