// The kept parts of one object of an API server: its text for the loading thread, which has everything that users write
// and nothing that changes by itself, and the data for writing its status.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "config/read/object_kinds.h"
#include "config/yaml/source_text.h"
#include "proxy/content/value.h"

namespace sluice::kubernetes {

using ApiObjectKey = std::pair<std::string, std::string>;  // namespace (empty: none) and name

struct ApiObject {
  std::shared_ptr<const config::KeptText> text;
  std::string uid;
  std::string resourceVersion;
  std::uint64_t changedAt = 0;  // resourceVersion with which the text came, or changed
  std::string service;          // of an EndpointSlice; empty for other kinds
  std::string status;           // JSON; empty if there is none, or if it is not kept
};

ApiObjectKey keyOf(const content::Value& object);
/// Returns the Service of an EndpointSlice; empty if it has none.
std::string_view serviceOf(const content::Value& slice);

/// Makes the kept parts of an object that came from the API server, by itself or as an item of a list, which may lack
/// apiVersion and kind. The text leaves out the status, managedFields, the resourceVersion and the like, so that it
/// changes with the object's own content alone.
ApiObject makeApiObject(const config::ObjectKind& kind, std::string_view version, content::Value&& object,
                        bool withStatus);

}  // namespace sluice::kubernetes
