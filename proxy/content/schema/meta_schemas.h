// The documents of the dialect itself, which decide whether a value is a JSON Schema 2020-12.
//
// Constant data, as published with the specification, without comments and titles.
#pragma once

#include <functional>
#include <string_view>

namespace sluice::content {

/// Returns the text of the known document with this URI, which has no fragment; empty if no such document is known.
using SchemaDocuments = std::function<std::string_view(std::string_view uri)>;

/// Is the SchemaDocuments of the dialect, and of no other documents.
std::string_view metaSchemaText(std::string_view uri);

}  // namespace sluice::content
