// The fields that uses of payload processors and entries of catalogs have in common.
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

/// Returns the position of `phase` in that order; the number of phases if it is not one of them.
std::size_t phaseIndex(std::string_view phase);

/// Reads `priority`, `failOpen` in any spelling, `preAuth` and `timeout`.
void readProcessorSettings(FieldReader& reader, ProcessorSettings& settings);

}  // namespace sluice::config
