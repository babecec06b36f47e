// What a GatewayClass tells the world about payload processors: the list of the kinds that are supported (E-73..E-75).
#pragma once

#include <string>
#include <string_view>

#include "config/catalog/catalog.h"

namespace sluice::config {

/// Of the GatewayClass; its value is the "namespace/name" of the ConfigMap that holds the list. The class's own status
/// has no field for it, and a list may be too long for one.
inline constexpr std::string_view kSupportedKindsAnnotation = "sluice.dev/supported-extension-kinds";
inline constexpr std::string_view kSupportedKindsKey = "supportedExtensionKinds.json";

/// The ConfigMap that holds the list, and with it the schemas of built-in types, which are in no other.
struct KindsConfigMap {
  std::string nameSpace;  // empty: it is not published yet
  std::string name;
};
/// What the annotation of our GatewayClass says, else under the name that publishedKindsJson() gives it.
KindsConfigMap kindsConfigMap(const Model& model);

/// [{group, kind, versions[], schemaRefs[], engine, phases[]}], sorted; versions of a kind that differ in engine or
/// phases are elements of their own. Types that can not be used here are not in it. Those compiled in have their
/// schemas in `published`; while nobody knows its namespace, these schemaRefs name none.
std::string supportedKindsJson(const Catalog& catalog, const KindsConfigMap& published);

/// The objects that publish the list, as a List in JSON: the ConfigMap `<gatewayClass>-extension-kinds` in `nameSpace`,
/// with a key for each built-in type's schema, and the metadata of the GatewayClass with the annotation.
std::string publishedKindsJson(const Catalog& catalog, std::string_view gatewayClass, std::string_view nameSpace);

}  // namespace sluice::config
