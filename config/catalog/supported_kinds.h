// The list of supported kinds of payload processors that a GatewayClass publishes.
#pragma once

#include <string>
#include <string_view>

#include "config/catalog/catalog.h"

namespace sluice::config {

/// Annotation of the GatewayClass. Its value is the "namespace/name" of the ConfigMap that holds the list, because the
/// class's own status has no field for it and a list may be too long for one.
inline constexpr std::string_view kSupportedKindsAnnotation = "sluice.dev/supported-extension-kinds";
inline constexpr std::string_view kSupportedKindsKey = "supportedExtensionKinds.json";
/// The key that lists the same types as "domain/Kind:version", one in each line. Admission policies use it, because
/// their expressions cannot read JSON.
inline constexpr std::string_view kSupportedTypesKey = "types";

/// The ConfigMap that holds the list and the schemas of built-in types, which are in no other object.
struct KindsConfigMap {
  std::string nameSpace;
  std::string name;  // empty: there is no GatewayClass of ours that could publish it
};
/// Returns the ConfigMap that the annotation of our GatewayClass names. Without the annotation nobody has published it
/// yet; then it is the one that publishedKindsJson() makes in the namespace of the class's settings, or in "default" if
/// it has none.
KindsConfigMap kindsConfigMap(const Model& model);

/// Returns [{group, kind, versions[], schemaRefs[], engine, phases[]}], sorted. Versions of a kind that differ in
/// engine or phases are separate elements, and types that cannot be used here are left out. Built-in types have their
/// schemas in `published`, and no schemaRefs if it has no name.
std::string supportedKindsJson(const Catalog& catalog, const KindsConfigMap& published);

/// Returns the objects that publish the list, as a List in JSON: the ConfigMap `<gatewayClass>-extension-kinds` in
/// `nameSpace`, with both spellings and a key for each built-in type's schema, and the metadata of the GatewayClass
/// with the annotation.
std::string publishedKindsJson(const Catalog& catalog, std::string_view gatewayClass, std::string_view nameSpace);

}  // namespace sluice::config
