// What a GatewayClass tells the world about payload processors: the list of the kinds that are supported (E-73..E-75).
#pragma once

#include <string>
#include <string_view>

#include "config/catalog.h"

namespace sluice::config {

/// Of the GatewayClass; its value is the "namespace/name" of the ConfigMap that holds the list. The class's own status
/// has no field for it, and a list may be too long for one.
inline constexpr std::string_view kSupportedKindsAnnotation = "sluice.dev/supported-extension-kinds";
inline constexpr std::string_view kSupportedKindsKey = "supportedExtensionKinds.json";

/// [{group, kind, versions[], schemaRefs[], engine, phases[]}], sorted; versions of a kind that differ in engine or
/// phases are elements of their own. Types that can not be used here are not in it. Built-in types have no schemaRefs.
std::string supportedKindsJson(const Catalog& catalog);

/// The objects that publish the list, as a List in JSON: the ConfigMap `<gatewayClass>-extension-kinds` in `nameSpace`,
/// and the metadata of the GatewayClass with the annotation.
std::string publishedKindsJson(const Catalog& catalog, std::string_view gatewayClass, std::string_view nameSpace);

}  // namespace sluice::config
