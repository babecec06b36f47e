// Declares readers of the fields that attach payload processors: uses in all their spellings, and the filters of
// routes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/model.h"

namespace sluice::config {

/// Reads the list of uses in `key`. Each use has one of three spellings. That of this project has a `type`
/// `domain/Kind:version`. That of the payload processing proposal has `backendRefs` and no type. That of GEP-5091 has
/// the type InProcess or ExtProcess.
void readProcessorUses(FieldReader& holder, std::string_view key, std::vector<ProcessorUse>& uses);

/// Reads `processors` of a PayloadProcessor of kNetworkingGroup, each with the type InProcess or ExtProcess. Edits of
/// headers in `set`, `add` and `remove` become a use of kInProcess.
void readNetworkingUses(FieldReader& spec, std::vector<ProcessorUse>& uses);

/// Reads whether the use fails open, that is, what happens to a request when its processor fails; nullopt if that is
/// absent. The values of some spellings have opposite meanings. If two spellings are present and contradict each other,
/// that is an error.
std::optional<bool> readFailOpen(FieldReader& use);

/// Reads the remaining fields of the proposal's and of GEP-5091's spelling into `result`. The name, the phase and the
/// other common fields of `use` must be known already.
void readRemoteUse(FieldReader& use, ProcessorUse& result);
void readInProcessUse(FieldReader& use, ProcessorUse& result);
void readExtProcessUse(FieldReader& use, ProcessorUse& result);
/// Reports uses of one list that have the same name.
void checkNames(const std::vector<ProcessorUse>& uses, FieldReader& holder);

/// Adds a reference to the server of a use, with the fields of such a reference. Without a kind, it refers to a
/// Service.
void readServerRef(FieldReader& reader, Value& refs);

/// Reads the fields of filters of the types ExtensionRef, PayloadProcessingRef and PayloadProcessing. A reference to
/// anything other than a list of uses is noted as unsupported.
void readExtensionRef(FieldReader& filter, std::string_view field, RouteFilters& filters);
void readPipelineRef(FieldReader& filter, std::string_view field, RouteFilters& filters);
void readInlineProcessors(FieldReader& filter, std::string_view field, RouteFilters& filters);
/// Reads the fields of a filter of the type ExternalAuth.
void readExternalAuth(FieldReader& filter, std::string_view field, RouteFilters& filters);

}  // namespace sluice::config
