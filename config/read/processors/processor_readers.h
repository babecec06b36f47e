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
std::vector<ProcessorUse> readProcessorUses(FieldReader& holder, std::string_view key);

/// Reads `processors` of a PayloadProcessor of kNetworkingGroup, each of type InProcess or ExtProcess. Edits of headers
/// in `set`, `add` and `remove` become a use of kInProcess.
std::vector<ProcessorUse> readNetworkingUses(FieldReader& spec);

/// Reads whether a use fails open, in any spelling; none if it does not say. Two spellings that contradict each other
/// are an error.
std::optional<bool> readFailOpen(FieldReader& use);

/// Reads the remaining fields of the proposal's and of GEP-5091's spelling into `result`. `use` has its name, phase and
/// other common fields marked as known already.
void readRemoteUse(FieldReader& use, ProcessorUse& result);
void readInProcessUse(FieldReader& use, ProcessorUse& result);
void readExtProcessUse(FieldReader& use, ProcessorUse& result);
/// Reports uses of one list that have the same name.
void checkNames(const std::vector<ProcessorUse>& uses, FieldReader& holder);

/// Reads a reference to the server of a use, a Service unless it says otherwise, and returns the fields that such a
/// reference has. It does not call finish() on `reader`, because some APIs have more fields.
Value readServerRef(FieldReader& reader);
/// Adds a text or a boolean to a config, at the position of that.
void addText(Value& config, std::string_view key, std::string_view text);
void addFlag(Value& config, std::string_view key, bool flag);

/// Reads the fields of filters of the types ExtensionRef, PayloadProcessingRef and PayloadProcessing. A reference to
/// anything but a list of uses goes to `unsupported`.
void readExtensionRef(FieldReader& filter, std::string_view field, RouteFilters& filters,
                      std::vector<UnsupportedField>& unsupported);
void readPipelineRef(FieldReader& filter, std::string_view field, RouteFilters& filters,
                     std::vector<UnsupportedField>& unsupported);
void readInlineProcessors(FieldReader& filter, std::string_view field, RouteFilters& filters,
                          std::vector<UnsupportedField>& unsupported);
/// Reads the fields of a filter of the type ExternalAuth.
void readExternalAuth(FieldReader& filter, std::string_view field, RouteFilters& filters,
                      std::vector<UnsupportedField>& unsupported);

}  // namespace sluice::config
