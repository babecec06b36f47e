// sluice-ext-proc is an external processor for tests and measurements: it answers everything, and as little as it may.
#include <CLI/CLI.hpp>
#include <string>

#include "test/support/external/dialogue_server.h"
#include "test/support/external/ext_proc_answers.h"

int main(int argc, char** argv) {
  namespace external = sluice::external;
  CLI::App app("An external processor (envoy.service.ext_proc.v3) over HTTP/2 without TLS that lets everything go on.",
               "sluice-ext-proc");
  std::uint16_t port = 0;
  std::string field;
  external::ServerEdits edits;
  app.add_option("--port", port, "of 127.0.0.1; 0 takes a free one, which is printed")->capture_default_str();
  app.add_option("--set", field, "NAME=VALUE: a field that is set in each head");
  app.add_flag("--upper", edits.raisesCase, "replaces each body by the same in upper case");
  CLI11_PARSE(app, argc, argv);
  const std::size_t equals = field.find('=');
  edits.name = field.substr(0, equals);
  if (equals != std::string::npos) edits.value = field.substr(equals + 1);
  return external::serve("sluice-ext-proc", port, external::makeGrpcDialogues(external::kExtProcPath, [edits] {
                           return external::makeExtProcAnswers(edits);
                         }));
}
