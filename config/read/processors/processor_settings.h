// The common fields of uses of payload processors and of entries of catalogs.
#pragma once

#include <string_view>

#include "config/fields/field_reader.h"
#include "config/model/model.h"

namespace sluice::config {

/// The seven phases in the order in which they run.
inline constexpr std::string_view kProcessorPhases[] = {"request-headers", "request-body",     "connect",
                                                        "backend-request", "backend-response", "response-headers",
                                                        "response-body"};
/// The first phase in which nothing runs before authentication.
inline constexpr std::string_view kFirstPhaseAfterAuth = "connect";

/// Returns the position of `phase` in that order, or the number of phases if it is not a phase.
std::size_t phaseIndex(std::string_view phase);

/// Reads `priority`, `failOpen` in any spelling, `preAuth` and `timeout`.
void readProcessorSettings(FieldReader& reader, ProcessorSettings& settings);

}  // namespace sluice::config
