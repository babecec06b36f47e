// sluice-spoa is the counterpart of sluice-ext-proc for HAProxy, so that both gateways are measured with servers that
// do the same: an agent of its stream processing offload engine (SPOE) that answers each message by setting one
// variable.
#include <CLI/CLI.hpp>
#include <string>

#include "test/support/external/dialogue_server.h"
#include "test/support/external/spop_dialogue.h"

int main(int argc, char** argv) {
  namespace external = sluice::external;
  CLI::App app("An agent for HAProxy's SPOE that answers each message by setting one variable of the transaction.",
               "sluice-spoa");
  std::uint16_t port = 0;
  external::SpopVariable variable{"seen", "yes"};
  app.add_option("--port", port, "of 127.0.0.1; 0 takes a free one, which is printed")->capture_default_str();
  app.add_option("--name", variable.name, "of the variable")->capture_default_str();
  app.add_option("--value", variable.value, "of the variable")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return external::serve("sluice-spoa", port, external::makeSpopDialogues(variable));
}
