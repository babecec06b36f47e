// The caller of a request as the access log names it.
#pragma once

#include <ostream>
#include <string>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {

/// Empty names are those that nobody has proven.
struct LoggedCaller {
  std::string nameSpace;
  std::string serviceAccount;
  std::string principal;
  std::string assurance = "None";

  friend bool operator==(const LoggedCaller&, const LoggedCaller&) = default;
  /// Says in messages of failed tests which caller it is.
  friend void PrintTo(const LoggedCaller& caller, std::ostream* out) {
    *out << caller.nameSpace << "/" << caller.serviceAccount << " \"" << caller.principal << "\" " << caller.assurance;
  }
};

/// Returns the caller that a line of the access log names.
inline LoggedCaller callerIn(const std::string& line) {
  const std::string assurance = memberOf(line, "assurance");
  return {memberOf(line, "namespace"), memberOf(line, "serviceAccount"), memberOf(line, "principal"),
          assurance.empty() ? "None" : assurance};
}

}  // namespace sluice::test
