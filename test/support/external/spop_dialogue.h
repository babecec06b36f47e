// The agent's side of SPOP (see spop_wire.h): it answers each message of HAProxy by setting one variable. It agrees to
// frames of many streams on one connection, and to none in fragments.
#pragma once

#include <string>

#include "test/support/external/dialogue.h"

namespace sluice::external {

struct SpopVariable {
  std::string name;  // without HAProxy's prefix for the agent's variables; its scope is the transaction
  std::string value;
};

MakeDialogue makeSpopDialogues(SpopVariable variable);

}  // namespace sluice::external
