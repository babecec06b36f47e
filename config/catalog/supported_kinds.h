// Makes the list of supported kinds of payload processors, which a GatewayClass publishes.
#pragma once

#include <string>
#include <string_view>

#include "config/catalog/catalog.h"

namespace sluice::config {

/// The annotation of the GatewayClass. Its value is the "namespace/name" of the ConfigMap with the list. The status of
/// the class has no field for the list, and an annotation may be too short for it.
inline constexpr std::string_view kSupportedKindsAnnotation = "sluice.dev/supported-extension-kinds";
inline constexpr std::string_view kSupportedKindsKey = "supportedExtensionKinds.json";
/// The key that lists the same types as "domain/Kind:version", one in each line. Admission policies use it, because
/// their expressions cannot read JSON.
inline constexpr std::string_view kSupportedTypesKey = "types";

/// The ConfigMap with the list and with the schemas of built-in types, which are in no other object.
struct KindsConfigMap {
  std::string nameSpace;
  std::string name;  // empty if no GatewayClass of this controller exists to publish it
};
/// Returns the ConfigMap that the annotation of this controller's GatewayClass names. Without the annotation, the list
/// has not been published yet. Then the result is the ConfigMap that publishedKindsJson() makes in the namespace of the
/// class's settings, or in "default" if it has none.
KindsConfigMap kindsConfigMap(const Model& model);

/// Returns [{group, kind, versions[], schemaRefs[], engine, phases[]}], sorted. Versions of a kind that differ in
/// engine or phases are separate elements. Types that cannot be used here are left out. The schemas of built-in types
/// are in `published`. If that has no name, these types have no schemaRefs.
std::string supportedKindsJson(const Catalog& catalog, const KindsConfigMap& published);

/// Returns a List in JSON of the objects that publish the list. The first is the ConfigMap
/// `<gatewayClass>-extension-kinds` in `nameSpace`, with both forms of the list and a key for the schema of each
/// built-in type. The second is the metadata of the GatewayClass with the annotation.
std::string publishedKindsJson(const Catalog& catalog, std::string_view gatewayClass, std::string_view nameSpace);

}  // namespace sluice::config
