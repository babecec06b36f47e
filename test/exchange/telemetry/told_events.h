// The events of a rig, as texts.
#pragma once

#include <string>
#include <vector>

#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {

/// Returns the events since the last call: "Warning ProcessorFailed Backend demo/api x2: message".
inline std::vector<std::string> toldEvents(test::Rig& rig) {
  std::vector<std::string> texts;
  for (const observe::Event& each : rig.takeEvents()) {
    const std::string type = each.type == observe::EventType::kWarning ? "Warning " : "Normal ";
    texts.push_back(type + each.reason + " " + each.object + " x" + std::to_string(each.count) + ": " + each.message);
  }
  return texts;
}

/// Makes a step that answers with an error of the client, which is no denial.
inline Step answering() {
  return step(
      "answers", Phase::kRequestHeaders,
      [](Call&) {
        return Verdict::reply({base::Error::badRequest(400, "no"), {}});
      },
      9);
}

/// Processors over HTTP/1.1.
class EventsOfSteps : public ProcessorSteps {
 protected:
  /// Returns the step as a use of this object.
  static Step ofObject(Step step, const std::string& object) {
    step.object = object;
    step.health = std::make_shared<const processing::UseHealth>();
    return step;
  }
};

}  // namespace sluice::exchange
