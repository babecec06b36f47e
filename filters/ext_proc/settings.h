// The settings of one use of an external processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "filters/ext_proc/attributes.h"
#include "filters/ext_proc/protocol.h"
#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/processing/callout.h"
#include "proxy/processing/factory.h"

namespace sluice::filters::ext_proc {

/// The JSON Schema of the config of sluice.dev/ExtProc:v1.
extern const std::string_view kExtProcSchema;

struct ExtProcSettings {
  content::Value server;           // a backendRef
  processing::CalloutRetry retry;  // retries of streams that the server has not answered; `within` is not used
  const Protocol* protocol = &externalProcessor();
  bool isTurnByTurn = false;  // each part waits for the answer to the one before it, which may hold it back
  ProcessingModes modes;
  bool allowsOverride = false;      // the server may choose other modes in its answers to headers
  bool observes = false;            // the server only observes; the gateway does not wait for its answers
  std::uint16_t statusOnError = 0;  // the status of requests that are refused because it fails; 0: the gateway's own
  base::Duration mostPatience{};    // the longest time that the server may ask for; zero: none
  std::size_t mostMessage = std::size_t{2} * 1024 * 1024;  // bytes of an answer
  std::size_t mostHeld = std::size_t{2} * 1024 * 1024;     // bytes of a body that the server may have kept
  Attributes requestAttributes;
  Attributes responseAttributes;
  std::string context;              // values for the server, as its protocol writes them; empty if there are none
  std::uint8_t possiblePhases = 0;  // the set of phases in which the use may run

  const Attributes& attributesOf(Way way) const {
    return way == Way::kRequest ? requestAttributes : responseAttributes;
  }
  /// Returns true if the step of the body sends the headers of that way, because the server may hold them until it has
  /// the body.
  bool saysHeadersWithBody(Way way) const {
    const BodyForm form = modes.of(way).body;
    return form == BodyForm::kFullDuplex || (isTurnByTurn && form != BodyForm::kSkipped);
  }
  /// Returns true if an answer to headers may choose how the server gets the body of that way.
  bool isOpen(Way way) const {
    const bool isAsked = way == Way::kResponse || modes.request.headers;
    return allowsOverride && isAsked && modes.of(way).body != BodyForm::kFullDuplex;
  }
  bool mayRunIn(processing::Phase phase) const { return (possiblePhases & processing::bitOf(phase)) != 0; }
};

/// Reads the settings of a use: those of its config, or for a type of a catalog those of its entry (`extProc`), with
/// the config as context. The refusal names the field.
base::Result<ExtProcSettings> readSettings(const processing::Use& use);

}  // namespace sluice::filters::ext_proc
