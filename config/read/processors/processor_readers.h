// Readers of the fields that attach payload processors: uses in all their spellings, and the filters of routes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/model.h"

namespace sluice::config {

/// Reads the list of uses in `key`. Each is in one of three spellings: this project's own, with `domain/Kind:version`
/// as its `type`; the payload processing proposal's, with `backendRefs` and no type; or GEP-5091's, with InProcess or
/// ExtProcess as its type.
void readProcessorUses(FieldReader& holder, std::string_view key, std::vector<ProcessorUse>& uses);

/// Reads `processors` of a PayloadProcessor of kNetworkingGroup, each of type InProcess or ExtProcess. Edits of headers
/// in `set`, `add` and `remove` become a use of kInProcess.
void readNetworkingUses(FieldReader& spec, std::vector<ProcessorUse>& uses);

/// Reads what happens to a request when its processor fails: whether the use fails open, or none if it does not say.
/// Some of the spellings mean the opposite of others; two that contradict each other are an error.
std::optional<bool> readFailOpen(FieldReader& use);

/// Reads the remaining fields of the proposal's and of GEP-5091's spelling into `result`. `use` has its name, phase and
/// other common fields marked as known already.
void readRemoteUse(FieldReader& use, ProcessorUse& result);
void readInProcessUse(FieldReader& use, ProcessorUse& result);
void readExtProcessUse(FieldReader& use, ProcessorUse& result);
/// Reports uses of one list that have the same name.
void checkNames(const std::vector<ProcessorUse>& uses, FieldReader& holder);

/// Adds a reference to the server of a use, a Service unless it says otherwise, with the fields that such a reference
/// has.
void readServerRef(FieldReader& reader, Value& refs);

/// Reads the fields of filters of the types ExtensionRef, PayloadProcessingRef and PayloadProcessing. A reference to
/// anything but a list of uses is noted as unsupported.
void readExtensionRef(FieldReader& filter, std::string_view field, RouteFilters& filters);
void readPipelineRef(FieldReader& filter, std::string_view field, RouteFilters& filters);
void readInlineProcessors(FieldReader& filter, std::string_view field, RouteFilters& filters);
/// Reads the fields of a filter of the type ExternalAuth.
void readExternalAuth(FieldReader& filter, std::string_view field, RouteFilters& filters);

}  // namespace sluice::config
