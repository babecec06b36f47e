// What uses of payload processors and the entries of catalogs write alike.
#pragma once

#include <span>
#include <string_view>

#include "config/fields/field_reader.h"
#include "config/model/model.h"

namespace sluice::config {

/// The seven phases in their order (E-79, E-90).
inline constexpr std::string_view kProcessorPhases[] = {"request-headers", "request-body",     "connect",
                                                        "backend-request", "backend-response", "response-headers",
                                                        "response-body"};
/// The first of them in which nothing runs before authentication (E-94).
inline constexpr std::string_view kFirstPhaseAfterAuth = "connect";

/// Where it stands in the order; kProcessorPhases' size if it is none.
std::size_t phaseIndex(std::string_view phase);

/// `phase`; empty if it is absent or wrong.
std::string_view readProcessorPhase(FieldReader& reader);
/// `priority`, `failOpen` in any spelling, `preAuth`, `timeout`.
ProcessorSettings readProcessorSettings(FieldReader& reader);

}  // namespace sluice::config
