// The settings of one use of an external processor.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "filters/ext_proc/messages.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/processing/factory.h"

namespace sluice::filters::ext_proc {

/// The JSON Schema of the config of sluice.dev/ExtProc:v1.
extern const std::string_view kExtProcSchema;

struct ExtProcSettings {
  content::Value server;  // a backendRef
  ProcessingModes modes;
  bool allowsOverride = false;  // whether the server may leave parts out by mode_override
  content::Value context;       // a map for the server; null if there is none
};

/// Reads the settings of a use: those of its config, or for a type of a catalog those of its entry (`extProc`), with
/// the config as context. The refusal names the field.
base::Result<ExtProcSettings> readSettings(const processing::Use& use);

}  // namespace sluice::filters::ext_proc
