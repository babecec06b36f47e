// Prints an explanation as a text for people: one fact a line, each after its label.
#pragma once

#include <string>

#include "proxy/control/explain/explanation.h"

namespace sluice::control {

std::string explanationText(const Explanation& explanation);

}  // namespace sluice::control
