// Readers of what attaches payload processors: uses in all their spellings, and the filters of routes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/model.h"

namespace sluice::config {

/// The list of uses in `key`, each in one of three spellings: our own, `domain/Kind:version` for its `type`; that of
/// proposal 7, `backendRefs` without a type (P-18, P-19); that of GEP-5091, InProcess or ExtProcess for its type
/// (P-22).
std::vector<ProcessorUse> readProcessorUses(FieldReader& holder, std::string_view key);

/// Whether a use fails open, in any spelling (C-04); none if it does not say. Two that contradict each other are an
/// error.
std::optional<bool> readFailOpen(FieldReader& use);

/// A use that names a type: name, phase and the like are known to `use` already. What is left of proposal 7's, and of
/// GEP-5091's, fields goes into `result`.
void readRemoteUse(FieldReader& use, ProcessorUse& result);
void readInProcessUse(FieldReader& use, ProcessorUse& result);
void readExtProcessUse(FieldReader& use, ProcessorUse& result);

/// The fields of filters of the types ExtensionRef, PayloadProcessingRef and PayloadProcessing. A reference to anything
/// but a pipeline goes to `unbuilt`.
void readExtensionRef(FieldReader& filter, std::string_view field, Filters& filters, std::vector<Unbuilt>& unbuilt);
void readPipelineRef(FieldReader& filter, std::string_view field, Filters& filters, std::vector<Unbuilt>& unbuilt);
void readInlineProcessors(FieldReader& filter, std::string_view field, Filters& filters, std::vector<Unbuilt>& unbuilt);

}  // namespace sluice::config
