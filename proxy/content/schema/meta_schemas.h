// The documents of the dialect itself, which decide whether a value is a JSON Schema 2020-12.
//
// Constant data, as published with the specification, without comments and titles.
#pragma once

#include <string_view>

namespace sluice::content {

/// Returns the document with this URI, which has no fragment; empty if the dialect has no such document.
std::string_view metaSchemaText(std::string_view uri);

}  // namespace sluice::content
