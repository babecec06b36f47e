// A fixture of tests that read the Event objects of a real API server.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "test/integration/kubernetes/source_fixture.h"

namespace sluice::test {

class KubeEventsTest : public KubeSourceTest {
 protected:
  /// Returns the events of the namespace, each in a line: "Type Reason Kind namespace/name: note".
  std::string events(const std::string& nameSpace) const {
    const std::string line =
        R"({.type} {.reason} {.regarding.kind} {.regarding.namespace}/{.regarding.name}: {.note}{"\n"})";
    return "\n" + kubectl->expect({"get", "events.events.k8s.io", "-n", nameSpace, "-o",
                                   "jsonpath={range .items[*]}" + line + "{end}"});
  }
  /// Waits for an event, while requests go on.
  testing::AssertionResult isTold(const std::string& nameSpace, const std::string& event) const {
    const auto found = [&] {
      ask();
      return events(nameSpace).find("\n" + event) != std::string::npos;
    };
    if (eventually(found)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << events(nameSpace) << sluice->process().errors();
  }
};

}  // namespace sluice::test
